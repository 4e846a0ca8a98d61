"""What differs between a document on disk and the text of it that a person approved."""

from difflib import unified_diff
from pathlib import Path

from dos.journal import streams
from dos.journal.engine_events import PlansApproved, SettingsApproved
from dos.journal.facts.reader import select
from dos.journal.store import Store
from dos.plans.questions.texts import TextChanged
from dos.records.unknown import Unknown
from dos.runtime.fleet.approved_texts import digest_of
from dos.runtime.fleet.checkout import where
from dos.sources.plans import plan_documents


def difference(store: Store, root: Path, asked: TextChanged) -> list[str]:
    """What a question about a text is about, as a diff; none where the file is elsewhere, or changed again."""
    name, text = asked.document, plan_documents.read_text(root / asked.document)
    if isinstance(text, Unknown) or (asked.where, asked.digest) != (where(root), digest_of(text)):
        return []
    facts = select(store.load(streams.APPROVALS), PlansApproved, SettingsApproved)
    texts = [fact.documents[name] for _, fact in facts if name in fact.documents]
    approved = next((each for each in texts if digest_of(each) == asked.approved), "")
    lines = unified_diff(approved.splitlines(), (text or "").splitlines(), "approved", "on disk", n=1, lineterm="")
    return list(lines)
