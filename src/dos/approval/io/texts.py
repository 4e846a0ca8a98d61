"""Which text of a document that lies in the checkout the fleet works by.

What lies on disk when a person runs `dos up` is approved: it is an event. A later difference counts once it is on the
target branch, or once the question about it was answered with `use`; until then the approved text counts, or the
committed one where that is newer. An agent can write to the disk, and configures nothing by that.
"""

from collections.abc import Callable, Mapping
from difflib import unified_diff
from hashlib import sha256
from pathlib import Path

from msgspec import Struct, json, structs

from dos.approval.io.checkout import Documents, checkout_name
from dos.choices import ChoiceName
from dos.journal import streams
from dos.journal.events.limits import PlansApproved, SettingsApproved
from dos.journal.events.reader import select
from dos.journal.store import Store
from dos.questions.catalog import AnyQuestion
from dos.questions.documents import REMOVED, TextChanged
from dos.questions.state import Decisions
from dos.units.io import documents
from dos.unknown import Unknown

MOST_QUESTIONS = (
    5  # about one text in place of another: who writes it again and again fills no journal
)
LARGEST = (
    1 << 20
)  # characters of a document that are kept; of a larger one the committed text counts

Approval = PlansApproved | SettingsApproved
ConfirmedChanges = frozenset[
    tuple[str, str, str]
]  # document, digest of the approved text, digest that is to be used instead


class ChangedText(Struct, frozen=True, kw_only=True):
    """A document that is on disk as nobody approved it."""

    document: str
    digest: str
    approved: str  # the digest of the text that a person approved; empty: there was none
    where: str

    def ordinal(self, answers: Decisions) -> int:
        """Which time it is there: asked again when the file was another in between, and nobody had answered."""
        closed = [
            each
            for each in answers.answered.values()
            if each.expired and self._is_asked_by(each.question)
        ]
        return min(len(closed) + 1, MOST_QUESTIONS)

    def _is_asked_by(self, question: AnyQuestion) -> bool:
        if not isinstance(question, TextChanged):
            return False
        pair = ChangedText(
            document=question.document,
            digest=question.digest,
            approved=question.approved,
            where=question.where,
        )
        return pair == self


