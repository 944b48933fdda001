"""A project under three layers of declared policies, which a test writes anew as it likes."""

import json
from collections.abc import Callable, Mapping, Sequence
from datetime import timedelta
from pathlib import Path
from threading import Thread
from typing import Final

from runner import Runner
from runner.core.approvals import Approval
from runner.core.authorization import Action, Effect
from runner.core.ids import TurnId
from runner.core.jsonvalue import JsonObject, JsonValue
from runner.core.ports import ApprovalFilter, TurnFilter
from runner.core.records import Turn
from tests.fakes.dispatcher import FakeDispatcher
from tests.waiting import until

#: The layers of the child's policies, by the file that each stands in and by what it is called.
FILES: Final = {"operator": "ceiling", "ancestor": "above", "own": "below"}
NAMES: Final = {"operator": "operator", "ancestor": "boss", "own": "actor"}
CLERK: Final[JsonObject] = {"role": "clerk"}
ADMIN: Final[JsonObject] = {"role": "admin"}

_AGENTS: Final = {
    "boss": "policies: [above]\nsub_agents: [actor]\n",
    "actor": (
        "policies: [below]\nsub_agents: [helper]\n"
        "tools: [launch_agent, wait_for, send_message,"
        " {name: act, description: Acts., python: 'deeds:act'},"
        " {name: hold, description: Holds., python: 'deeds:act'}]\n"
    ),
    "helper": "",
    "reader": "",
}
_DEEDS: Final = '''\
"""A tool that leaves a trace."""

from pathlib import Path

from runner import ToolContext


def act(context: ToolContext) -> str:
    """Write down whose turn acted."""
    with (Path(__file__).parents[1] / "deeds").open("a") as deeds:
        deeds.write(f"{context.turn_id}\\n")
    return "done"
'''
#: Has people asked about what a child is to be found at by those who act on it.
_HELD: Final = {"effect": "ask", "actions": ["tool"], "tools": ["hold"]}


