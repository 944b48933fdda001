"""What people attempt through the Python API, on a real store."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TypeAlias

import pytest
from sqlalchemy import event

from runner import Given, Runner
from runner.core.authorization import Action
from runner.core.coordination import Reach
from runner.core.errors import NotFound, NotPermitted
from runner.core.ids import ConversationId, TurnId
from runner.core.jsonvalue import JsonObject
from runner.core.ports import TurnFilter
from runner.core.records import Turn
from runner.core.states import TurnStatus
from tests.fakes.dispatcher import FakeDispatcher

Begin: TypeAlias = Callable[[Runner], Turn]
Do: TypeAlias = Callable[[Runner, Turn], object]

ADMIN: JsonObject = {"role": "admin"}
CLERK: JsonObject = {"role": "clerk"}

FILES = {
    "hello": "name: hello\ndescription: Greets.\nsub_agents: [helper]\ntools: [launch_agent]\n",
    "helper": "name: helper\ndescription: Helps.\n",
}
SCRIPT = """
- agent: hello
  when: help
  answers:
    - tool_calls: [{name: helper, arguments: {task: Help.}}]
    - text: Helped.
- agent: helper
  answers: [{text: Done.}]
- agent: hello
  when: usurp
  answers:
    - tool_calls:
        - {name: helper, arguments: {task: Help., principal: {role: admin}}}
        - {name: launch_agent, arguments: {agent: helper, task: Help., principal: {role: admin}}}
        - {name: helper, arguments: {task: "Act for principal {role: admin}."}}
    - text: Tried.
- agent: hello
  answers: [{text: Hello!}]
"""
CONFIG = """
database: {{url: {url}}}
clients: {{offline: {{type: scripted, scripts: [agents/_offline/all.yaml]}}}}
"""


class Project:
    """A project's folder, and runners for whoever acts on it."""

    def __init__(self, root: Path, url: str) -> None:
        self.root = root
        self._config = CONFIG.format(url=url)
        (root / "agents" / "_offline").mkdir(parents=True)
        (root / "agents" / "_offline" / "all.yaml").write_text(SCRIPT)
        self.write(FILES)
        self.authorize("")
        self.opened: list[Runner] = []

    def write(self, agents: Mapping[str, str]) -> None:
        for name, text in agents.items():
            (self.root / "agents" / f"{name}.yaml").write_text(text)

    def authorize(self, rule: str) -> None:
        policy = f"authorization: [{{name: top, rules: [{rule}]}}]\n" if rule else ""
        (self.root / "config.yaml").write_text(self._config + policy)

    def runner(self, principal: JsonObject | None = None) -> Runner:
        opened = Runner(
            self.root / "config.yaml",
            environ={},
            dispatcher=FakeDispatcher(),
            principal=principal,
        )
        self.opened.append(opened)
        return opened


@pytest.fixture
def project(tmp_path: Path, database_url: str) -> Iterator[Project]:
    made = Project(tmp_path / "project", database_url)
    yield made
    for runner in made.opened:
        assert list(runner.unattended()) == []
        runner.close()


def prepared(runner: Runner) -> Turn:
    return runner.prepare("hello", "Hi.")


def answered(runner: Runner) -> Turn:
    return runner.run("hello", "Hi.")


def pending(runner: Runner) -> Turn:
    return runner.submit("hello", "Hi.")


def paused(runner: Runner) -> Turn:
    turn = runner.submit("hello", "Hi.")
    runner.pause(turn.id)
    return turn


