"""Older words for how a dispatch went."""

import pytest

from dos.plans.gate import Gate
from dos.plans.tokens import KNOWN_VERDICT_TOKENS, PacketOutcome, normalize_token


@pytest.mark.parametrize(
    ("text", "token"),
    [
        ("WEDGE", "BLOCKED"), (" wedged ", "BLOCKED-OUTCOME"), ("live", "LIVE"), ("stale-stamp", "STALE-STAMP"),
        ("novel", "NOVEL"), ("", None), ("  ", None), (None, None),
    ],
)  # fmt: skip
def test_an_older_word_becomes_the_present_one(text, token):
    assert normalize_token(text) == token


def test_every_word_is_known_and_the_older_members_are_the_same():
    assert {*Gate, *PacketOutcome, "WEDGE", "WEDGED", "COLLISION", "ERROR", "RATE_LIMITED"} == KNOWN_VERDICT_TOKENS
    assert PacketOutcome.WEDGED is PacketOutcome.BLOCKED_OUTCOME
    with pytest.raises(ValueError, match="WEDGED"):
        PacketOutcome("WEDGED")
