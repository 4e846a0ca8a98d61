"""Questions about a unit: its work cannot land, is gone, is held, or bypassed landing."""

from collections.abc import Sequence
from shlex import quote
from typing import Any, ClassVar, Self

from dos.backlog.waiting import WaitsOn
from dos.choices import ChoiceName
from dos.questions import subject
from dos.questions.question import Choice, Question, Record, SetAside, clear_units, question_id
from dos.text import join_some, plural

_SOAK_GATE = "SOAK_GATE"
_EDITS = {
    "DRAFT_CLASS": "change its class to active",
    "OPERATOR_GATED": "decide it, and remove `gated`",
    "SOAK_OPEN": "wait for its end, or end the soak (`soak until`, [paths] soaks_index)",
}


class LandingConflict(Question, frozen=True, kw_only=True):
    """The work on a unit was finished several times and could not land."""

    about: ClassVar[str] = "landing_conflict"
    detail_keys: ClassVar[tuple[str, ...]] = ("unit", "lane", "reasons")
    unit: str
    reasons: tuple[str, ...] = ()

    @classmethod
    def ask(cls, unit: str, reasons: Sequence[str], *, lane: str = "", ordinal: int = 1) -> Self:
        """Return the question. `ordinal` counts how often it came up for the unit."""
        last = reasons[-1] if reasons else ""
        return cls(
            id=question_id(cls.about, unit, ordinal),
            text=f"{unit} was finished {len(reasons)} times and could not land (last: {last})."
            " Retry, hold it, or drop it?",
            waits=(subject.Unit(unit),),
            until_start=True,
            unit=unit,
            lane=lane,
            reasons=tuple(reasons),
        )

    @property
    def choices(self) -> tuple[Choice, ...]:
        return (
            Choice(
                name=ChoiceName.RETRY,
                meaning="start another agent on it, with the reasons of the earlier attempts",
                releases=True,
                effects=clear_units(self.units, self.lane),
            ),
            Choice(
                name=ChoiceName.HOLD,
                meaning="keep its commits and skip it until the next `dos up`",
                sets_aside=SetAside.UNTIL_START,
            ),
            Choice(
                name=ChoiceName.DROP,
                meaning="never work on it again",
                sets_aside=SetAside.FOR_GOOD,
            ),
        )

    @property
    def otherwise(self) -> str:
        """A start retries: what kept the work from landing may have changed."""
        return ChoiceName.RETRY

    @property
    def kind(self) -> str:
        """The name that dos-kernel has for it."""
        return "CONFLICT"


class LandingBlocked(Question, frozen=True, kw_only=True):
    """The work on a unit is finished and verified, and something in the checkout blocks its
    landing.
    """

    about: ClassVar[str] = "landing_blocked"
    waits_on: ClassVar[WaitsOn] = WaitsOn.LANDING
    detail_keys: ClassVar[tuple[str, ...]] = ("unit", "lane", "commit", "reasons")
    unit: str
    commit: str
    reasons: tuple[str, ...] = ()

    @classmethod
    def ask(cls, unit: str, reason: str, *, commit: str, lane: str = "", ordinal: int = 1) -> Self:
        """Return the question. `ordinal` counts the earlier answers to it."""
        return cls(
            id=question_id(cls.about, f"{unit}-{commit[:9]}", ordinal),
            text=f"{unit} is finished as {commit[:9]} and cannot land: {reason}."
            " It lands by itself once that is gone. Retry now, or drop it?",
            waits=(subject.Unit(unit),),
            until_start=True,
            unit=unit,
            lane=lane,
            commit=commit,
            reasons=(reason,),
        )

    @property
    def choices(self) -> tuple[Choice, ...]:
        return (
            Choice(
                name=ChoiceName.RETRY,
                meaning="land the same commits now; use this once the way is clear",
                releases=True,
                effects=clear_units(self.units, self.lane),
            ),
            Choice(
                name=ChoiceName.DROP,
                meaning="keep its commits and never work on it again",
                sets_aside=SetAside.FOR_GOOD,
            ),
        )

    @property
    def otherwise(self) -> str:
        """A start retries: the way may be clear by then."""
        return ChoiceName.RETRY


class UnitUndone(Question, frozen=True, kw_only=True):
    """A unit landed earlier, and the target branch no longer contains its work."""

    about: ClassVar[str] = "unit_undone"
    detail_keys: ClassVar[tuple[str, ...]] = ("unit", "lane", "commit")
    unit: str
    commit: str

    @classmethod
    def ask(cls, unit: str, *, commit: str, why: str = "", lane: str = "") -> Self:
        """Return the question. `commit` is the one that landed the unit, and part of the id.

        `lane` is the unit's: without it the answer `again` ends no rest of that lane.
        """
        because = f": {why}" if why else ""
        return cls(
            id=question_id(cls.about, f"{unit}-{commit[:9]}", 1),
            text=f"{unit} landed as {commit[:9]}, and the target branch no longer has it{because}."
            " Do it again, or leave it?",
            waits=(subject.Unit(unit),),
            unit=unit,
            lane=lane,
            commit=commit,
        )

    @property
    def choices(self) -> tuple[Choice, ...]:
        again = clear_units(self.units, self.lane)
        return (
            Choice(
                name=ChoiceName.AGAIN,
                meaning="offer it to the workers again",
                releases=True,
                effects=again,
            ),
            Choice(name=ChoiceName.LEAVE, meaning="keep it undone"),
        )

    @property
    def otherwise(self) -> str:
        """Without an answer it stays undone: whoever removed the work may have had a reason."""
        return ChoiceName.LEAVE

    @property
    def kind(self) -> str:
        """The name that dos-kernel has for it."""
        return "UNDONE"