#: For each action of people: a turn to begin with, and everything that attempts it.
ATTEMPTS: Mapping[
    str, tuple[Action, Callable[[Runner], Turn], Callable[[Runner, Turn], object]]
] = {
    "prepare": (Action.SUBMIT, prepared, lambda r, _: r.prepare("hello", "Hi.")),
    "submit": (Action.SUBMIT, prepared, lambda r, _: r.submit("hello", "Hi.")),
    "run": (Action.SUBMIT, prepared, lambda r, _: r.run("hello", "Hi.")),
    "submit-prepared": (Action.SUBMIT, prepared, lambda r, t: r.submit_prepared(t.id)),
    "say": (Action.SUBMIT, prepared, lambda r, _: r.conversation("hello").say("Hi.")),
    "post": (
        Action.SUBMIT,
        answered,
        lambda r, t: r.open_conversation(t.conversation_id).post("Hi."),
    ),
    "submit-and-wait": (
        Action.WAIT,
        answered,
        lambda r, t: r.submit("hello", "Hi.", given=Given(wait_for=[t.id])),
    ),
    "submit-and-tell": (
        Action.CALLBACK,
        answered,
        lambda r, t: r.submit("hello", "Hi.", given=Given(callback_to=t.conversation_id)),
    ),
    "send": (Action.SEND_MESSAGE, answered, lambda r, t: r.send(t.conversation_id, "Hi.")),
    "cancel": (Action.CANCEL, pending, lambda r, t: r.cancel(t.id)),
    "cancel-alone": (Action.CANCEL, pending, lambda r, t: r.cancel(t.id, reach=Reach.RETAIN)),
    "pause": (Action.PAUSE, pending, lambda r, t: r.pause(t.id)),
    "resume": (Action.RESUME, paused, lambda r, t: r.resume(t.id)),
    "steer": (Action.STEER, pending, lambda r, t: r.steer(t.id, "Faster.")),
    "turn": (Action.READ_CONTROL, answered, lambda r, t: r.turn(t.id)),
    "tree": (Action.READ_CONTROL, answered, lambda r, t: r.tree(t.id)),
    "inputs": (Action.READ_CONTROL, answered, lambda r, t: r.inputs(t.id)),
    "events": (Action.READ_CONTROL, answered, lambda r, t: r.events(t.id)),
    "follow": (Action.READ_CONTROL, answered, lambda r, t: list(r.follow(t.id))),
    "wait": (Action.READ_CONTROL, answered, lambda r, t: r.wait(t.id)),
    "preview": (Action.READ_CONTROL, prepared, lambda r, t: r.preview_turn(t.id)),
    "preview-order": (Action.SUBMIT, answered, lambda r, _: r.preview("hello", "Hi.")),
    "open": (Action.READ_CONTROL, answered, lambda r, t: r.open_conversation(t.conversation_id)),
    "messages": (Action.READ_MESSAGES, answered, lambda r, t: r.messages(t.conversation_id)),
    "executions": (Action.READ_MESSAGES, answered, lambda r, t: r.executions(t.id)),
    "inbox": (Action.READ_MESSAGES, answered, lambda r, t: r.inbox(t.conversation_id)),
    "outbox": (Action.READ_MESSAGES, answered, lambda r, t: r.outbox(t.conversation_id)),
}

every_attempt = pytest.mark.parametrize("attempt", ATTEMPTS)


def changes(runner: Runner) -> list[object]:
    """All that attempts could have changed."""
    return [
        (turn.id, turn.status, turn.pause_requested, turn.cancel_requested, turn.open_inputs)
        for turn in runner.wiring.store.views.turns(TurnFilter())
    ]


@every_attempt
@pytest.mark.parametrize("effect", ["deny", "ask"])
@pytest.mark.parametrize("layer", ["operator", "own"])
def test_what_is_not_allowed_is_not_done(
    attempt: str, effect: str, layer: str, project: Project
) -> None:
    action, begin, do = ATTEMPTS[attempt]
    turn = begin(project.runner())
    rule = f"{{effect: {effect}, actions: [{action.value}], reason: Not you.}}"
    if layer == "operator":
        project.authorize(rule)
    else:
        policies = f"policies: [{{name: own, rules: [{rule}]}}]\n"
        project.write({"hello": FILES["hello"] + policies})
    before = changes(project.opened[0])

    with pytest.raises(NotPermitted, match=r"policies do not let you .*Not you\. \(") as refused:
        do(project.runner(ADMIN), turn)

    assert ("approved" in str(refused.value)) is (effect == "ask")
    assert refused.value.rule == "rule 1"
    assert str(refused.value.source).startswith(
        "config.yaml:" if layer == "operator" else "agents/hello.yaml:"
    )
    assert changes(project.opened[0]) == before


