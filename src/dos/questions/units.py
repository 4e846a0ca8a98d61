"""Questions about one unit: its work cannot land, has gone, or is held back; or an agent landed it by itself."""

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
    "SOAK_OPEN": "wait for the date, or remove `soak until`",
}


class LandingConflict(Question, frozen=True, kw_only=True):
    """Work that was done could not land, several times."""

    about: ClassVar[str] = "landing_conflict"
    detail_keys: ClassVar[tuple[str, ...]] = ("unit", "lane", "reasons")
    unit: str
    reasons: tuple[str, ...] = ()

    @classmethod
    def ask(cls, unit: str, reasons: Sequence[str], *, lane: str = "", ordinal: int = 1) -> Self:
        """`ordinal` counts how often the question came up for the unit."""
        last = reasons[-1] if reasons else ""
        return cls(
            id=question_id(cls.about, unit, ordinal),
            text=f"{unit} was done and could not land, {len(reasons)} times: {last}",
            waits=(subject.Unit(unit),),
            until_start=True,
            unit=unit,
            lane=lane,
            reasons=tuple(reasons),
        )

    @property
    def choices(self) -> tuple[Choice, ...]:
        held = "its commits are kept, and nobody works on it until the next `dos up`"
        return (
            Choice(
                name=ChoiceName.RETRY,
                meaning="an agent tries again, and is told why the others did not land",
                releases=True,
                effects=clear_units(self.units, self.lane),
            ),
            Choice(name=ChoiceName.HOLD, meaning=held, sets_aside=SetAside.UNTIL_START),
            Choice(
                name=ChoiceName.DROP,
                meaning="it is not worked on any more",
                sets_aside=SetAside.FOR_GOOD,
            ),
        )

    @property
    def otherwise(self) -> str:
        return ChoiceName.RETRY

    @property
    def kind(self) -> str:
        return "CONFLICT"


class LandingBlocked(Question, frozen=True, kw_only=True):
    """Work is done and proven, and something of a person's is in its way."""

    about: ClassVar[str] = "landing_blocked"
    waits_on: ClassVar[WaitsOn] = WaitsOn.LANDING
    detail_keys: ClassVar[tuple[str, ...]] = ("unit", "lane", "commit", "reasons")
    unit: str
    commit: str
    reasons: tuple[str, ...] = ()

    @classmethod
    def ask(cls, unit: str, reason: str, *, commit: str, lane: str = "", ordinal: int = 1) -> Self:
        """`ordinal` counts the answers before."""
        return cls(
            id=question_id(cls.about, f"{unit}-{commit[:9]}", ordinal),
            text=f"{unit} is done as {commit[:9]} and waits to land: {reason}. It lands by itself once that is gone",
            waits=(subject.Unit(unit),),
            until_start=True,
            unit=unit,
            lane=lane,
            commit=commit,
            reasons=(reason,),
        )

    @property
    def choices(self) -> tuple[Choice, ...]:
        dropped = "its commits are kept, and it is not worked on any more"
        return (
            Choice(
                name=ChoiceName.RETRY,
                meaning="it is out of the way: the same commits land now",
                releases=True,
                effects=clear_units(self.units, self.lane),
            ),
            Choice(name=ChoiceName.DROP, meaning=dropped, sets_aside=SetAside.FOR_GOOD),
        )

    @property
    def otherwise(self) -> str:
        return ChoiceName.RETRY


class UnitUndone(Question, frozen=True, kw_only=True):
    """A unit had landed, and git does not show it any more."""

    about: ClassVar[str] = "unit_undone"
    detail_keys: ClassVar[tuple[str, ...]] = ("unit", "commit")
    unit: str
    commit: str

    @classmethod
    def ask(cls, unit: str, *, commit: str, why: str = "") -> Self:
        because = f": {why}" if why else ""
        return cls(
            id=question_id(cls.about, f"{unit}-{commit[:9]}", 1),
            text=f"{unit} landed as {commit[:9]} and is not there any more{because}. Do it again?",
            waits=(subject.Unit(unit),),
            unit=unit,
            commit=commit,
        )

    @property
    def choices(self) -> tuple[Choice, ...]:
        again = clear_units(self.units, self.lane)
        return (
            Choice(
                name=ChoiceName.AGAIN,
                meaning="it is offered to the workers again",
                releases=True,
                effects=again,
            ),
            Choice(name=ChoiceName.LEAVE, meaning="it stays undone"),
        )

    @property
    def otherwise(self) -> str:
        return ChoiceName.LEAVE

    @property
    def kind(self) -> str:
        return "UNDONE"


class Incident(Question, frozen=True, kw_only=True):
    """Commits of an agent are on the target branch, or in the user's checkout, and no landing brought them there."""

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
        return cls(
            id=cls.id_of(incident),
            text=f"{what}. dos did not land this, so it counts as no landing. Do the commits stay?",
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
        again = "they never count as a landing"
        kept = "they stay as your own work"
        if named:
            again = f"they never count; {named} is offered to the workers again"
            kept = f"{kept}, and {named} is done"
        if self.commits:
            reverted = " ".join(commit[:9] for commit in reversed(self.commits))
            again = f"{again}. Take them out with: git revert {reverted}"
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
        if not self.units:
            return "they do not count"
        return f"they do not count, and {' and '.join(self.units)} is not worked on"


class UnitHeld(Question, frozen=True, kw_only=True):
    """A unit that its plan holds back; with `retries`, one that only a person's word lets go."""

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
    def ask(
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
        """`behind` are the units that wait for this one to land."""
        waiting = ""
        if behind:
            wait = "waits" if len(behind) == 1 else "wait"
            waiting = f"; {plural(len(behind), 'unit')} {wait} for it: {join_some(behind)}"
        return cls(
            id=question_id(cls.about, unit, ordinal),
            text=f"{unit} is held: {why}{waiting}",
            waits=tuple(subject.Unit(each) for each in (unit, *behind)),
            unit=unit,
            lane=lane,
            token=token,
            document=document,
            line=line,
            retries=retries,
        )

    @classmethod
    def fields_of(cls, record: Record) -> dict[str, Any]:
        place = _place_in_older_record(record.detail.get("source", ""))
        return {**place, **super().fields_of(record), "retries": bool(record.choices)}

    @property
    def choices(self) -> tuple[Choice, ...]:
        if not self.retries:
            return ()
        retried = clear_units(self.units, self.lane)
        return (
            Choice(
                name=ChoiceName.RETRY, meaning="it is tried again", releases=True, effects=retried
            ),
        )

    @property
    def detail(self) -> dict[str, Any]:
        return {**super().detail, "kind": _SOAK_GATE if self._soaks else ""}

    @property
    def _soaks(self) -> bool:
        return self.token == "SOAK_OPEN"

    @property
    def closes(self) -> str:
        if self.retries:
            return "when it is tried again"
        return f"when {self.source or 'its plan'} no longer holds it: {_EDITS.get(self.token, '')}"

    @property
    def kind(self) -> str:
        return _SOAK_GATE if self._soaks else super().kind

    @property
    def source(self) -> str:
        return f"{self.document}:{self.line}" if self.document else ""

    @property
    def command(self) -> str:
        if self.retries or not self.document:
            return ""
        return f"${{EDITOR:-vi}} +{self.line} {quote(self.document)}"


def _place_in_older_record(source: str) -> dict[str, Any]:
    """Older versions wrote the document and the line as one word, `docs/plan.md:7`, and nowhere else."""
    document, _, line = source.rpartition(":")
    return {"document": document, "line": int(line)} if document and line.isdecimal() else {}
