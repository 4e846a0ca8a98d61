"""The question about work that is accepted, and that changes what judged it."""

from typing import ClassVar, Self

from dos.choices import ChoiceName
from dos.questions import subject
from dos.questions.question import Choice, Question, SetAside, clear_units, question_id
from dos.units.unit import Landing


class TestsChanged(Question, frozen=True, kw_only=True):
    """The work on a unit is accepted, and it weakens tests or fails the tests of its base."""

    __test__ = False  # pytest would collect a class of this name

    about: ClassVar[str] = "tests_changed"
    detail_keys: ClassVar[tuple[str, ...]] = (
        "unit", "lane", "commit", "base", "branch", "refused", "reasons",
    )  # fmt: skip
    unit: str
    commit: str
    base: str  # below its commits
    branch: str  # that they are to land on
    refused: int = 0  # how often its landing had been refused by then
    reasons: tuple[str, ...] = ()

    @classmethod
    def ask(
        cls, landing: Landing, reason: str, *, refused: int, lane: str = "", ordinal: int = 1
    ) -> Self:
        """Return the question. `ordinal` counts how often it came up for the unit."""
        commit = landing.commit
        summary = reason.partition("\n")[0]  # `reasons` has the lines that show it
        return cls(
            id=question_id(cls.about, landing.unit, ordinal),
            text=f"{landing.unit} is finished as {commit[:9]}, but {summary}."
            " Land it all the same, let another agent try, or drop it?"
            f" To see it: git diff {landing.base[:9]} {commit[:9]}",
            waits=(subject.Unit(landing.unit),),
            until_start=True,
            unit=landing.unit,
            lane=lane,
            commit=commit,
            base=landing.base,
            branch=landing.branch,
            refused=refused,
            reasons=(reason,),
        )

    @property
    def landing(self) -> Landing:
        """The landing that waits for the answer."""
        return Landing(unit=self.unit, branch=self.branch, base=self.base, commit=self.commit)

    @property
    def choices(self) -> tuple[Choice, ...]:
        released = clear_units(self.units, self.lane)
        return (
            Choice(
                name=ChoiceName.ACCEPT,
                meaning="land these commits as they are",
                releases=True,
                effects=released,
            ),
            Choice(
                name=ChoiceName.RETRY,
                meaning="start another agent on it, with the reasons of the earlier attempts",
                releases=True,
                effects=released,
            ),
            Choice(
                name=ChoiceName.DROP,
                meaning="keep its commits and never work on it again",
                sets_aside=SetAside.FOR_GOOD,
            ),
        )

    @property
    def otherwise(self) -> str:
        """A start tries again: only a person lets tests be changed."""
        return ChoiceName.RETRY