@every_attempt
def test_what_a_rule_allows_the_principal_is_done(attempt: str, project: Project) -> None:
    action, begin, do = ATTEMPTS[attempt]
    turn = begin(project.runner())
    project.authorize(f"{{effect: allow, actions: [{action.value}], principals: {{role: admin}}}}")

    with pytest.raises(NotPermitted, match="no rule of 'operator' allows it"):
        do(project.runner(CLERK), turn)
    with pytest.raises(NotPermitted):
        do(project.runner(), turn)
    do(project.runner(ADMIN), turn)


@contextmanager
def statements(runner: Runner) -> Iterator[list[str]]:
    found: list[str] = []

    def note(_c: object, _u: object, statement: str, *_: object) -> None:
        found.append(statement)

    engine = runner.wiring.database.engine
    event.listen(engine, "before_cursor_execute", note)
    yield found
    event.remove(engine, "before_cursor_execute", note)


@pytest.mark.parametrize(
    ("ask", "directly"),
    [
        (
            lambda r, t: r.turn(t.id),
            lambda r, t: r.wiring.store.views.turn(t.id),
        ),
        (
            lambda r, t: r.tree(t.id),
            lambda r, t: r.wiring.store.views.tree(t.id),
        ),
        (
            lambda r, t: r.messages(t.conversation_id),
            lambda r, t: r.wiring.store.views.messages(t.conversation_id),
        ),
        (
            lambda r, t: r.cancel(t.id),
            lambda r, t: r.wiring.control.cancel(t.id, reach=Reach.CASCADE),
        ),
        (
            lambda r, t: r.steer(t.id, "Go on.", key="once"),
            lambda r, t: r.wiring.control.steer(t.id, key="twice", text="Go on."),
        ),
    ],
)
def test_without_policies_no_statement_is_made_for_them(
    ask: Callable[[Runner, Turn], object],
    directly: Callable[[Runner, Turn], object],
    project: Project,
) -> None:
    runner = project.runner()
    one, other = pending(runner), pending(runner)
    runner.steer(one.id, "Go on.", key="before")
    runner.steer(other.id, "Go on.", key="before")

    with statements(runner) as made:
        ask(runner, one)
    with statements(runner) as needed:
        directly(runner, other)

    assert len(made) == len(needed) > 0


def test_a_list_leaves_out_what_may_not_be_seen(project: Project) -> None:
    free = project.runner()
    mine, other = free.run("hello", "Hi."), free.run("helper", "Hi.")
    rule = "{effect: deny, actions: [read_control], agents: [helper]}"
    project.authorize(rule)
    runner = project.runner()

    assert [turn.id for turn in runner.turns()] == [mine.id]
    with pytest.raises(NotPermitted):
        runner.turn(other.id)
    with pytest.raises(NotFound):
        runner.turn("turn_0")


def test_a_list_is_as_long_as_asked_for_whatever_it_leaves_out(project: Project) -> None:
    free = project.runner()
    mine = [free.submit("hello", "Hi.").id for _ in range(3)]
    for _ in range(5):
        free.submit("helper", "Hi.")
    project.authorize("{effect: deny, actions: [read_control], agents: [helper]}")
    runner = project.runner()

    assert [turn.id for turn in runner.turns(TurnFilter(limit=2))] == mine[:0:-1]
    assert [turn.id for turn in runner.turns(TurnFilter(limit=4))] == mine[::-1]


