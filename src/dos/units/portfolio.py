"""The units of a whole workspace: each name once, dependencies resolved, and what is wrong with them."""

from collections.abc import Callable, Collection, Iterable, Sequence
from datetime import UTC, datetime, timedelta

from msgspec import Struct, structs

from dos.units.unit import Problem, ProblemKind, Unit

CLASSES = (
    "draft",
    "active",
    "done",
    "docs",
)  # `docs`: the unit is about documents, and they count for it


class Portfolio(Struct, frozen=True, kw_only=True):
    units: tuple[Unit, ...]
    problems: tuple[Problem, ...] = ()


def assemble(
    units: Iterable[Unit],
    problems: Iterable[Problem] = (),
    *,
    knows_lane: Callable[[str], bool] = lambda lane: True,
    why_no_agent: Callable[[str], str] = lambda agent: "",
    classes: Collection[str] = (),
) -> Portfolio:
    """One portfolio of what the documents declare. Of two units of one name the first stands.

    `why_no_agent` says what is wrong with the name of an agent. A unit that names one that nobody knows is held:
    another agent than the one that was asked for does not do it.
    """
    found = list(problems)
    kept: dict[str, Unit] = {}
    for unit in units:
        first = kept.setdefault(unit.name, unit)
        if first is not unit:
            what = f"unit {unit.name} is declared in {first.document}:{first.line} already"
            found.append(_problem(ProblemKind.DUPLICATE, unit, what))
    by_id: dict[str, list[str]] = {}
    for unit in kept.values():
        by_id.setdefault(unit.id, []).append(unit.name)
    resolved = []
    for unit in kept.values():
        found += _own_problems(unit, knows_lane, {*CLASSES, *classes})
        depends = tuple(
            dict.fromkeys(_resolved(name, unit, kept, by_id, found) for name in unit.depends)
        )
        if wrong := why_no_agent(unit.agent) if unit.agent else "":
            problem = _problem(
                ProblemKind.AGENT_UNKNOWN,
                unit,
                f"unit {unit.name} names the agent {unit.agent!r}: {wrong}",
            )
            found.append(problem)
            unit = structs.replace(unit, gated=unit.gated or str(problem))
        resolved.append(structs.replace(unit, depends=depends) if depends != unit.depends else unit)
    found += _cycles(resolved)
    return Portfolio(units=tuple(resolved), problems=tuple(found))


def soak_end(text: str) -> datetime | None:
    """When a soak is over: a time, or the end of a day; UTC unless it says otherwise. None: it says neither."""
    try:
        end = datetime.fromisoformat(text)
        end += timedelta(days=1 if len(text) <= len("2026-01-31") else 0)
    except (ValueError, OverflowError):
        return None
    return end if end.tzinfo else end.replace(tzinfo=UTC)


def _own_problems(
    unit: Unit, knows_lane: Callable[[str], bool], classes: Collection[str]
) -> list[Problem]:
    found = []
    if unit.lane and not knows_lane(unit.lane):
        what = f"unit {unit.name} names the lane {unit.lane!r}, which is not declared"
        found.append(_problem(ProblemKind.LANE_UNKNOWN, unit, what))
    if unit.plan_class and unit.plan_class.lower() not in {name.lower() for name in classes}:
        what = f"unit {unit.name} has the class {unit.plan_class!r}; the classes are {', '.join(sorted(classes))}"
        found.append(_problem(ProblemKind.CLASS_UNKNOWN, unit, what))
    if unit.soak_until and soak_end(unit.soak_until) is None:
        what = (
            f"unit {unit.name} soaks until {unit.soak_until!r}, which is no date such as 2026-01-31"
        )
        found.append(_problem(ProblemKind.SOAK_UNREADABLE, unit, what))
    return found


def _resolved(
    name: str, unit: Unit, kept: Collection[str], by_id: dict[str, list[str]], found: list[Problem]
) -> str:
    """The name of the unit that is meant. What nobody declares is taken to be of the same plan: it may have landed."""
    if name in kept:
        return name
    if (own := f"{unit.plan}/{name}") in kept:
        return own
    meant = by_id.get(name, [])
    if len(meant) == 1:
        return meant[0]
    if meant:
        what = f"unit {unit.name} depends on {name!r}, which is {' or '.join(meant)}; say which"
    else:
        what = f"unit {unit.name} depends on {name!r}, which no plan declares"
    found.append(_problem(ProblemKind.DEPENDENCY_UNKNOWN, unit, what))
    return name if "/" in name else own


def _cycles(units: Sequence[Unit]) -> list[Problem]:
    """Each cycle once, at its first unit. What no cycle holds up is taken away until only cycles are left."""
    by_name = {unit.name: unit for unit in units}
    waits_for = {unit.name: [name for name in unit.depends if name in by_name] for unit in units}
    wanted_by: dict[str, list[str]] = {}
    for name, wanted in waits_for.items():
        for other in wanted:
            wanted_by.setdefault(other, []).append(name)
    missing = {name: len(wanted) for name, wanted in waits_for.items()}
    ready = [name for name, count in missing.items() if count == 0]
    while ready:
        for waiting in wanted_by.get(ready.pop(), ()):
            missing[waiting] -= 1
            if missing[waiting] == 0:
                ready.append(waiting)
    left = {name for name, count in missing.items() if count > 0}
    found: list[Problem] = []
    seen: set[str] = set()
    for name in (unit.name for unit in units if unit.name in left):
        path: list[str] = []
        while name not in seen:  # every unit that is left waits for one that is left
            seen.add(name)
            path.append(name)
            name = next(wanted for wanted in waits_for[name] if wanted in left)
        if name in path:
            cycle = path[path.index(name) :]
            what = f"these units wait for one another: {' → '.join([*cycle, cycle[0]])}"
            found.append(_problem(ProblemKind.DEPENDENCY_CYCLE, by_name[cycle[0]], what))
    return found


def _problem(kind: ProblemKind, unit: Unit, what: str) -> Problem:
    return Problem(kind=kind, what=what, document=unit.document, line=unit.line)