class Policed:
    """A boss who has an actor make one call, and whoever acts on the two."""

    def __init__(self, root: Path, url: str) -> None:
        self.root = root
        self._write("tools/deeds.py", _DEEDS)
        for name, text in _AGENTS.items():
            self._write(f"agents/{name}.yaml", f"kind: agent\ndescription: Works.\n{text}")
        self._write("config.yaml", json.dumps(_config(url)))
        self.be_silent()
        self._write("answers.yaml", "[]")
        with self._open() as runner:
            #: A turn that has ended, in a conversation that can be written to.
            self.there = runner.run("reader", "Hi.")

    def open(self, calls: Mapping[str, tuple[str, JsonObject]]) -> None:
        """Let the actor make, for a task that is the name of a call, that call."""
        every = {**calls, "hold": ("hold", {})}
        answers = [_boss(), *(self._actor(name, *call) for name, call in every.items())]
        self._write("answers.yaml", json.dumps(answers))
        self.runner = self._open()
        self.store = self.runner.wiring.store

    def close(self) -> None:
        assert list(self.runner.unattended()) == []
        assert list(self.runner.audit()) == []
        self.runner.close()

    def be_silent(self) -> None:
        """Let no layer say anything to what is tested."""
        for layer in FILES:
            self._declare(layer)

    def cancel_all(self) -> None:
        """End whatever has not ended."""
        for turn in self.store.views.turns(TurnFilter()):
            self.runner.cancel(turn.id)

    def standing(self, turn: Turn) -> object:
        """All that people can have changed of a turn, or begun beside it."""
        views, now = self.store.views, self.store.views.turn(turn.id)
        return (
            (now.status, now.pause_requested, now.cancel_requested),
            (views.inputs(turn.id), self.asked(turn.id)),
            len(self.store.deliveries.inbox(turn.conversation_id)),
            len(views.turns(TurnFilter(limit=100_000))),
        )

    def say(self, effect: Effect, action: Action, layer: str, *, role: str | None = None) -> None:
        """
        Let one layer say *effect* to that action of the actor, and the others allow it.

        Where the one allows it the others are silent, so that it is the one that does.
        """
        rule: dict[str, object] = {"effect": effect.value, "actions": [action.value]}
        rule |= {"reason": f"{layer} says {effect.value}."}
        rule |= {"principals": {"role": role}} if role else {}
        if effect is not Effect.ALLOW:
            rule |= {"agents": ["actor"]}
        for each in FILES:
            if each != layer and effect is not Effect.ALLOW:
                self._declare(each, {"effect": "allow", "actions": [action.value]})
            elif each != layer:
                self._declare(each)
        self._declare(layer, rule)

    def in_worker(self, call: str, check: Callable[[Turn], None]) -> Turn:
        """Submit the task and work on it as a worker does, answering what is asked meanwhile."""
        turn = self.runner.submit("boss", call)
        self.work_off()
        while asked := self.asked(turn.id):
            check(turn)
            self._approve(asked)
            self.work_off()
        return self.store.views.turn(turn.id)

    def inline(self, call: str, check: Callable[[Turn], None]) -> Turn:
        """Run the task in a thread, and answer from this one as somebody elsewhere would."""
        before = self._newest()
        ended: list[Turn] = []
        thread = Thread(target=lambda: ended.append(self.runner.run("boss", call)))
        thread.start()

        def has_ended() -> bool:
            turn = self._newest()
            if turn != before and (asked := self.asked(turn)):
                check(self.store.views.turn(turn))
                self._approve(asked)
            return bool(ended)

        until(has_ended, "the end of the turn")
        thread.join()
        self.work_off()
        return ended[0]

    def held_in_worker(self) -> tuple[Turn, Thread]:
        """Have a worker take a child to where people are asked, after which it has left it."""
        turn = self.runner.submit("boss", "hold")
        worker = Thread(target=self.work_off)
        worker.start()
        worker.join()
        return self.child(turn.id), worker

    def held_inline(self) -> tuple[Turn, Thread]:
        """Have a thread do so, which then waits for the child's end."""
        before = self._newest()
        thread = Thread(target=lambda: self.runner.run("boss", "hold"))
        thread.start()
        until(lambda: self._newest() != before and self.asked(self._newest()), "it to be asked")
        return self.child(self._newest()), thread

    def work_off(self) -> None:
        """Work on everything that is due, until nothing is."""
        while due := self.store.sweeps.due(limit=100, quiet=timedelta(0)):
            for turn_id in due:
                self.runner.wiring.turn_worker.work_on(turn_id)

    def child(self, turn_id: TurnId, agent: str = "actor") -> Turn:
        return next(t for t in self.store.views.tree(turn_id) if t.agent == agent)

    def asked(self, turn_id: TurnId) -> Sequence[Approval]:
        """What is asked in a tree."""
        tree = self.store.views.tree(turn_id)
        found = [self.store.views.approvals(ApprovalFilter(turn_id=turn.id)) for turn in tree]
        return [approval for some in found for approval in some]

    @property
    def deeds(self) -> list[str]:
        """Whose turns have acted."""
        file = self.root / "deeds"
        return file.read_text().split() if file.exists() else []

    def _approve(self, asked: Sequence[Approval]) -> None:
        for approval in asked:
            self.runner.approve(approval.id)

    def _newest(self) -> TurnId:
        """The root that was begun last."""
        [turn] = self.store.views.turns(TurnFilter(roots=True, limit=1))
        return turn.id

    def _open(self) -> Runner:
        return Runner(
            self.root / "config.yaml", environ={}, dispatcher=FakeDispatcher(), principal=CLERK
        )

    def _actor(self, name: str, tool: str, arguments: JsonObject) -> JsonObject:
        ids: dict[str, JsonValue] = {
            "turn_ids": [self.there.id],
            "conversation_id": self.there.conversation_id,
        }
        filled = {key: ids.get(key, value) for key, value in arguments.items()}
        call: JsonValue = [{"name": tool, "arguments": filled}]
        answers: JsonValue = [{"tool_calls": call}, {"text": "Done."}]
        return {"agent": "actor", "when": f"^{name}$", "answers": answers}

    def _declare(self, layer: str, *rules: object) -> None:
        every = [_HELD, *rules] if layer == "operator" else rules
        self._write(f"agents/{FILES[layer]}.yaml", json.dumps({"kind": "policy", "rules": every}))

    def _write(self, path: str, text: str) -> None:
        file = self.root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)


def _boss() -> JsonObject:
    call: JsonValue = [{"name": "actor", "arguments": {"task": "{task}"}}]
    return {"agent": "boss", "answers": [{"tool_calls": call}, {"text": "Done."}]}


def _config(url: str) -> JsonObject:
    return {
        "database": {"url": url},
        "clients": {"offline": {"type": "scripted", "scripts": ["answers.yaml"]}},
        "python_modules": ["tools/"],
        "authorization": ["ceiling"],
    }
