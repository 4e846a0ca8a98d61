"""Decide claims about documents: what people read, in documents, comments and strings."""

import re

from dos.audit.claims import claim_kinds, finding, terms, vocabulary
from dos.audit.claims.claim_kinds import SubjectClaim
from dos.audit.claims.diff import Diff
from dos.audit.claims.finding import Backing
from dos.verify.file_kinds import Kind

# below so many telling words an open subject says too little to be refuted
_DOC_FOLDER = re.compile(r"(?:^|/)(?:docs?|man|help)[/._-]|readme|help", re.IGNORECASE)


def weigh_documents(claim: SubjectClaim, changes: Diff) -> Backing:
    """Decide a claim about documents: code backs it only by what people read in it."""
    others = changes.of_kind(Kind.DOCS, Kind.CONFIG, Kind.CI, Kind.DATA)
    if others:
        return finding.backed(others)
    if _is_read_by_people(claim, changes):
        return finding.backed(changes.files)
    actual = finding.actual_change(changes)
    return finding.refuted(f"says documents; {actual}, and no comment or string in it")


def may_speak_of_code(claim: SubjectClaim, changes: Diff) -> bool:
    """Whether changed code can be what a subject with a word of documents speaks of."""
    if _is_read_by_people(claim, changes):
        return True
    wanted = terms.terms(claim.subject)
    return bool(wanted) and changes.mentions(wanted, changes.files)


def _is_read_by_people(claim: SubjectClaim, changes: Diff) -> bool:
    """Whether strings or comments differ, or help and the like changed; a typo can be anywhere.

    A file such as the readme is in no string: code has to have a word of the subject then.
    """
    if not vocabulary.TYPOS.isdisjoint(claim.subject.parts):
        return True
    if claim_kinds.names_document(claim.subject):
        return changes.mentions(terms.terms(claim.subject), changes.files)
    for change in changes.files:
        if _DOC_FOLDER.search(change.path) or changes.is_cosmetic(change):
            return True
        if changes.differs_in_words(change):
            return True
    return False
