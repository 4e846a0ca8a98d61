"""Questions about a plan or about dos.toml: on disk it is another text than a person approved."""

from hashlib import sha256
from typing import ClassVar, Self

from dos.choices import ChoiceName
from dos.questions.question import Choice, Question, question_id

REMOVED = "removed"  # in place of the digest of a text


class _TextChanged(Question, frozen=True, kw_only=True):
    """A document was edited on disk while the fleet runs, and the edit is not on the target branch.

    What is answered holds for that pair of texts alone.
    """

    detail_keys: ClassVar[tuple[str, ...]] = ("document", "digest", "approved", "where")
    document: str
    digest: str  # of what is on disk
    approved: str = ""  # the digest of the text that a person approved; empty: there was none
    where: str  # the checkout: its host and its directory

    @classmethod
    def ask(
        cls, *, document: str, digest: str, approved: str, where: str, ordinal: int = 1
    ) -> Self:
        change = "was removed from disk" if digest == REMOVED else "changed on disk"
        pair = sha256("\0".join((document, digest, approved, where)).encode()).hexdigest()
        called = cls._called(document)
        return cls(
            id=question_id(cls.about, f"{document}-{pair[:9]}", ordinal),
            text=f"{called} {change} since `dos up`, and that is not committed on the target branch. Use it?",
            document=document,
            digest=digest,
            approved=approved,
            where=where,
        )

    @classmethod
    def _called(cls, document: str) -> str:
        return document

    @property
    def otherwise(self) -> str:
        return ChoiceName.KEEP

    @property
    def settled_choice(self) -> str:
        return ChoiceName.KEEP


class PlanChanged(_TextChanged, frozen=True, kw_only=True):
    about: ClassVar[str] = "plan_changed"

    @classmethod
    def _called(cls, document: str) -> str:
        return f"Plan {document}"

    @property
    def choices(self) -> tuple[Choice, ...]:
        kept = "the fleet works by the text that was there at `dos up`, or is committed since"
        return (
            Choice(name=ChoiceName.USE, meaning="the fleet works by the file as it is on disk now"),
            Choice(name=ChoiceName.KEEP, meaning=kept),
        )


class SettingsChanged(_TextChanged, frozen=True, kw_only=True):
    about: ClassVar[str] = "settings_changed"

    @property
    def choices(self) -> tuple[Choice, ...]:
        kept = "workers use the settings that were there at `dos up`, or are committed since"
        return (
            Choice(
                name=ChoiceName.USE,
                meaning="workers that start from now on use the file as it is on disk now",
            ),
            Choice(name=ChoiceName.KEEP, meaning=kept),
        )


TextChanged = PlanChanged | SettingsChanged
