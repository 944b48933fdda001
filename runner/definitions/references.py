"""References between definitions, checked when all of them have been read."""

from collections.abc import Iterable, Iterator
from itertools import chain, islice

from runner.definitions import context_kind
from runner.definitions.agent import AgentDefinition
from runner.definitions.codes import Code
from runner.definitions.config_loader import LoadedConfig
from runner.definitions.context import CommonContextKeys, ContextDefinition
from runner.definitions.definition_file import DefinitionFile, Draft
from runner.definitions.launch_graph import loops
from runner.definitions.policy import PolicyDefinition, PythonPolicy, RulesPolicy
from runner.definitions.problem import Problem
from runner.definitions.skill import SkillDefinition
from runner.definitions.source import MAX_PROBLEMS
from runner.definitions.surroundings import Surroundings
from runner.definitions.tool import NamedTool, ToolDefinition


def surroundings_of(files: Iterable[DefinitionFile], loaded: LoadedConfig) -> Surroundings:
    """What the definitions in some files may refer to."""
    agents: dict[str, AgentDefinition | None] = {}
    tools: dict[str, ToolDefinition | None] = {}
    policies: dict[str, PolicyDefinition | None] = {}
    skills: dict[str, SkillDefinition | None] = {}
    contexts: dict[str, ContextDefinition | None] = {}
    lost: dict[str, None] = {}
    for file in files:
        lost |= dict.fromkeys(file.lost_names)
        for draft in file.drafts:
            definition = draft.reading.definition
            match draft.kind:
                case "agent":
                    agent = definition if isinstance(definition, AgentDefinition) else None
                    agents.setdefault(draft.name, agent)
                case "context":
                    context = definition if isinstance(definition, CommonContextKeys) else None
                    contexts.setdefault(draft.name, context)
                case "policy":
                    policy = (
                        definition if isinstance(definition, RulesPolicy | PythonPolicy) else None
                    )
                    policies.setdefault(draft.name, policy)
                case "skill":
                    skill = definition if isinstance(definition, SkillDefinition) else None
                    skills.setdefault(draft.name, skill)
                case _:
                    tool = definition if isinstance(definition, NamedTool) else None
                    tools.setdefault(draft.name, tool)
    agents, tools = {**lost, **agents}, {**lost, **tools}
    contexts, skills = {**lost, **contexts}, {**lost, **skills}
    return Surroundings(
        root=loaded.root,
        config=loaded.config,
        unsure=loaded.unsure,
        agents=agents,
        tools=tools,
        contexts=contexts,
        policies={**lost, **policies},
        skills=skills,
        loops=loops(agents, tools, skills),
    )


def check_config(loaded: LoadedConfig, surroundings: Surroundings) -> Iterator[Problem]:
    """Tell what in a config refers to definitions that are not there."""
    document = loaded.document
    if document is None:
        return
    found = context_kind.check_entries(loaded.config.context, document, surroundings, ("context",))
    yield from loaded.show(islice(found, MAX_PROBLEMS + 1))


class References:
    """Checks drafts in order, and remembers which names are taken."""

    def __init__(self, surroundings: Surroundings) -> None:
        self._surroundings = surroundings
        self._taken: dict[tuple[str, str], Draft] = {}

    def check(self, draft: Draft) -> list[Problem]:
        """Tell what in a definition refers to what is not there, or is there already."""
        found = chain(self._duplicate(draft), draft.reading.check(self._surroundings))
        return list(islice(found, MAX_PROBLEMS + 1))

    def _duplicate(self, draft: Draft) -> Iterator[Problem]:
        first = self._taken.setdefault((draft.kind, draft.name), draft)
        if first is not draft:
            place, other = draft.location, first.location
            yield draft.document.source.problem(
                Code.DUPLICATE_DEFINITION,
                f"the {draft.kind} {draft.name!r} is defined already in {other.path}:{other.line}",
                at=(place.line, place.column),
                related=(other,),
            )