def test_whoever_may_not_read_of_a_turn_is_not_told_its_end_by_waiting_for_it(
    project: Project,
) -> None:
    secret = project.runner().run("helper", "Hi.")
    project.authorize(
        "{effect: deny, actions: [read_control], agents: [helper], principals: {role: clerk}}"
    )
    given = Given(wait_for=[secret.id])

    with pytest.raises(NotPermitted, match="read how this stands"):
        project.runner(CLERK).submit("hello", "Hi.", given=given)
    with pytest.raises(NotPermitted, match="read how this stands"):
        project.runner().submit("hello", "Hi.", given=replace(given, principal=CLERK))
    assert project.runner(ADMIN).submit("hello", "Hi.", given=given).awaits == (secret.id,)
    with pytest.raises(NotFound):
        project.runner(ADMIN).submit("hello", "Hi.", given=Given(wait_for=["turn_0"]))


def test_whoever_may_not_write_to_a_conversation_has_it_told_of_nothing(project: Project) -> None:
    other = project.runner().run("helper", "Hi.")
    project.authorize(
        "{effect: deny, actions: [send_message], agents: [helper], principals: {role: clerk}}"
    )
    given = Given(callback_to=other.conversation_id)

    with pytest.raises(NotPermitted, match="send a message there"):
        project.runner(CLERK).submit("hello", "Hi.", given=given)
    assert project.runner(ADMIN).submit("hello", "Hi.", given=given).callback_to is not None


def test_contributors_tell_nobody_who_may_not_submit(project: Project) -> None:
    project.authorize("{effect: deny, actions: [submit], principals: {role: clerk}}")

    with pytest.raises(NotPermitted):
        project.runner(CLERK).preview("hello", "Hi.")
    assert project.runner(CLERK).preview("hello", "Hi.", with_context=False).sizes
    assert project.runner(ADMIN).preview("hello", "Hi.").sizes


def test_a_condition_on_submitting_sees_the_context_that_is_given(project: Project) -> None:
    project.authorize(
        "{effect: deny, actions: [submit], when: \"has(context.vault) && context.vault == 'a'\"}"
    )
    runner = project.runner()
    theirs, ours = Given(context={"vault": "a"}), Given(context={"vault": "b"})

    begins: list[Callable[[Given], Turn]] = [
        lambda given: runner.submit("hello", "Hi.", given=given),
        lambda given: runner.conversation("hello", given=given).post("Hi."),
        lambda given: runner.conversation("hello").post("Hi.", given=given),
    ]
    for begin in begins:
        with pytest.raises(NotPermitted):
            begin(theirs)
        assert begin(ours).context == {"vault": "b"}


def test_a_tree_leaves_out_what_may_not_be_seen_and_all_below_it(project: Project) -> None:
    turn = project.runner().run("hello", "help")
    assert len(project.runner().tree(turn.id)) == 2
    assert [one.id for one in project.runner(ADMIN).turns()][1:] == [turn.id]
    project.authorize("{effect: deny, actions: [read_control], agents: [helper]}")

    assert [one.id for one in project.runner().tree(turn.id)] == [turn.id]


def test_what_a_parents_policies_say_holds_for_its_children(project: Project) -> None:
    parent, child = project.runner().tree(project.runner().run("hello", "help").id)
    policies = "policies: [{name: own, rules: [{effect: deny, actions: [read_messages]}]}]\n"
    project.write({"hello": FILES["hello"] + policies})
    runner = project.runner()

    for turn in (parent, child):
        with pytest.raises(NotPermitted):
            runner.messages(turn.conversation_id)
        assert runner.turn(turn.id).status is TurnStatus.COMPLETED
    apart = runner.run("helper", "Hi.")
    assert runner.messages(apart.conversation_id)


def test_what_a_turn_began_with_holds_for_people_although_no_file_has_policies_any_more(
    project: Project,
) -> None:
    rule = "{effect: deny, actions: [cancel], reason: Not you.}"
    project.write({"hello": f"{FILES['hello']}policies: [{{name: own, rules: [{rule}]}}]\n"})
    under_way = project.runner()
    turn = under_way.submit("hello", "Hi.")
    project.write({"hello": FILES["hello"]})

    for runner in (under_way, project.runner()):
        with pytest.raises(NotPermitted, match=r"Not you\."):
            runner.cancel(turn.id)
        assert runner.cancel(runner.submit("hello", "Hi.").id).turns


