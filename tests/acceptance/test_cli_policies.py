"""Policies at a terminal: what they let a principal do, and why."""

import pytest

from tests.program import CONFIG, Program

REFUNDS = """\
kind: policy
rules:
  - {effect: deny, tools: ["mail_*"], reason: No mail from here.}
  - name: large
    effect: ask
    tools: [refund]
    when: arguments.amount > 100.0
    reason: A large refund.
    expires: 4h
  - {effect: allow, actions: [tool], principals: {role: [support, admin]}}
"""
SUPPORT = """\
description: Helps.
policies: [refunds]
tools: [launch_agent, wait_for, send_message]
sub_agents: [hello, {name: helper, description: Helps.}]
skills:
  - name: telling
    description: Tells.
    content: Tell.
    tools: [{name: tell, builtin: send_message}]
available_skills:
  - name: handing
    description: Hands over.
    content: Hand over.
    tools: [{name: hand_over, builtin: launch_agent}]
"""
CEILING = """\
authorization:
  - name: top
    rules:
      - {effect: deny, actions: [cancel, read_messages], when: "!has(principal.admin)"}
      - {effect: ask, actions: [steer]}
      - {effect: deny, actions: [read_control], principals: {blind: true}}
"""


@pytest.fixture
def support(program: Program) -> Program:
    program.write("agents/refunds.yaml", REFUNDS)
    program.write("agents/support.yaml", SUPPORT)
    return program


def explained(program: Program, *arguments: str) -> list[str]:
    done = program.run("policy", "explain", *arguments)
    notices = [line for line in done.err.splitlines() if "has no tool" not in line]
    assert (done.code, notices) == (0, [])
    return done.out.splitlines()


def test_the_deciding_rule_is_shown_with_its_place_and_those_that_came_close(
    support: Program,
) -> None:
    lines = explained(
        support,
        *("--agent", "support", "--tool", "refund"),
        *("--arguments", '{"amount": 250}', "--principal", '{"role": "cook"}'),
    )

    assert lines == [
        "tool refund by support: ask",
        "  reason   A large refund.",
        "  rule     large of policy refunds, agents/refunds.yaml:4",
        "  layer    support",
        "  expires  4h",
        "  layers   support",
        "",
        "applies",
        "  ask   large of policy refunds, agents/refunds.yaml:4  layer support",
        "",
        "came close",
        "  deny  rule 1 of policy refunds, agents/refunds.yaml:3  layer support",
        "        tools: it is 'refund', and the rule wants 'mail_*'",
        "  allow rule 3 of policy refunds, agents/refunds.yaml:10  layer support",
        "        principals.role: it is 'cook', and the rule wants 'support' or 'admin'",
    ]


def test_an_explanation_is_there_for_programs(support: Program) -> None:
    done = support.run(
        *("policy", "explain", "--agent", "support", "--tool", "refund", "--json"),
        *("--arguments", '{"amount": 5}', "--principal", '{"role": "support"}'),
    )

    (found,) = done.document
    assert (found["action"], found["effect"], found["rule"]) == ("tool", "allow", "rule 3")
    assert (found["source"], found["layers"]) == ("agents/refunds.yaml:10", ["support"])
    assert found["expires"] is None
    assert [one["key"] for one in found["applying"]] == [None]
    assert [one["key"] for one in found["near"]] == ["tools", "when"]


@pytest.mark.parametrize(
    ("arguments", "heads"),
    [
        (["--tool", "hello"], ["launch_agent hello", "wait hello"]),
        (["--tool", "helper"], ["launch_agent helper", "wait helper"]),
        (["--tool", "launch_agent"], ["launch_agent launch_agent"]),
        (
            ["--tool", "launch_agent", "--arguments", '{"callback": true}'],
            ["launch_agent launch_agent", "callback launch_agent"],
        ),
        (["--tool", "wait_for"], ["wait wait_for"]),
        (["--tool", "send_message"], ["send_message send_message"]),
        (["--tool", "unheard_of"], ["tool unheard_of"]),
        (["--tool", "hand_over"], ["launch_agent hand_over"]),
        (["--tool", "tell"], ["send_message tell"]),
        (["--action", "cancel"], ["cancel"]),
        (["--tool", "helper", "--action", "wait"], ["wait helper"]),
    ],
)
def test_a_call_is_explained_by_whatever_it_attempts(
    arguments: list[str], heads: list[str], support: Program
) -> None:
    lines = explained(support, "--agent", "support", *arguments)

    assert [line.partition(" by ")[0] for line in lines if " by support: " in line] == heads