class Incident(Question, frozen=True, kw_only=True):
    """An agent put commits on the target branch, or in the user's checkout, without a landing."""

    about: ClassVar[str] = "incident"
    detail_keys: ClassVar[tuple[str, ...]] = ("incident", "commits", "run_id", "lane")
    incident: str  # its id
    commits: tuple[str, ...] = ()

    @classmethod
    def ask(
        cls,
        incident: str,
        *,
        what: str,
        units: Sequence[str],
        commits: Sequence[str],
        run_id: str,
        lane: str,
    ) -> Self:
        """Return the question about an incident. `units` are those that the commits name."""
        return cls(
            id=cls.id_of(incident),
            text=f"{what}. dos did not land these commits, so they do not count."
            " Keep them, or do the work again?",
            waits=tuple(subject.Unit(unit) for unit in units),
            incident=incident,
            commits=tuple(commits),
            run_id=run_id,
            lane=lane,
        )

    @classmethod
    def id_of(cls, incident: str) -> str:
        """The id of the one question about an incident."""
        return question_id(cls.about, incident, 1)

    @property
    def choices(self) -> tuple[Choice, ...]:
        named = " and ".join(self.units)
        again = "never count the commits as a landing"
        kept = "keep the commits as your own work"
        if named:
            again = f"never count the commits, and offer {named} to the workers again"
            kept = f"{kept}, and count {named} as done"
        if self.commits:
            reverted = " ".join(commit[:9] for commit in reversed(self.commits))
            again = f"{again}. Remove them with: git revert {reverted}"
        return (
            Choice(
                name=ChoiceName.AGAIN,
                meaning=again,
                releases=True,
                effects=clear_units(self.units, self.lane),
            ),
            Choice(name=ChoiceName.KEEP, meaning=kept),
        )

    @property
    def otherwise(self) -> str:
        """What holds until the answer. It never expires, because only a person can judge it."""
        if not self.units:
            return "they do not count"
        return f"they do not count, and {' and '.join(self.units)} is not worked on"


class UnitHeld(Question, frozen=True, kw_only=True):
    """A unit that its plan holds; with `retries`, one that a person can release by answering."""

    about: ClassVar[str] = "unit_held"
    detail_keys: ClassVar[tuple[str, ...]] = (
        "unit", "lane", "token", "kind", "command", "source", "document", "line", "closes",
    )  # fmt: skip
    unit: str
    token: str
    document: str = ""  # that declares it; empty: unknown
    line: int = 0
    retries: bool = False

    @classmethod
    def ask(  # noqa: PLR0913
        cls,
        unit: str,
        token: str,
        why: str,
        *,
        behind: Sequence[str] = (),
        lane: str = "",
        document: str = "",
        line: int = 0,
        retries: bool = False,
        ordinal: int = 1,
    ) -> Self:
        """Return the question. `behind` are the units that depend on this one."""
        waiting = ""
        if behind:
            verb = "waits" if len(behind) == 1 else "wait"
            waiting = f"; {plural(len(behind), 'unit')} {verb} for it: {join_some(behind)}"
        return cls(
            id=question_id(cls.about, unit, ordinal),
            text=f"{unit} is held: {why}{waiting}",
            waits=tuple(subject.Unit(name) for name in (unit, *behind)),
            unit=unit,
            lane=lane,
            token=token,
            document=document,
            line=line,
            retries=retries,
        )

    @classmethod
    def fields_of(cls, record: Record) -> dict[str, Any]:
        """Also reads the records of older versions, and offers a retry where they did."""
        place = _place_in_older_record(record.detail.get("source", ""))
        return {**place, **super().fields_of(record), "retries": bool(record.choices)}

    @property
    def choices(self) -> tuple[Choice, ...]:
        """None where only an edit of the plan releases the unit."""
        if not self.retries:
            return ()
        retried = clear_units(self.units, self.lane)
        return (
            Choice(name=ChoiceName.RETRY, meaning="try it again", releases=True, effects=retried),
        )

    @property
    def detail(self) -> dict[str, Any]:
        """`kind` is stored for readers of dos-kernel."""
        return {**super().detail, "kind": _SOAK_GATE if self._soaks else ""}

    @property
    def _soaks(self) -> bool:
        """Whether the unit waits for the end of a soak."""
        return self.token == "SOAK_OPEN"

    @property
    def closes(self) -> str:
        """The edit of the plan that releases the unit, in words."""
        if self.retries:
            return "when it is tried again"
        return f"when {self.source or 'its plan'} no longer holds it: {_EDITS.get(self.token, '')}"

    @property
    def kind(self) -> str:
        """A soak has a name of its own in dos-kernel."""
        return _SOAK_GATE if self._soaks else super().kind

    @property
    def source(self) -> str:
        """The document and line that declare the unit, if known."""
        return f"{self.document}:{self.line}" if self.document else ""

    @property
    def clearing_command(self) -> str:
        """A command that opens the plan where the unit is declared."""
        if self.retries or not self.document:
            return ""
        return f"${{EDITOR:-vi}} +{self.line} {quote(self.document)}"


def _place_in_older_record(source: str) -> dict[str, Any]:
    """Older versions wrote the document and the line as one word, `docs/plan.md:7`."""
    document, _, line = source.rpartition(":")
    if not document or not line.isdecimal():
        return {}
    return {"document": document, "line": int(line)}
