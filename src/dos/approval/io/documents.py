"""The settings and the units of the fleet: the dos.toml and the plans that a person approved.

Agents can write to the checkout, so a text on disk counts only after a person approved it, or after
it was committed on the target branch.
"""

from collections.abc import Callable, Mapping
from functools import lru_cache
from pathlib import Path
from typing import Self

from dos.approval.io.checkout import Checkout, Documents
from dos.approval.io.texts import ApprovedTexts
from dos.backlog.io import survey
from dos.config import load
from dos.config.load import FILE_NAME, LoadedConfig
from dos.config.schema import Config
from dos.errors import ConfigInvalid
from dos.git.repository import Reader
from dos.journal.events.limits import PlansApproved, SettingsApproved
from dos.journal.store import Store
from dos.questions.catalog import AnyQuestion
from dos.questions.documents import PlanChanged, SettingsChanged
from dos.questions.state import Decisions
from dos.units.io import sources
from dos.units.io.documents import plan_paths, read_text
from dos.units.portfolio import Portfolio
from dos.units.unit import Unit
from dos.unknown import Unknown
from dos.workspace import Workspace


class SettingsText:
    """dos.toml of one checkout: on disk, committed and approved."""

    def __init__(self, documents: Documents, path: Path, *, journal: str) -> None:
        """`path` is the file as errors name it.

        `journal` is the [store] url of the fleet: while it runs, it cannot change to another.
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
        """The question about the file, when its text on disk is not approved."""
        return self._approved.questions(answers)

    @property
    def trouble(self) -> str:
        """Why the text on disk, or the committed one, cannot be used; empty: both can."""
        return self._trouble_on_disk or self._trouble_committed

    @property
    def where(self) -> str:
        return self._approved.where

    def approve(self, store: Store, loaded: LoadedConfig, *, by: str = "") -> None:
        """Record that a person approves this text, which was read from the file."""
        approved = {}
        if loaded.path is not None:
            approved[FILE_NAME] = loaded.text
        self._approved.approve(store, by=by, texts=approved)

    def adopt_committed(self, store: Store) -> bool:
        """Approve the committed file, unless one was approved before.

        Returns False when the file exists and is not committed.
        """
        return self._approved.adopt_committed(store)

    def is_effective(self, store: Store, answers: Decisions, text: str) -> bool:
        """Whether the fleet would use this text if it were on disk."""
        return self._approved.is_effective(store, answers, FILE_NAME, text)

    def update(self, store: Store, answers: Decisions) -> str | None:
        """Record a text that a person answered `use` to, and return the text to use now."""
        self._approved.keep_confirmed(store, answers)
        return self.effective_text(store, answers)

    def effective_text(self, store: Store, answers: Decisions) -> str | None:
        """The text to use; empty: there is no file, None: nothing was approved.

        A text that cannot be loaded is never used: the approved one, which could be, stays.
        """
        texts = self._approved.effective_texts(store, answers)
        known = self._approved.approved
        if texts is None or known is None:
            return None
        chosen = texts.get(FILE_NAME) or ""
        self._trouble_committed = self._why_unusable(chosen)
        if self._trouble_committed:
            return known.documents.get(FILE_NAME, "")
        return chosen

    def _read(self, name: str) -> str | Unknown | None:
        text = self._documents.read(name)
        if isinstance(text, Unknown):
            self._trouble_on_disk = text.why
        else:
            self._trouble_on_disk = self._why_unusable(text or "")
        if self._trouble_on_disk:
            return Unknown(self._trouble_on_disk)
        return text

    def _why_unusable(self, text: str) -> str:
        return _why_unusable(text, self._path, self._journal)


def _text_of(path: Path) -> str | Unknown | None:
    try:
        return load.read_text(path)
    except ConfigInvalid as error:
        return Unknown(error.message)


@lru_cache(maxsize=4)  # called at every tick and every start of a worker, mostly for one text
def _why_unusable(text: str, path: Path, journal: str) -> str:
    try:
        url = load.parse(text, path).config.store.url
    except ConfigInvalid as error:
        return error.message
    if url == journal:
        return ""
    return f"{path}: [store] url names another journal: restart `dos up` to change over"


# Reads the plans from these texts; None: from the disk.
ReadPlans = Callable[[Mapping[str, str | None] | None], Portfolio]


class PlanTexts:
    """The plan documents of one checkout: on disk, committed and approved.

    Units from an issue tracker or a program need no approval: they are read as they are.
    """

    def __init__(self, documents: Documents, read: ReadPlans, *, is_covered: bool = True) -> None:
        self._read = read
        self._is_covered = is_covered
        self._approved = ApprovedTexts(PlansApproved, PlanChanged, documents)
        self._basis: object = None  # what the units were read from
        self._units: list[Unit] = []
        self.unapproved: list[Unit] = []  # besides: units that only unapproved texts declare

    @classmethod
    def for_checkout(
        cls, workspace: Workspace, config: Config, git: Reader, target: Callable[[], str]
    ) -> Self:
        def documents() -> list[Path]:
            paths = config.paths
            return plan_paths(workspace.root, paths.plans_glob, paths.next_packets)

        return cls(
            Checkout(workspace.root, git, target, paths=documents, read=read_text),
            lambda texts: sources.read(workspace, config, texts=texts),
            is_covered=config.plans.source == "documents",
        )

    def questions(self, answers: Decisions) -> list[AnyQuestion]:
        """One question about each document whose text on disk is not approved."""
        return self._approved.questions(answers)

    def approve(self, store: Store, *, by: str = "") -> None:
        """Record that a person approves the plans on disk. Raises when one cannot be read."""
        if self._is_covered:
            survey.units_or_raise(self._read(None))
            self._approved.approve(store, by=by)

    def approve_edit(
        self, store: Store, answers: Decisions, name: str, *, before: str, after: str, by: str
    ) -> bool:
        """Approve the new text of one document. Returns False when `before` was not in use."""
        if not self._is_covered:
            return True
        return self._approved.approve_edit(store, answers, name, before=before, after=after, by=by)

    def adopt_committed(self, store: Store) -> bool:
        """Approve the committed plans, unless some were approved. False: no plan is committed."""
        return not self._is_covered or self._approved.adopt_committed(store)

    def keep_confirmed(self, store: Store, answers: Decisions) -> None:
        """Record the texts that a person answered `use` to, so that they stay in use."""
        if self._is_covered:
            self._approved.keep_confirmed(store, answers)

    def units(self, store: Store, answers: Decisions) -> list[Unit]:
        """The units of the texts in use. Documents that have not changed are not read again."""
        if not self._is_covered:
            return survey.units_or_raise(self._read(None))
        texts = self._approved.effective_texts(store, answers)
        basis = (self._approved.stamps, texts)
        if basis != self._basis:
            self._units = survey.units_or_raise(self._read(texts))
            self.unapproved = self._only_on_disk()
            self._basis = basis
        return self._units

    def _only_on_disk(self) -> list[Unit]:
        if not self._approved.changed:
            return []
        known = {unit.name for unit in self._units}
        return [unit for unit in self._read(None).units if unit.name not in known]
