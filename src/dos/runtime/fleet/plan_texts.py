"""Which text of a plan document the fleet works by.

What lies on disk when a person runs `dos up` is approved: it is an event. A later difference counts once it is on the
target branch, or once the question about it was answered with `use`; until then the approved text counts, or the
committed one where that is newer. An agent can write to the disk, and configures nothing by that.
"""

from collections.abc import Callable, Mapping
from hashlib import sha256
from pathlib import Path

from msgspec import Struct

from dos.config.tables import Config
from dos.journal.engine_events import APPROVALS, PlansApproved
from dos.journal.events import decode
from dos.journal.states.decisions import Decisions
from dos.journal.store import Store
from dos.records.units import Unit
from dos.records.unknown import Unknown
from dos.runtime import backlog
from dos.sources import processes
from dos.sources.git import Git
from dos.sources.plans import plan_documents
from dos.sources.workspace import Workspace

REMOVED = "removed"  # in place of a digest
LARGEST = 1 << 20  # characters of a document that are kept; of a larger one the committed text counts


class ChangedPlan(Struct, frozen=True, kw_only=True):
    """A document that is on disk as nobody approved it."""

    document: str
    digest: str


class PlanTexts:
    def __init__(self, place: Workspace, config: Config, git: Git, target: Callable[[], str]) -> None:
        self._place = place
        self._config = config
        self._git = git
        self._target = target  # the commit that the target branch is at
        self._where = f"{processes.host()}:{place.root}"  # each checkout of a shared journal is approved for itself
        self._approved: PlansApproved | None = None
        self._version = 0  # of the stream of approvals, as far as it was read
        self._seen: object = None  # the documents as they were when the units were read
        self._basis: object = None  # what the choice of texts rests on
        self._instead: dict[str, str | None] = {}
        self._units: list[Unit] = []
        self.changed: list[ChangedPlan] = []

    @property
    def where(self) -> str:
        return self._where

    def approve(self, store: Store, *, by: str = "") -> None:
        """A person has seen to it: what is on disk now counts."""
        if self._config.plans.source != "documents":
            return
        self._read_approvals(store)
        kept = {name: text for name, text in self._on_disk().items() if len(text) <= LARGEST}
        blobs = self._blobs(kept)
        fact = PlansApproved(where=self._where, documents=kept, committed=blobs, by=by)
        known = self._approved
        if known is None or (known.documents, known.committed) != (kept, blobs):
            store.record(APPROVALS, fact)
            self._read_approvals(store)

    def units(self, store: Store, answers: Decisions) -> list[Unit]:
        """The units by the texts that count; documents that have not changed are not read again."""
        if self._config.plans.source != "documents":
            return backlog.read_units(self._place, self._config)
        try:
            seen = [(path, (at := path.stat()).st_mtime_ns, at.st_size, at.st_ino) for path in self._documents()]
        except OSError:
            seen = None  # one is being replaced
        self._read_approvals(store)
        used = _used(answers, self._where)
        basis = (seen, self._version, used, self._target() if self.changed else "")
        before = self._instead
        if basis != self._basis or seen is None:
            self._choose(used)
            self._basis = (*basis[:3], self._target() if self.changed else "")
        if seen is None or seen != self._seen or before != self._instead:
            self._units = backlog.read_units(self._place, self._config, self._instead)
            self._seen = seen
        return self._units

    def confirm(self, store: Store, answers: Decisions) -> None:
        """Keep the text of what a person answered `use` for: it counts also when the disk changes again."""
        used = _used(answers, self._where)
        for name, text in self._on_disk().items() if used else ():
            mark = (name, digest(text))
            known = self._approved
            if mark in used and known is not None and known.documents.get(name) != text and len(text) <= LARGEST:
                documents = {**known.documents, name: text}
                fact = PlansApproved(where=self._where, documents=documents, committed=known.committed)
                store.record(APPROVALS, fact, key=f"used/{self._where}/{mark[1]}/{self._version}")
                self._read_approvals(store)

    def _choose(self, used: frozenset[tuple[str, str]]) -> None:
        self._instead, self.changed = {}, []
        known = self._approved
        if known is None:
            return  # nobody has run `dos up` here: whoever runs a worker by hand sees to it
        on_disk = self._on_disk()
        odd = [name for name in {**known.documents, **on_disk} if on_disk.get(name) != known.documents.get(name)]
        blobs = self._blobs(odd) if odd else {}
        for name in sorted(odd):
            text = on_disk.get(name)
            committed = self._text(blobs[name]) if name in blobs else None
            if text is not None and committed is not None and _same(text, committed):
                continue
            mark = REMOVED if text is None else digest(text)
            if (name, mark) in used:
                continue
            self.changed.append(ChangedPlan(document=name, digest=mark))
            landed_since = name in blobs and blobs[name] != known.committed.get(name)
            self._instead[name] = committed if landed_since else known.documents.get(name, committed)

    def _documents(self) -> list[Path]:
        paths = self._config.paths
        return plan_documents.documents(self._place.root, paths.plans_glob, paths.next_packets)

    def _on_disk(self) -> dict[str, str]:
        """By their names; what cannot be read is left to whoever reads the units, who says so."""
        root = self._place.root
        texts = ((str(path.relative_to(root)), plan_documents.read_text(path)) for path in self._documents())
        return {name: text for name, text in texts if text is not None and not isinstance(text, Unknown)}

    def _read_approvals(self, store: Store) -> None:
        for event in store.load(APPROVALS, after=self._version):
            self._version = event.ver
            fact = decode(event)
            if isinstance(fact, PlansApproved) and fact.where == self._where:
                self._approved = fact

    def _blobs(self, names: Mapping[str, str] | list[str]) -> dict[str, str]:
        """The documents that the target branch holds, each with the id of its content."""
        if not names:
            return {}
        said = self._git.run("ls-tree", "-z", self._target(), "--", *names)
        rows = [row.partition("\t") for row in said.split("\0") if row]
        return {name: head.split()[2] for head, _, name in rows}

    def _text(self, blob: str) -> str:
        said = self._git.run("cat-file", "blob", blob)
        return said.encode("utf-8", "surrogateescape").decode("utf-8", "replace")


def digest(text: str) -> str:
    return sha256(text.encode()).hexdigest()


def _same(one: str, other: str) -> bool:
    """A checkout may have changed the line ends."""
    return one.replace("\r\n", "\n") == other.replace("\r\n", "\n")


def _used(answers: Decisions, where: str) -> frozenset[tuple[str, str]]:
    """The documents and digests that people said should be used."""
    return frozenset(
        (each.raised.detail["document"], each.raised.detail["digest"])
        for each in answers.answered.values()
        if each.raised.about == "plan_changed" and each.choice == "use" and each.raised.detail["where"] == where
    )
