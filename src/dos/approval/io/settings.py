"""The settings that the fleet works by: the dos.toml that a person approved."""

from collections.abc import Callable
from functools import lru_cache
from pathlib import Path
from typing import Self

from dos.approval.io.checkout import Checkout, Documents
from dos.approval.io.texts import ApprovedTexts
from dos.config.load import FILE_NAME, LoadedConfig, parse, read_text
from dos.errors import ConfigInvalid
from dos.git.repository import Reader
from dos.journal.events.limits import SettingsApproved
from dos.journal.store import Store
from dos.questions.catalog import AnyQuestion
from dos.questions.documents import SettingsChanged
from dos.questions.state import Decisions
from dos.unknown import Unknown
from dos.workspace import Workspace


class SettingsText:
    def __init__(self, documents: Documents, path: Path, *, journal: str) -> None:
        """`path` is only what errors call the file.

        `journal` is the [store] url that the fleet has: while it runs, it cannot go over to another.
        """
        self._documents = documents
        self._path = path
        self._journal = journal
        self._approved = ApprovedTexts(
            SettingsApproved, SettingsChanged, documents, read=self._read
        )
        self._trouble_on_disk = ""
        self._trouble_committed = ""

    @classmethod
    def for_checkout(
        cls, workspace: Workspace, git: Reader, target: Callable[[], str], *, journal: str
    ) -> Self:
        documents = Checkout(
            workspace.root, git, target, paths=lambda: [workspace.config], read=_text_of
        )
        return cls(documents, workspace.config, journal=journal)

    def questions(self, answers: Decisions) -> list[AnyQuestion]:
        """About the file, when it is on disk as nobody approved it."""
        return self._approved.questions(answers)

    @property
    def trouble(self) -> str:
        """Why what is on disk, or committed, cannot be used."""
        return self._trouble_on_disk or self._trouble_committed

    @property
    def where(self) -> str:
        return self._approved.where

    def approve(self, store: Store, loaded: LoadedConfig, *, by: str = "") -> None:
        """A person has seen to it: this is what the file said when it was read."""
        self._approved.approve(
            store, by=by, texts={} if loaded.path is None else {FILE_NAME: loaded.text}
        )

    def adopt_committed(self, store: Store) -> bool:
        """What is committed counts, where nobody approved anything yet. False: the file is there, and not committed."""
        return self._approved.adopt_committed(store)

    def is_effective(self, store: Store, answers: Decisions, text: str) -> bool:
        """Whether the fleet would work by this text, were it on disk."""
        return self._approved.is_effective(store, answers, FILE_NAME, text)

    def update(self, store: Store, answers: Decisions) -> str | None:
        """Compare the disk with what is approved, and keep the text of what a person answered `use` for; what counts
        now."""
        self._approved.keep_confirmed(store, answers)
        return self.effective_text(store, answers)

    def effective_text(self, store: Store, answers: Decisions) -> str | None:
        """The text that counts; empty where there is no file, None where nobody has approved anything.

        One that cannot be loaded never counts: then it is the approved one, which could be.
        """
        texts, known = self._approved.effective_texts(store, answers), self._approved.approved
        if texts is None or known is None:
            return None
        chosen = texts.get(FILE_NAME)
        self._trouble_committed = self._why_unusable(chosen or "")
        return known.documents.get(FILE_NAME, "") if self._trouble_committed else chosen or ""

    def _read(self, name: str) -> str | Unknown | None:
        text = self._documents.read(name)
        self._trouble_on_disk = (
            text.why if isinstance(text, Unknown) else self._why_unusable(text or "")
        )
        return Unknown(self._trouble_on_disk) if self._trouble_on_disk else text

    def _why_unusable(self, text: str) -> str:
        return _why_unusable(text, self._path, self._journal)


def _text_of(path: Path) -> str | Unknown | None:
    try:
        return read_text(path)
    except ConfigInvalid as error:
        return Unknown(error.message)


@lru_cache(maxsize=4)  # asked at every tick and every start of a worker, mostly about one text
def _why_unusable(text: str, path: Path, journal: str) -> str:
    try:
        url = parse(text, path).config.store.url
    except ConfigInvalid as error:
        return error.message
    return (
        ""
        if url == journal
        else f"{path}: [store] url names another journal: restart `dos up` to change over"
    )
