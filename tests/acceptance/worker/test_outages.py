"""A broker that goes away and comes back while a worker runs."""

import pytest

from runner.core.states import TurnStatus
from tests.acceptance.worker.conftest import MakeProject
from tests.acceptance.worker.workers import working
from tests.brokers import remove_queue
from tests.relay import relayed
from tests.waiting import until

DOWN = "the broker does not answer; turns are found in the database meanwhile"
UP = "the broker answers again"


@pytest.mark.parametrize("broker", ["redis", "rabbitmq"])
def test_an_outage_of_the_broker_is_two_lines_and_stops_no_turn(
    broker: str, make_project: MakeProject, request: pytest.FixtureRequest
) -> None:
    url = request.getfixturevalue(f"{broker}_url")
    with relayed(url) as relay:
        project = make_project(f"sqlite-{relay.url}")
        with working(project) as worker:
            worker.wait_until_ready()
            project.shut("a")
            begun = project.runner.submit("actor", "act once")
            until(lambda: project.count("begin", "a"), "the tool to begin")
            relay.cut()
            until(lambda: DOWN in worker.log, "the outage to be noticed")
            project.open("a")
            turns = [begun, project.runner.submit("actor", "act as 2")]
            ended = [project.runner.wait(turn.id) for turn in turns]
            relay.mend()
            until(lambda: UP in worker.log, "the end of the outage to be noticed")
            worker.ask_to_stop()
            code = worker.wait()
    remove_queue(url, project.queue)

    assert {turn.status for turn in ended} == {TurnStatus.COMPLETED}
    assert worker.log.count(DOWN) == 1
    assert worker.log.count(UP) == 1
    assert "CRITICAL" not in worker.log
    assert "Traceback" not in worker.log
    assert code == 0
