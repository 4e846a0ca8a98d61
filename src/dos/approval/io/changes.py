"""What differs between a document on disk and the text of it that a person approved."""

from difflib import unified_diff
from pathlib import Path

from dos.approval.io.checkout import where
from dos.approval.io.texts import digest_of
from dos.journal import streams
from dos.journal.events.limits import PlansApproved, SettingsApproved
from dos.journal.events.reader import select
from dos.journal.store import Store
from dos.questions.texts import TextChanged
from dos.units.io import documents
from dos.unknown import Unknown


def difference(store: Store, root: Path, asked: TextChanged) -> list[str]:
    """What a question about a text is about, as a diff; none where the file is elsewhere, or changed again."""
    name, text = asked.document, documents.read_text(root / asked.document)
    if isinstance(text, Unknown) or (asked.where, asked.digest) != (where(root), digest_of(text)):
        return []
    facts = select(store.load(streams.APPROVALS), PlansApproved, SettingsApproved)
    texts = [fact.documents[name] for _, fact in facts if name in fact.documents]
    approved = next((each for each in texts if digest_of(each) == asked.approved), "")
    lines = unified_diff(
        approved.splitlines(), (text or "").splitlines(), "approved", "on disk", n=1, lineterm=""
    )
    return list(lines)