class ApprovedTexts:
    """Of one kind of documents. `asks` is the class of the questions about them."""

    def __init__(
        self,
        approval: type[Approval],
        asks: type[TextChanged],
        documents: Documents,
        *,
        read: Callable[[str], str | Unknown | None] | None = None,
    ) -> None:
        """`read` is what a document is read by, where not every text on disk can count."""
        self._approval = approval
        self._question = asks
        self._documents = documents
        self._read = read or documents.read
        self._version = 0  # of the stream of approvals, as far as it was read
        self._basis: object = None  # what the choice of texts rests on
        self.where = documents.where
        self.approved: Approval | None = None
        self.stamps: object = None  # the documents as they were when the texts were chosen
        self.texts: dict[
            str, str | None
        ] = {}  # that count, once something was approved; None: the document does not
        self.changed: list[ChangedText] = []

    def approve(
        self, store: Store, *, by: str = "", texts: Mapping[str, str] | None = None
    ) -> None:
        """A person has seen to it: what is on disk now counts, or the texts that were read from it before."""
        self.refresh(store)
        found = self._on_disk() if texts is None else texts
        kept = {name: text for name, text in found.items() if len(text) <= LARGEST}
        self._write(store, kept, self._documents.blobs(kept), by=by)

    def approve_edit(
        self, store: Store, answers: Decisions, name: str, *, before: str, after: str, by: str
    ) -> bool:
        """Approve one document's new text. False, and nothing changes, where `before` did not count."""
        if not self.is_effective(store, answers, name, before):
            return False
        if (known := self.approved) is None:
            return True  # the disk counts
        committed = known.committed | self._documents.blobs([name])
        self._write(store, known.documents | {name: after}, committed, by=by)
        return True

    def adopt_committed(self, store: Store) -> bool:
        """What the target branch holds counts, where nobody approved anything yet. False: it holds nothing of it."""
        self.refresh(store)
        if self.approved is not None:
            return True
        blobs = self._documents.blobs(self._documents.names())
        if not blobs and self._on_disk():
            return False
        self._write(
            store, {name: self._documents.text(blob) for name, blob in blobs.items()}, blobs
        )
        return True

    def effective_texts(self, store: Store, answers: Decisions) -> Mapping[str, str | None] | None:
        """The texts that count; None: nobody has approved any, and the disk counts.

        Documents that have not changed are not read again.
        """
        seen = self._documents.stamps()
        self.refresh(store)
        used = self._confirmed_changes(answers)
        basis = (seen, self._version, used, self._documents.tip() if self.changed else "")
        if basis != self._basis:
            self._choose(used)
            self.stamps = seen
            self._basis = (*basis[:3], self._documents.tip() if self.changed else "")
        return None if self.approved is None else self.texts

    def questions(self, answers: Decisions) -> list[AnyQuestion]:
        """About the documents that are on disk as nobody approved them."""
        return [
            self._question.ask(**structs.asdict(each), ordinal=each.ordinal(answers))
            for each in self.changed
        ]

    def is_effective(self, store: Store, answers: Decisions, name: str, text: str) -> bool:
        """Whether the fleet would work by this text of a document, were it on disk."""
        self.refresh(store)
        if self.approved is None or text == self.approved.documents.get(name, ""):
            return True
        blob = self._documents.blobs([name]).get(name)
        return self._is_settled(
            name,
            text,
            self._documents.text(blob) if blob else None,
            self._confirmed_changes(answers),
        )

    def keep_confirmed(self, store: Store, answers: Decisions) -> None:
        """Keep the text of what a person answered `use` for: it counts also when the disk changes again."""
        self.refresh(store)
        known, used = self.approved, self._confirmed_changes(answers)
        if known is None or not any(
            approved == self._approved_digest(name) for name, approved, _ in used
        ):
            return
        documents, on_disk = dict(known.documents), self._on_disk()
        for name, approved, mark in used:
            text = on_disk.get(name)
            if approved != self._approved_digest(name) or mark != document_digest(text):
                continue
            if text is None:
                documents.pop(name, None)
            elif len(text) <= LARGEST:
                documents[name] = text
        self._write(store, documents, known.committed)

    def refresh(self, store: Store) -> None:
        for event in store.load(streams.APPROVALS, after=self._version):
            self._version = event.ver
            for _, fact in select([event], self._approval):
                if fact.where == self.where:
                    self.approved = fact

    def _write(
        self, store: Store, documents: dict[str, str], committed: dict[str, str], *, by: str = ""
    ) -> None:
        known = self.approved
        if known is None or (known.documents, known.committed) != (documents, committed):
            fact = self._approval(where=self.where, documents=documents, committed=committed, by=by)
            key = f"{fact.kind}/{self._version}/{sha256(json.encode(fact)).hexdigest()}"
            store.record(streams.APPROVALS, fact, key=key)
            self.refresh(store)

    def _choose(self, used: ConfirmedChanges) -> None:
        self.texts, self.changed = {}, []
        known = self.approved
        if known is None:
            return  # nobody has run `dos up` here: whoever runs a worker by hand sees to it
        on_disk = self._on_disk()
        odd = [
            name
            for name in {**known.documents, **on_disk}
            if on_disk.get(name) != known.documents.get(name)
        ]
        # Also what is as it was approved: nobody reads it again, when it may be another.
        self.texts = {name: text for name, text in on_disk.items() if name not in odd}
        blobs = self._documents.blobs(odd)
        for name in sorted(odd):
            text = on_disk.get(name)
            committed = self._documents.text(blobs[name]) if name in blobs else None
            if self._is_settled(name, text, committed, used):
                self.texts[name] = text
                continue
            changed = ChangedText(
                document=name,
                digest=document_digest(text),
                approved=self._approved_digest(name),
                where=self.where,
            )
            self.changed.append(changed)
            landed_since = name in blobs and blobs[name] != known.committed.get(name)
            self.texts[name] = committed if landed_since else known.documents.get(name, committed)

    def _is_settled(
        self, name: str, text: str | None, committed: str | None, used: ConfirmedChanges
    ) -> bool:
        """Whether what differs from the approved text is committed, or a person said that it is to be used."""
        is_committed = text is not None and committed is not None and _same(text, committed)
        return is_committed or (name, self._approved_digest(name), document_digest(text)) in used

    def _approved_digest(self, name: str) -> str:
        """The digest of the approved text: an answer holds as long as that is the same."""
        text = self.approved.documents.get(name) if self.approved else None
        return "" if text is None else text_digest(text)

    def _confirmed_changes(self, answers: Decisions) -> ConfirmedChanges:
        """What people said should be used in place of what was approved."""
        used = [
            each.question for each in answers.answered.values() if each.choice == ChoiceName.USE
        ]
        return frozenset(
            (each.document, each.approved, each.digest)
            for each in used
            if isinstance(each, self._question) and each.where == self.where
        )

    def _on_disk(self) -> dict[str, str]:
        """By their names; of what is there and cannot be read, the approved text: so it makes no difference."""
        found = {}
        for name in self._documents.names():
            text = self._read(name)
            if isinstance(text, Unknown):
                text = self.approved.documents.get(name) if self.approved else None
            if text is not None:
                found[name] = text
        return found


def latest_approval(store: Store, approval: type[Approval], root: Path) -> Approval | None:
    """What was approved last for a checkout."""
    found = [
        fact
        for _, fact in select(store.load(streams.APPROVALS), approval)
        if fact.where == checkout_name(root)
    ]
    return found[-1] if found else None


def text_digest(text: str) -> str:
    return sha256(text.encode()).hexdigest()


def document_digest(text: str | None) -> str:
    return REMOVED if text is None else text_digest(text)


def _same(one: str, other: str) -> bool:
    """A checkout may have changed the line ends."""
    return one.removeprefix("\ufeff").replace("\r\n", "\n") == other.replace("\r\n", "\n")


def diff_lines(store: Store, root: Path, asked: TextChanged) -> list[str]:
    """What a question about a text is about, as a diff; none where the file is elsewhere, or changed again."""
    name, text = asked.document, documents.read_text(root / asked.document)
    if isinstance(text, Unknown) or (asked.where, asked.digest) != (
        checkout_name(root),
        document_digest(text),
    ):
        return []
    facts = select(store.load(streams.APPROVALS), PlansApproved, SettingsApproved)
    texts = [fact.documents[name] for _, fact in facts if name in fact.documents]
    approved = next((each for each in texts if document_digest(each) == asked.approved), "")
    lines = unified_diff(
        approved.splitlines(), (text or "").splitlines(), "approved", "on disk", n=1, lineterm=""
    )
    return list(lines)
