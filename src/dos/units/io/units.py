"""The one place that says where units come from: plan documents, an issue tracker's files, or a program."""

from collections.abc import Mapping

from msgspec import structs

from dos.agents import registry
from dos.config.schema import Config
from dos.text import did_you_mean
from dos.units.io import documents, feasible
from dos.units.portfolio import Portfolio, assemble
from dos.units.unit import Problem, Trouble, Unit
from dos.workspace import Workspace


def read(
    workspace: Workspace,
    config: Config,
    *,
    counted: bool = False,
    texts: Mapping[str, str | None] | None = None,
) -> Portfolio:
    """Every unit of the workspace, in the order in which they should be offered, and what is wrong with them.

    With `counted`, also the headings of documents in which nothing has an id: to be shown, not to be worked on.
    `texts` are the documents that count, by their names, whatever is on disk; a document whose text is None does not.
    """
    plans = config.plans
    if plans.source == "beads":
        from dos.units.io import beads

        units, problems = beads.read(workspace.root, plans.beads)
    elif plans.source == "command":
        from dos.units.io import command

        units, problems = command.read(workspace.root, plans.command, plans.timeout_seconds)
    else:
        units, problems = _documents(workspace, config, counted=counted, texts=texts)
    complete = [_completed(unit, config) for unit in units] if config.units else units
    return assemble(
        complete,
        [*problems, *feasible.problems(workspace.root, complete, config)],
        knows_lane=lambda lane: config.canonical_lane(lane) is not None,
        why_no_agent=lambda agent: agent_trouble(agent, config),
        classes=config.lifecycle.classes,
    )


def agent_trouble(agent: str, config: Config) -> str:
    """Why nobody can start an agent of this name; empty where it is known."""
    if agent in config.agents or registry.knows(agent):
        return ""
    known = [*config.agents, *(name for name in registry.names() if name not in config.agents)]
    return f"there is no such agent; {did_you_mean(agent, known, 'agents')}"


def _completed(unit: Unit, config: Config) -> Unit:
    """With what [units] says of it where its own plan is silent."""
    found = config.units.get(unit.name) or config.units.get(unit.id)
    if found is None:
        return unit
    return structs.replace(
        unit, paths=unit.paths or found.paths, acceptance=unit.acceptance or found.accept
    )


def _documents(
    workspace: Workspace, config: Config, *, counted: bool, texts: Mapping[str, str | None] | None
) -> tuple[list[Unit], list[Problem]]:
    units: list[Unit] = []
    problems: list[Problem] = []
    paths = config.paths  # packets show units too, and are no plans
    grammar = config.enumerate
    for found in documents.read(
        workspace.root, paths.plans_glob, grammar, paths.next_packets, texts=texts
    ):
        if isinstance(found, tuple):
            name, unread = found
            problems.append(Problem(kind=Trouble.UNREADABLE, what=unread.why, document=name))
        else:
            units += [each.unit for each in found.declared] if counted else found.units
            problems += found.problems
    return units, problems
