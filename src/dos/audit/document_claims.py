"""Decide claims about documents: what people read, in documents, comments and strings."""

import re

from dos.audit import diff, finding, terms, vocabulary
from dos.audit.claim_kinds import SubjectClaim
from dos.audit.diff import Diff
from dos.audit.finding import Backing
from dos.verify.file_kinds import Kind

# below so many telling words an open subject says too little to be refuted
_DOC_FOLDER = re.compile(r"(?:^|/)(?:docs?|man|help)[/._-]|readme|help", re.IGNORECASE)


def weigh_documents(claim: SubjectClaim, changes: Diff) -> Backing:
    """Decide a claim about documents: code backs it only by what people read in it."""
    others = changes.of_kind(Kind.DOCS, Kind.CONFIG, Kind.CI, Kind.DATA)
    if others:
        return finding.backed(others)
    if is_read_by_people(claim, changes):
        return finding.backed(changes.files)
    return finding.refuted(
        f"says documents; {finding.actual_change(changes)}, without a comment or a string"
    )


def is_read_by_people(claim: SubjectClaim, changes: Diff) -> bool:
    """Whether changed code can be what a subject about documents speaks of.

    It is if its strings or comments differ, if a word of the subject is near, or for a typo.
    """
    if not vocabulary.TYPOS.isdisjoint(claim.subject.parts):
        return True
    for change in changes.files:
        texts = changes.text(change)
        if texts is None or changes.is_cosmetic(change) or diff.differs_in_words(texts):
            return True
        if _DOC_FOLDER.search(change.path):
            return True
    wanted = terms.terms(claim.subject)
    return bool(wanted) and changes.mentions(wanted, changes.files)
