"""The units of a whole workspace: each name once, dependencies resolved, problems listed.

A problem never stops the others: the units that are clear are offered, and `dos doctor` shows the
rest.
"""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from datetime import UTC, datetime, timedelta

from msgspec import Struct, structs

from dos.units.unit import Problem, ProblemKind, Unit

# `docs`: the unit is about documents, so changes of documents count for it.
CLASSES = ("draft", "active", "done", "docs")


class Portfolio(Struct, frozen=True, kw_only=True):
    """All units in the order to offer them, and what is wrong with the plans."""

    units: tuple[Unit, ...]
    problems: tuple[Problem, ...] = ()


def _any_lane(_lane: str) -> bool:
    return True


def _any_agent(_agent: str) -> str:
    return ""


def assemble(
    units: Iterable[Unit],
    problems: Iterable[Problem] = (),
    *,
    knows_lane: Callable[[str], bool] = _any_lane,
    why_no_agent: Callable[[str], str] = _any_agent,
    classes: Collection[str] = (),
) -> Portfolio:
    """One portfolio of what the documents declare. Of two units of one name the first stands.

    `why_no_agent` returns what is wrong with the name of an agent. A unit that names an unknown
    agent is held: no other agent than the one that was asked for does it.
    """
    found = list(problems)
    unique = _unique(units, found)
    by_id: dict[str, list[str]] = {}
    for unit in unique.values():
        by_id.setdefault(unit.id, []).append(unit.name)
    resolved = []
    for unit in unique.values():
        found += _own_problems(unit, knows_lane, {*CLASSES, *classes})
        names = [_resolve_dependency(name, unit, unique, by_id, found) for name in unit.depends]
        depends = tuple(dict.fromkeys(names))
        if wrong := why_no_agent(unit.agent) if unit.agent else "":
            what = f"unit {unit.name} names the agent {unit.agent!r}: {wrong}"
            problem = _problem(ProblemKind.AGENT_UNKNOWN, unit, what)
            found.append(problem)
            unit = structs.replace(unit, gated=unit.gated or str(problem))
        if depends != unit.depends:
            unit = structs.replace(unit, depends=depends)
        resolved.append(unit)
    found += _cycles(resolved)
    return Portfolio(units=tuple(resolved), problems=tuple(found))


def _unique(units: Iterable[Unit], found: list[Problem]) -> dict[str, Unit]:
    """The first unit of each name; adds a problem for every further one.

    Two units of one name could not be told apart in commits, so the second is never offered.
    """
    unique: dict[str, Unit] = {}
    for unit in units:
        first = unique.setdefault(unit.name, unit)
        if first is not unit:
            what = f"unit {unit.name} is declared in {first.document}:{first.line} already"
            found.append(_problem(ProblemKind.DUPLICATE, unit, what))
    return unique


def soak_end(text: str) -> datetime | None:
    """When a soak is over: at a time, or at the end of a day; UTC by default. None: no date."""
    try:
        end = datetime.fromisoformat(text)
        if len(text) <= len("2026-01-31"):
            end += timedelta(days=1)
    except (ValueError, OverflowError):
        return None
    if end.tzinfo:
        return end
    return end.replace(tzinfo=UTC)


def _own_problems(
    unit: Unit, knows_lane: Callable[[str], bool], classes: Collection[str]
) -> list[Problem]:
    """What is wrong with a unit by itself: its lane, its class, its soak."""
    found = []
    if unit.lane and not knows_lane(unit.lane):
        what = f"unit {unit.name} names the lane {unit.lane!r}, which is not declared"
        found.append(_problem(ProblemKind.LANE_UNKNOWN, unit, what))
    if unit.plan_class and unit.plan_class.lower() not in {name.lower() for name in classes}:
        known = ", ".join(sorted(classes))
        what = f"unit {unit.name} has the class {unit.plan_class!r}; the classes are {known}"
        found.append(_problem(ProblemKind.CLASS_UNKNOWN, unit, what))
    if unit.soak_until and soak_end(unit.soak_until) is None:
        what = (
            f"unit {unit.name} soaks until {unit.soak_until!r}, which is no date such as 2026-01-31"
        )
        found.append(_problem(ProblemKind.SOAK_UNREADABLE, unit, what))
    return found


def _resolve_dependency(
    name: str,
    unit: Unit,
    units: Collection[str],
    by_id: Mapping[str, list[str]],
    found: list[Problem],
) -> str:
    """The full name of a dependency.

    One that no plan declares is taken to be of the same plan: it may have landed.
    """
    if name in units:
        return name
    own = f"{unit.plan}/{name}"
    if own in units:
        return own
    possible = by_id.get(name, [])
    if len(possible) == 1:
        return possible[0]
    if possible:
        names = " or ".join(possible)
        what = f"unit {unit.name} depends on {name!r}, which is {names}; say which"
    else:
        what = f"unit {unit.name} depends on {name!r}, which no plan declares"
    found.append(_problem(ProblemKind.DEPENDENCY_UNKNOWN, unit, what))
    if "/" in name:
        return name
    return own


def _cycles(units: Sequence[Unit]) -> list[Problem]:
    """A problem for each cycle of dependencies, at its first unit."""
    by_name = {unit.name: unit for unit in units}
    depends = {unit.name: [name for name in unit.depends if name in by_name] for unit in units}
    blocked = _blocked_by_cycles(depends)
    found: list[Problem] = []
    visited: set[str] = set()
    for unit in units:
        name = unit.name
        if name not in blocked:
            continue
        path: list[str] = []
        while name not in visited:  # every blocked unit depends on a blocked one
            visited.add(name)
            path.append(name)
            name = next(other for other in depends[name] if other in blocked)
        if name in path:
            cycle = path[path.index(name) :]
            what = f"these units wait for one another: {' → '.join([*cycle, cycle[0]])}"
            found.append(_problem(ProblemKind.DEPENDENCY_CYCLE, by_name[cycle[0]], what))
    return found


def _blocked_by_cycles(depends: Mapping[str, list[str]]) -> set[str]:
    """The units that remain after those without open dependencies are removed, again and again."""
    dependents: dict[str, list[str]] = {}
    for name, others in depends.items():
        for other in others:
            dependents.setdefault(other, []).append(name)
    missing = {}
    ready = []
    for name, others in depends.items():
        missing[name] = len(others)
        if not others:
            ready.append(name)
    while ready:
        for dependent in dependents.get(ready.pop(), ()):
            missing[dependent] -= 1
            if missing[dependent] == 0:
                ready.append(dependent)
    return {name for name, count in missing.items() if count > 0}


def _problem(kind: ProblemKind, unit: Unit, what: str) -> Problem:
    return Problem(kind=kind, what=what, document=unit.document, line=unit.line)