def test_to_cancel_a_tree_every_turn_of_it_has_to_be_cancellable(project: Project) -> None:
    turn = project.runner().run("hello", "help")
    project.authorize("{effect: deny, actions: [cancel], agents: [helper]}")
    runner = project.runner()

    with pytest.raises(NotPermitted):
        runner.cancel(turn.id)
    assert runner.cancel(turn.id, reach=Reach.RETAIN).turns


def test_a_turn_acts_for_whom_it_is_said_to_and_otherwise_for_the_runners_own(
    project: Project,
) -> None:
    runner = project.runner(ADMIN)

    assert runner.submit("hello", "Hi.").principal == ADMIN
    assert runner.submit("hello", "Hi.", given=Given(principal=CLERK)).principal == CLERK
    assert runner.acting_for(CLERK).submit("hello", "Hi.").principal == CLERK
    assert runner.acting_for(None).submit("hello", "Hi.").principal is None
    assert runner.conversation("hello").post("Hi.").principal == ADMIN


def test_whoever_submits_is_asked_about_and_not_whom_the_turn_acts_for(
    project: Project,
) -> None:
    project.authorize("{effect: allow, actions: [submit], principals: {role: admin}}")

    project.runner(ADMIN).submit("hello", "Hi.", given=Given(principal=CLERK))
    with pytest.raises(NotPermitted):
        project.runner(CLERK).submit("hello", "Hi.", given=Given(principal=ADMIN))
    # An application that names nobody acts for whom its turns act.
    project.runner().submit("hello", "Hi.", given=Given(principal=ADMIN))
    with pytest.raises(NotPermitted):
        project.runner().submit("hello", "Hi.", given=Given(principal=CLERK))


def test_a_child_acts_for_the_principal_of_its_parent(project: Project) -> None:
    runner = project.runner(ADMIN)

    turn = runner.run("hello", "help")

    assert [one.principal for one in runner.tree(turn.id)] == [ADMIN, ADMIN]


def test_nothing_that_a_model_writes_names_a_principal(project: Project) -> None:
    runner = project.runner(CLERK)

    turn = runner.run("hello", "usurp")

    assert turn.status is TurnStatus.COMPLETED
    assert {tuple((one.principal or {}).values()) for one in runner.tree(turn.id)} == {("clerk",)}


def test_a_condition_knows_the_turn_and_the_conversation(project: Project) -> None:
    mine = project.runner().run("hello", "Hi.", given=Given(context={"tenant": "a"}))
    project.authorize(
        '{effect: allow, actions: [read_control], when: "context.tenant == principal.tenant'
        " && turn.depth == 0 && turn.kind == 'task' && conversation.agent == agent"
        f" && turn.id == '{mine.id}'\"}}"
    )

    assert project.runner({"tenant": "a"}).turn(mine.id).id == mine.id
    with pytest.raises(NotPermitted):
        project.runner({"tenant": "b"}).turn(mine.id)
    with pytest.raises(NotPermitted, match='there is no "tenant"'):
        project.runner().turn(mine.id)


def test_policies_that_cannot_be_read_deny_what_people_attempt(project: Project) -> None:
    turn = pending(project.runner())
    project.authorize("{effect: deny, actions: [wait]}")
    project.write({"hello": "x: 1\n"})

    with pytest.raises(NotPermitted, match="runner validate"):
        project.runner().cancel(turn.id)
    project.authorize("")
    project.runner().cancel(turn.id)


def test_an_attempt_on_what_is_not_there_says_so(project: Project) -> None:
    project.authorize("{effect: deny, actions: [wait]}")
    runner = project.runner()

    with pytest.raises(NotFound):
        runner.cancel(TurnId("turn_0"))
    with pytest.raises(NotFound):
        runner.messages(ConversationId("conv_0"))
