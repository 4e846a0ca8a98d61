"""Judges whether a key changed between two snapshots of a state, as claimed."""

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
    """Attest that the key was added or changed; with `deleted`, that it was removed.

    Everything else refutes the claim. Raises ValueError for snapshots that the claimant could have
    written.
    """
    if accountability.is_forgeable:
        raise ValueError("snapshots that the claimant could have written prove nothing")
    was_there = key in before
    is_there = key in after
    if deleted:
        subject = f"-{key}"
        if is_there:
            return refute(NAME, accountability, subject, f"{key} is still there")
        if was_there:
            return attest(NAME, accountability, subject, f"{key} is gone")
        return refute(NAME, accountability, subject, f"{key} was never there")
    if not is_there:
        state = "gone" if was_there else "not there"
        return refute(NAME, accountability, key, f"{key} is {state}")
    if not was_there:
        return attest(NAME, accountability, key, f"{key} is new")
    if _same(before[key], after[key]):
        return refute(NAME, accountability, key, f"{key} is as it was")
    return attest(NAME, accountability, key, f"{key} changed")


def _same(one: Any, other: Any) -> bool:
    """Compare as JSON does: true is not 1, but 1 is 1.0."""
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(
            _same(value, other[name]) for name, value in one.items()
        )
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(_same, one, other))
    return isinstance(one, bool) == isinstance(other, bool) and bool(one == other)
