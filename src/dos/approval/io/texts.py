"""Decide which text of a document in the checkout the fleet uses.

When a person runs `dos up`, the text on disk is approved and recorded as an event. A later change
on disk is used once it is on the target branch, or once a person answers `use` to the question
about it. Until then the fleet uses the approved text, or a newer committed one. So an agent that
can write to the disk cannot change the configuration.
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

# About one text in place of another: a program that rewrites a file must not fill the journal.
MOST_QUESTIONS = 5
# Characters of a document that are recorded; of a larger one the committed text is used.
LARGEST = 1 << 20

Approval = PlansApproved | SettingsApproved
# The document, the digest of its approved text, the digest of the text to use instead.
ConfirmedChanges = frozenset[tuple[str, str, str]]


class ChangedText(Struct, frozen=True, kw_only=True):
    """A document whose text on disk is not approved."""

    document: str
    digest: str
    approved: str  # the digest of the approved text; empty: there is none
    where: str

    def ordinal(self, answers: Decisions) -> int:
        """How often this change appeared: dos asks again when the file changed in between."""
        expired = 0
        for answer in answers.answered.values():
            if answer.expired and self._is_asked_by(answer.question):
                expired += 1
        return min(expired + 1, MOST_QUESTIONS)

    def _is_asked_by(self, question: AnyQuestion) -> bool:
        if not isinstance(question, TextChanged):
            return False
        asked = ChangedText(
            document=question.document,
            digest=question.digest,
            approved=question.approved,
            where=question.where,
        )
        return asked == self


class ApprovedTexts:
    """The approved texts of one kind of documents, in one checkout.

    `question` is the class of the questions about changes of them.
    """

    def __init__(
        self,
        approval: type[Approval],
        question: type[TextChanged],
        documents: Documents,
        *,
        read: Callable[[str], str | Unknown | None] | None = None,
    ) -> None:
        """`read` replaces `documents.read` where not every text on disk can be used."""
        self._approval = approval
        self._question = question
        self._documents = documents
        self._read = read or documents.read
        self._version = 0  # the version of the approvals stream that was read
        self._basis: object = None  # what `texts` was computed from
        self.where = documents.where
        self.approved: Approval | None = None
        self.stamps: object = None  # of the documents, when `texts` was computed
        # The texts to use, once something was approved; None: the document does not count.
        self.texts: dict[str, str | None] = {}
        self.changed: list[ChangedText] = []

    def approve(
        self, store: Store, *, by: str = "", texts: Mapping[str, str] | None = None
    ) -> None:
        """Record that a person approves these texts; without texts, what is on disk now."""
        self.refresh(store)
        if texts is None:
            texts = self._on_disk()
        kept = {name: text for name, text in texts.items() if len(text) <= LARGEST}
        self._write(store, kept, self._documents.blobs(kept), by=by)

    def approve_edit(
        self, store: Store, answers: Decisions, name: str, *, before: str, after: str, by: str
    ) -> bool:
        """Approve the new text of one document.

        Returns False and changes nothing when `before` was not in use.
        """
        if not self.is_effective(store, answers, name, before):
            return False
        known = self.approved
        if known is None:
            return True  # nothing was approved, so the disk counts
        committed = known.committed | self._documents.blobs([name])
        self._write(store, known.documents | {name: after}, committed, by=by)
        return True

    def adopt_committed(self, store: Store) -> bool:
        """Approve what the target branch holds, unless something was approved before.

        Returns False when there are documents on disk and none of them is committed.
        """
        self.refresh(store)
        if self.approved is not None:
            return True
        blobs = self._documents.blobs(self._documents.names())
        if not blobs and self._on_disk():
            return False
        texts = {name: self._documents.text(blob) for name, blob in blobs.items()}
        self._write(store, texts, blobs)
        return True

    def effective_texts(self, store: Store, answers: Decisions) -> Mapping[str, str | None] | None:
        """The texts that the fleet uses; None: nothing was approved, and the disk counts.

        Documents that have not changed are not read again.
        """
        stamps = self._documents.stamps()
        self.refresh(store)
        confirmed = self._confirmed_changes(answers)
        state = (stamps, self._version, confirmed)
        if (*state, self._tip()) != self._basis:
            self._choose(confirmed)
            self.stamps = stamps
            self._basis = (*state, self._tip())
        if self.approved is None:
            return None
        return self.texts

    def _tip(self) -> str:
        """The target branch matters only while a change is open: asking for it costs a command."""
        if not self.changed:
            return ""
        return self._documents.tip()

    def questions(self, answers: Decisions) -> list[AnyQuestion]:
        """One question about each document whose text on disk is not approved."""
        questions: list[AnyQuestion] = []
        for changed in self.changed:
            ordinal = changed.ordinal(answers)
            questions.append(self._question.ask(**structs.asdict(changed), ordinal=ordinal))
        return questions

    def is_effective(self, store: Store, answers: Decisions, name: str, text: str) -> bool:
        """Whether the fleet would use this text of a document if it were on disk."""
        self.refresh(store)
        if self.approved is None or text == self.approved.documents.get(name, ""):
            return True
        committed = None
        blob = self._documents.blobs([name]).get(name)
        if blob:
            committed = self._documents.text(blob)
        return self._is_settled(name, text, committed, self._confirmed_changes(answers))

    def keep_confirmed(self, store: Store, answers: Decisions) -> None:
        """Record the texts that a person answered `use` to.

        So they stay in use when the disk changes again.
        """
        self.refresh(store)
        known = self.approved
        if known is None:
            return
        confirmed = []
        for name, approved, digest in self._confirmed_changes(answers):
            if approved == self._approved_digest(name):
                confirmed.append((name, digest))
        if not confirmed:
            return
        documents = dict(known.documents)
        on_disk = self._on_disk()
        for name, digest in confirmed:
            text = on_disk.get(name)
            if digest != document_digest(text):
                continue
            if text is None:
                documents.pop(name, None)
            elif len(text) <= LARGEST:
                documents[name] = text
        self._write(store, documents, known.committed)

    def refresh(self, store: Store) -> None:
        """Read the approvals that were recorded since."""
        for event in store.load(streams.APPROVALS, after=self._version):
            self._version = event.ver
            for _, fact in select([event], self._approval):
                if fact.where == self.where:
                    self.approved = fact

    def _write(
        self, store: Store, documents: dict[str, str], committed: dict[str, str], *, by: str = ""
    ) -> None:
        """Record an approval, unless it says the same as the one before."""
        known = self.approved
        if known and (known.documents, known.committed) == (documents, committed):
            return
        fact = self._approval(where=self.where, documents=documents, committed=committed, by=by)
        key = f"{fact.kind}/{self._version}/{sha256(json.encode(fact)).hexdigest()}"
        store.record(streams.APPROVALS, fact, key=key)
        self.refresh(store)

    def _choose(self, confirmed: ConfirmedChanges) -> None:
        """Compute `texts` and `changed` from the disk, the approval and the target branch."""
        self.texts = {}
        self.changed = []
        known = self.approved
        if known is None:
            return  # `dos up` never ran here: a person who runs a worker directly is responsible
        on_disk = self._on_disk()
        differing = []
        for name in {**known.documents, **on_disk}:
            if on_disk.get(name) != known.documents.get(name):
                differing.append(name)
        # Unchanged texts are kept too: the file may change before the plans are read.
        self.texts = {name: text for name, text in on_disk.items() if name not in differing}
        blobs = self._documents.blobs(differing)
        for name in sorted(differing):
            committed = None
            if name in blobs:
                committed = self._documents.text(blobs[name])
            text = on_disk.get(name)
            if self._is_settled(name, text, committed, confirmed):
                self.texts[name] = text
                continue
            self.changed.append(self._changed_text(name, text))
            landed_since = name in blobs and blobs[name] != known.committed.get(name)
            if landed_since:
                self.texts[name] = committed
            else:
                self.texts[name] = known.documents.get(name, committed)

    def _changed_text(self, name: str, text: str | None) -> ChangedText:
        return ChangedText(
            document=name,
            digest=document_digest(text),
            approved=self._approved_digest(name),
            where=self.where,
        )

    def _is_settled(
        self, name: str, text: str | None, committed: str | None, confirmed: ConfirmedChanges
    ) -> bool:
        """Whether a text other than the approved one is committed or confirmed by a person."""
        if text is not None and committed is not None and _same(text, committed):
            return True
        return (name, self._approved_digest(name), document_digest(text)) in confirmed

    def _approved_digest(self, name: str) -> str:
        """The digest of the approved text; an answer holds as long as this stays the same."""
        if self.approved is None:
            return ""
        text = self.approved.documents.get(name)
        if text is None:
            return ""
        return text_digest(text)

    def _confirmed_changes(self, answers: Decisions) -> ConfirmedChanges:
        """The changes that people answered with `use`."""
        confirmed = set()
        for answer in answers.answered.values():
            question = answer.question
            if answer.choice != ChoiceName.USE or not isinstance(question, self._question):
                continue
            if question.where == self.where:
                confirmed.add((question.document, question.approved, question.digest))
        return frozenset(confirmed)

    def _on_disk(self) -> dict[str, str]:
        """The texts on disk, by name. An unreadable document counts as unchanged."""
        texts = {}
        for name in self._documents.names():
            text = self._read(name)
            if isinstance(text, Unknown):
                text = None
                if self.approved:
                    text = self.approved.documents.get(name)
            if text is not None:
                texts[name] = text
        return texts


def latest_approval(store: Store, approval: type[Approval], root: Path) -> Approval | None:
    """The newest approval for a checkout; None when there is none."""
    newest = None
    for _, fact in select(store.load(streams.APPROVALS), approval):
        if fact.where == checkout_name(root):
            newest = fact
    return newest


def text_digest(text: str) -> str:
    """The digest by which events name a text."""
    return sha256(text.encode()).hexdigest()


def document_digest(text: str | None) -> str:
    """The digest of a document's text; a fixed word for a document that was removed."""
    if text is None:
        return REMOVED
    return text_digest(text)


def _same(text: str, committed: str) -> bool:
    """Whether two texts are equal but for line ends, which a checkout may change."""
    return text.removeprefix("\ufeff").replace("\r\n", "\n") == committed.replace("\r\n", "\n")


def diff_lines(store: Store, root: Path, question: TextChanged) -> list[str]:
    """The diff that a question is about.

    Empty when the question is about another checkout, or the file has changed again.
    """
    name = question.document
    text = documents.read_text(root / name)
    if isinstance(text, Unknown):
        return []
    if question.where != checkout_name(root) or question.digest != document_digest(text):
        return []
    approved = ""
    for _, fact in select(store.load(streams.APPROVALS), PlansApproved, SettingsApproved):
        candidate = fact.documents.get(name)
        if candidate is not None and document_digest(candidate) == question.approved:
            approved = candidate
            break
    lines = unified_diff(
        approved.splitlines(), (text or "").splitlines(), "approved", "on disk", n=1, lineterm=""
    )
    return list(lines)
