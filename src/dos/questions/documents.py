"""Questions about a plan or about dos.toml whose text on disk differs from the approved text."""

from hashlib import sha256
from typing import ClassVar, Self

from dos.choices import ChoiceName
from dos.questions.question import Choice, Question, question_id

REMOVED = "removed"  # in place of the digest of a text


class _TextChanged(Question, frozen=True, kw_only=True):
    """A document was edited on disk while the fleet runs, and the edit is not on the target branch.

    The answer holds for this pair of texts alone: another edit is another question.
    """

    detail_keys: ClassVar[tuple[str, ...]] = ("document", "digest", "approved", "where")
    document: str
    digest: str  # of the text on disk
    approved: str = ""  # the digest of the text that a person approved; empty: there was none
    where: str  # the checkout: its host and its directory

    @classmethod
    def ask(
        cls, *, document: str, digest: str, approved: str, where: str, ordinal: int = 1
    ) -> Self:
        """Return the question. `ordinal` counts how often this pair of texts was asked about."""
        change = "was removed from disk" if digest == REMOVED else "changed on disk"
        pair = sha256("\0".join((document, digest, approved, where)).encode()).hexdigest()
        return cls(
            id=question_id(cls.about, f"{document}-{pair[:9]}", ordinal),
            text=f"{cls._title(document)} {change} since `dos up`, and the change is not committed"
            " on the target branch. Use it, or keep the approved text?",
            document=document,
            digest=digest,
            approved=approved,
            where=where,
        )

    @classmethod
    def _title(cls, document: str) -> str:
        """How the question names the document."""
        return document

    @property
    def otherwise(self) -> str:
        """An unapproved text is never used without an answer."""
        return ChoiceName.KEEP

    @property
    def settled_choice(self) -> str:
        """When the text on disk is the approved one again, nothing changes."""
        return ChoiceName.KEEP


class PlanChanged(_TextChanged, frozen=True, kw_only=True):
    """A plan document changed on disk."""

    about: ClassVar[str] = "plan_changed"

    @classmethod
    def _title(cls, document: str) -> str:
        return f"Plan {document}"

    @property
    def choices(self) -> tuple[Choice, ...]:
        return (
            Choice(name=ChoiceName.USE, meaning="work from the file as it is on disk now"),
            Choice(
                name=ChoiceName.KEEP,
                meaning="work from the plan of `dos up`, plus later commits",
            ),
        )


class SettingsChanged(_TextChanged, frozen=True, kw_only=True):
    """dos.toml changed on disk."""

    about: ClassVar[str] = "settings_changed"

    @property
    def choices(self) -> tuple[Choice, ...]:
        return (
            Choice(
                name=ChoiceName.USE,
                meaning="start new workers with the file as it is on disk now",
            ),
            Choice(
                name=ChoiceName.KEEP,
                meaning="start workers with the settings of `dos up`, plus later commits",
            ),
        )


TextChanged = PlanChanged | SettingsChanged
