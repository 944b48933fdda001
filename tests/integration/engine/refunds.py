"""An agent that refunds once, for tests of approvals."""

from runner.core.jsonvalue import JsonObject
from runner.store.store import Store
from tests.fakes.agents import make_agent
from tests.fakes.authority import FakeAuthority
from tests.fakes.client import FakeClient, calls, says
from tests.fakes.tool import FakeTool
from tests.integration.engine.asking import (
    policing,
)
from tests.integration.engine.bench import Bench

REFUND: JsonObject = {"amount": 250, "to": "Ms Grün"}


def refunding(store: Store, authority: FakeAuthority) -> tuple[Bench, FakeTool, FakeClient]:
    """A bench whose agent refunds once."""
    tool = FakeTool("refund")
    client = FakeClient(calls(("refund", REFUND)), says("Done."))
    return Bench(store, make_agent(client, tool), policing=policing(authority)), tool, client