@pytest.mark.parametrize(
    ("what", "told"),
    [
        (["--tool", "x"], "ask"),
        (["--tool", "x", "--under", "hello"], "allow"),
        (["--action", "submit"], "ask"),
    ],
)
def test_rules_that_look_at_the_turn_are_explained_as_they_decide(
    what: list[str], told: str, program: Program
) -> None:
    program.write(
        "config.yaml",
        CONFIG
        + """\
authorization:
  - name: top
    rules:
      - effect: ask
        actions: [tool]
        when: >-
          turn.kind == 'task' && turn.parent_id == null && turn.id == turn.root_id
          && conversation.id != ''
      - {effect: ask, actions: [submit], when: "turn.kind == 'task' && !has(turn.id)"}
""",
    )
    program.write("agents/other.yaml", "description: Helps.\n")

    assert explained(program, "--agent", "other", *what)[0].endswith(f" by other: {told}")


def test_agents_above_have_their_say(support: Program) -> None:
    for agent in ("hello", "helper"):
        lines = explained(support, "--agent", agent, "--under", "support", "--tool", "mail_me")

        assert lines[:4] == [
            f"tool mail_me by {agent}: deny",
            "  reason   No mail from here.",
            "  rule     rule 1 of policy refunds, agents/refunds.yaml:3",
            "  layer    support",
        ]


def test_without_policies_an_explanation_says_so(program: Program) -> None:
    assert explained(program, "--agent", "hello", "--tool", "x") == [
        "tool x by hello: allow",
        "  reason   no policy is in force",
    ]


def test_a_function_that_denies_is_named(program: Program) -> None:
    program.write("python/rules.py", "def agree(attempt: object) -> bool:\n    return False\n")
    program.write("agents/office.yaml", "kind: policy\npython: rules:agree\n")
    program.write("agents/desk.yaml", "policies: [office]\n")

    assert explained(program, "--agent", "desk", "--tool", "x")[:3] == [
        "tool x by desk: deny",
        "  reason   policy 'office' does not agree",
        "  policy   office, agents/office.yaml:1",
    ]


@pytest.mark.parametrize(
    ("arguments", "code", "told"),
    [
        (["--agent", "helper", "--tool", "x"], 1, "no agent 'helper' here; the agents are: hello"),
        (["--agent", "support"], 2, "name a tool with --tool"),
        (["--agent", "support", "--tool", "x", "--principal", "me"], 2, "--principal is not JSON"),
        (["--agent", "support", "--tool", "x", "--arguments", "[]"], 2, "--arguments wants a JSON"),
        (["--agent", "support", "--action", "aprove"], 2, "'--action': 'aprove' is not one of"),
    ],
)
def test_a_question_that_cannot_be_answered_is_refused(
    arguments: list[str], code: int, told: str, support: Program
) -> None:
    done = support.run("policy", "explain", *arguments)

    assert done.code == code
    assert told in done.err


def test_that_the_agent_has_no_such_tool_is_said_beside_the_explanation(support: Program) -> None:
    def said(*arguments: str) -> str:
        return support.run("policy", "explain", *arguments).err

    unknown = said("--agent", "support", "--tool", "helpre")
    none = said("--agent", "hello", "--tool", "helper")
    known = [
        said("--agent", "support", "--tool", tool)
        for tool in ("helper", "wait_for", "tell", "hand_over", "load_skill")
    ]

    assert unknown.startswith("the agent 'support' has no tool 'helpre'; it has hand_over, hello")
    assert none == "the agent 'hello' has no tool 'helper'; it has none\n"
    assert known == [""] * 5
    assert not said("--agent", "support", "--action", "cancel")


def test_policies_that_are_wrong_are_not_explained(support: Program) -> None:
    support.write("agents/refunds.yaml", "kind: policy\nrules: [{effect: dney}]\n")

    done = support.run("policy", "explain", "--agent", "support", "--tool", "x")

    assert done.code == 1
    assert "agents/refunds.yaml:2:18" in done.err


