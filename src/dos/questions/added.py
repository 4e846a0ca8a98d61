"""What a loop of a person's own puts on the list with `dos decisions add`."""

from collections.abc import Collection
from hashlib import sha256
from typing import ClassVar, Self

from dos.choices import ChoiceName
from dos.questions.question import Choice, Question, question_id


class Added(Question, frozen=True, kw_only=True):
    """Nothing waits for the answer. The same text is one row until it is answered."""

    about: ClassVar[str] = "added"
    detail_keys: ClassVar[tuple[str, ...]] = ("kind", "lane", "command")
    kind: str
    command: str = ""

    @classmethod
    def ask(
        cls, kind: str, lane: str, text: str, command: str, *, answered: Collection[str]
    ) -> Self:
        """`answered` are the ids of the questions that were answered."""
        subject = f"{lane}-{sha256(text.encode()).hexdigest()[:8]}"
        ordinal = 1
        while question_id(kind.lower(), subject, ordinal) in answered:
            ordinal += 1
        return cls(
            id=question_id(kind.lower(), subject, ordinal),
            text=text,
            kind=kind.upper(),
            lane=lane,
            command=command,
        )

    @property
    def choices(self) -> tuple[Choice, ...]:
        return (
            Choice(name=ChoiceName.DONE, meaning="it is dealt with"),
            Choice(name=ChoiceName.DISMISS, meaning="it needs nobody"),
        )
