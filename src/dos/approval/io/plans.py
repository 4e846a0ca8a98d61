"""The units of the plan documents that a person approved."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Self

from dos.approval.io.checkout import Checkout, Documents
from dos.approval.io.texts import ApprovedTexts
from dos.backlog.io import survey
from dos.config.schema import Config
from dos.git.repository import Reader
from dos.journal.events.limits import PlansApproved
from dos.journal.store import Store
from dos.questions.catalog import AnyQuestion
from dos.questions.documents import PlanChanged
from dos.questions.state import Decisions
from dos.units.io import sources
from dos.units.io.documents import plan_paths, read_text
from dos.units.portfolio import Portfolio
from dos.units.unit import Unit
from dos.workspace import Workspace

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
