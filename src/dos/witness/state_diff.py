"""Did a key of a state change the way that is claimed, between two snapshots of it?"""

from collections.abc import Mapping
from typing import Any

from dos.witness.accountability import Accountability
from dos.witness.fact import EvidenceFacts, attest, refute

NAME = "state-diff"


def judge(
    before: Mapping[str, Any],
    after: Mapping[str, Any],
    key: str,
    accountability: Accountability,
    *,
    deleted: bool = False,
) -> EvidenceFacts:
    """Attested when the key came or changed; with `deleted`, when it went. Anything else did not happen."""
    if accountability.is_forgeable:
        raise ValueError("snapshots that whoever claims could have written can witness nothing")
    was, is_there = key in before, key in after
    if deleted:
        subject = f"-{key}"
        if was and not is_there:
            return attest(NAME, accountability, subject, f"{key} is gone")
        return refute(
            NAME,
            accountability,
            subject,
            f"{key} is still there" if is_there else f"{key} was never there",
        )
    if not is_there:
        return refute(NAME, accountability, key, f"{key} is {'gone' if was else 'not there'}")
    if not was:
        return attest(NAME, accountability, key, f"{key} is new")
    if _same(before[key], after[key]):
        return refute(NAME, accountability, key, f"{key} is as it was")
    return attest(NAME, accountability, key, f"{key} changed")


def _same(one: Any, other: Any) -> bool:
    """As JSON has it: true is not 1, and 1 is 1.0."""
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(
            _same(value, other[name]) for name, value in one.items()
        )
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(_same, one, other))
    return isinstance(one, bool) == isinstance(other, bool) and bool(one == other)
