"""The settings tables [plans], [lifecycle], [enumerate] and [units].

What dos-kernel ≤ 0.30 read and this version does not is accepted all the same, so that one
dos.toml serves both.
"""

from collections.abc import Iterable, Mapping
from typing import Annotated, Literal

from msgspec import Meta, field, structs
from msgspec.structs import force_setattr

from dos import regions
from dos.fields import (
    BadValue,
    Count,
    Hours,
    Key,
    Seconds,
    Table,
    check_name,
    check_not_blank,
    check_text,
)
from dos.text import ascii_lower
from dos.units.unit import TESTS_MAY_CHANGE, Unit

Words = tuple[str, ...]


class Plans(Table, frozen=True, kw_only=True):
    """[plans]: where units come from."""

    source: Literal["documents", "beads", "command"] = "documents"
    """Where units come from: plan documents, an issue tracker's files, or a command."""
    command: Words = ()
    """Command that prints units as JSON lines, for the source `command`."""
    beads: str = ".beads"
    """Folder of `*.jsonl` files, or one such file, with the issues of the source `beads`."""
    timeout_seconds: Seconds = 60.0
    """Time limit of `command`."""

    def __post_init__(self) -> None:
        check_not_blank(self.beads, ("beads",))
        for place, word in enumerate(self.command):
            check_text(word, ("command", place))
        if self.command and not self.command[0].strip():
            raise BadValue(
                ("command", 0),
                "the command has no program to start",
                "Put the program's name first.",
            )
        if self.source == "command" and not self.command:
            raise BadValue(
                ("source",),
                'source is "command" and there is no command to start',
                'Add command = ["program", "argument"] to [plans].',
            )


class Transition(Table, frozen=True, kw_only=True):
    """[[lifecycle.transitions]]: a plan may move from one class to another."""

    from_class: str = field(name="from")
    """Class that the plan leaves."""
    to_class: str = field(name="to")
    """Class that the plan gets."""
    trigger: str
    """When it is due: `all_phases_shipped`, `any_phase_shipped` or `any_phase_open`."""
    auto: bool = False
    """Whether `dos lifecycle tick` makes the transition; by default it only reports it."""


ALL_SHIPPED = (
    Transition(from_class="active", to_class="done", trigger="all_phases_shipped", auto=True),
)


class Lifecycle(Table, frozen=True, kw_only=True):
    """[lifecycle]: the classes of plans and units, and how `dos lifecycle tick` moves plans."""

    classes: Words = ("active", "done")
    """Classes besides `draft`, `active`, `done`, `docs`; a plan that states none has the first."""
    transitions: tuple[Transition, ...] = ALL_SHIPPED
    """Moves of plans from class to class; of several that are due for a plan the first is made."""
    veto_class: str = ""
    """Class whose plans are never moved."""
    max_transitions_per_cycle: Count = 5
    """Plans that one cycle moves at most."""
    per_plan_cooldown_hours: Hours = 72.0
    """Time for which a plan that was moved is not moved again."""

    def __post_init__(self) -> None:
        if not self.classes:
            raise BadValue(
                ("classes",),
                "classes is empty",
                'Name at least one, as in classes = ["active", "done"].',
            )
        for place, name in enumerate(self.classes):
            check_name(name, ("classes", place), "plan class")
            if name in self.classes[:place]:
                raise BadValue(
                    ("classes", place),
                    f"the plan class {name!r} is written twice",
                    "Keep one of them.",
                )
        if self.transitions is ALL_SHIPPED and not {"active", "done"} <= set(self.classes):
            # The default moves between classes that this file does not have.
            force_setattr(self, "transitions", ())
        for place, move in enumerate(self.transitions):
            self._check_class(move.from_class, ("transitions", place, "from"))
            self._check_class(move.to_class, ("transitions", place, "to"))
        if self.veto_class:
            self._check_class(self.veto_class, ("veto_class",))

    def _check_class(self, name: str, key: Key) -> None:
        """Raise BadValue for a class that is not one of `classes`."""
        if name not in self.classes:
            known = ", ".join(self.classes)
            raise BadValue(
                key, f"{name!r} is not one of the plan classes {known}", f"Add {name!r} to classes."
            )


class Grammar(Table, frozen=True, kw_only=True):
    """[enumerate]: how the units of a plan document are found."""

    heading_levels: tuple[Annotated[int, Meta(ge=1, le=6)], ...] = (2, 3, 4, 5, 6)
    """Levels of the headings that may declare units; 1 is `#`."""
    scan_tables: bool = True
    """Also find units in the rows of tables that begin with an id."""
    generic_numeric_table: bool = False
    """Also list numbered table rows of documents without ids; they are not worked on."""
    bare_phase_fallback: bool = True
    """List `Phase N` headings of documents without ids; they are not worked on."""
    rollup_parents: bool = False
    """Let `dos enumerate` count a unit as shipped when all its sub-units are."""
    style: str = "generic"
    """Not read by this version; accepted because dos-kernel files may set it."""


class DeclaredUnit(Table, frozen=True, kw_only=True):
    """`[units.AUTH1]`: one unit; `[units."AUTH/AUTH1"]` where two plans have a unit of that id."""

    paths: tuple[str, ...] = ()
    """Globs of the files that the unit should change, where its plan names none."""
    accept: str = ""
    """Command that must exit 0 on the finished work of the unit, where its plan names none."""
    tests: Literal["keep", "may-change"] = "keep"
    """`may-change`: the unit may remove or loosen tests; its plan may say the same."""
    kind: Literal["code", "docs", "config"] = "code"
    """What the unit delivers: `docs` lets changed documents count; `config` equals `code`."""

    def __post_init__(self) -> None:
        for number, glob in enumerate(self.paths):
            check_not_blank(glob, ("paths", number))
        regions.region(self.paths)
        check_text(self.accept, ("accept",))

    def complete(self, unit: Unit) -> Unit:
        """Return the unit with the paths, acceptance and tests of this table where it states none.

        The plan takes precedence: it is what the agent is given to read and what people review.
        """
        return structs.replace(
            unit,
            paths=unit.paths or self.paths,
            acceptance=unit.acceptance or self.accept,
            tests_may_change=unit.tests_may_change or self.tests == TESTS_MAY_CHANGE,
        )


def settings_of(declared: Mapping[str, DeclaredUnit], keys: Iterable[str]) -> DeclaredUnit | None:
    """Return what [units] has under the first of the keys, whatever their case; None: nothing."""
    by_key = {ascii_lower(key): settings for key, settings in declared.items()}
    for key in keys:
        settings = by_key.get(ascii_lower(key))
        if settings is not None:
            return settings
    return None