def test_a_principal_does_what_policies_let_it(program: Program) -> None:
    program.write("config.yaml", CONFIG + CEILING)
    turn = program.run("submit", "hello", "Hi.", "--principal", '{"user": 7}', "--json").document

    denied = program.run("cancel", turn["id"], "--principal", '{"user": 7}')
    asked = program.run("steer", turn["id"], "Go on.")
    unread = program.run("messages", turn["conversation_id"])
    unseen = program.run("ps", "--principal", '{"blind": true}', "--json")
    seen = program.run("ps", "--json")
    done = program.run("cancel", turn["id"], "--principal", '{"admin": true}')

    assert turn["principal"] == {"user": 7}
    assert (denied.code, denied.out) == (3, "")
    assert denied.err == (
        "error: policies do not let you cancel this: policy 'top' denies it (config.yaml:11)\n"
    )
    assert (asked.code, unread.code) == (3, 3)
    assert "would have to be approved" in asked.err
    assert unseen.document == []
    assert [one["id"] for one in seen.document] == [turn["id"]]
    assert (done.code, done.out) == (0, f"{turn['id']}  hello  cancelled\n")


def test_whoever_may_not_look_is_told_of_what_was_done_all_the_same(program: Program) -> None:
    program.write("config.yaml", CONFIG + CEILING)
    turn = program.run("submit", "hello", "Hi.").out.strip()
    blind = '{"blind": true, "admin": true}'

    paused = program.run("pause", turn, "--principal", blind)
    resumed = program.run("resume", turn, "--principal", blind, "--json")
    ran = program.run("run", "hello", "Hi.", "--principal", blind)
    watched = program.run("watch", turn, "--principal", blind)
    program.run("cancel", turn, "--principal", blind)

    assert (paused.code, paused.out) == (0, f"{turn}  done\n")
    assert resumed.document["turns"][0]["state"] == "done"
    assert (ran.code, ran.out) == (0, "Hello! You said: Hi.\n")
    assert watched.code == 3


def test_a_turn_is_followed_without_what_was_said_by_whoever_may_not_read_that(
    program: Program,
) -> None:
    program.write("config.yaml", CONFIG + CEILING)
    agent = """\
description: Reads.
tools: [{name: load, description: Loads., python: "notes:load"}]
"""
    program.write("agents/reader.yaml", agent)
    program.write("python/notes.py", "def load(key: str) -> str:\n    raise ValueError(key)\n")
    script = """\
- agent: reader
  answers:
    - tool_calls: [{name: load, arguments: {key: hidden}}]
    - text: Read.
"""
    program.write("script.yaml", script)

    ran = program.run("run", "reader", "Read.")
    turn = program.run("ps", "--json").document[0]["id"]
    watched = program.run("watch", turn)
    admin = program.run("watch", turn, "--principal", '{"admin": true}')

    for done in (ran, watched):
        assert (done.code, done.out) == (0, "Read.\n")
        assert "✗ load  failed" in done.err
        assert "hidden" not in done.err
        assert "an observer failed" not in done.err
    assert "hidden" in admin.err


def test_a_principal_is_read_from_a_file_too(program: Program) -> None:
    (program.root / "me.json").write_text('{"user": "ada"}')

    done = program.run("run", "hello", "Hi.", "--principal", f"@{program.root}/me.json", "--json")

    assert done.documents[-1]["turn"]["principal"] == {"user": "ada"}
    assert program.run("ps", "--principal", "[]").code == 2


def test_a_new_policy_is_valid_as_it_stands(program: Program) -> None:
    made = program.run("new", "policy", "careful")

    assert made.out.splitlines() == [
        "wrote agents/careful.yaml",
        "list it under the policies of an agent: policies: [careful]",
        "or, for everyone, in the config: authorization: [careful]",
        "then: runner validate && runner policy explain --agent AGENT --tool TOOL",
    ]
    assert program.run("validate").out == "1 agent, no tools, 1 policy, no problems\n"
    assert program.run("validate", "--json").document["policies"] == 1


def test_functions_that_policies_name_are_imported_when_asked(program: Program) -> None:
    program.write("agents/office.yaml", "kind: policy\npython: notes:gone\n")
    program.write("agents/desk.yaml", "policies: [{name: own, python: 'notes:gone'}]\n")
    program.write(
        "config.yaml", f"{CONFIG}authorization: [office, {{name: top, python: 'notes:gone'}}]\n"
    )

    done = program.run("validate", "--import", "--json")

    assert [
        (problem["path"], problem["line"], problem["code"]) for problem in done.document["problems"]
    ] == [
        ("agents/desk.yaml", 1, "import-failed"),
        ("agents/office.yaml", 2, "import-failed"),
        ("config.yaml", 8, "import-failed"),
    ]
    assert program.run("validate").code == 0
