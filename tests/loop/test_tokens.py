"""Released words for how things went: the older ones for the same, and what people read in their
place.
"""

import itertools

import pytest

from dos.audit.audit import Witness
from dos.loop.decide import RUNGS
from dos.loop.decision import CAP
from dos.loop.gate import Gate
from dos.loop.tokens import (
    KNOWN_VERDICT_TOKENS,
    PacketOutcome,
    decision_words,
    iteration_words,
    normalize_token,
    rule_words,
    words,
)
from dos.loop.types import Action, DescendantProgress, OutcomeKind, StopReason, WorkerStop
from dos.reasons.table import ClearsBy
from dos.units.markdown.enumerate import ShippedBy
from dos.verify.shipped import Source

FAMILIES = (
    (*StopReason, *WorkerStop),
    tuple(Action),
    tuple(DescendantProgress),
    tuple(PacketOutcome),
    tuple(Gate),
    tuple(ShippedBy),
    tuple(Witness),
    tuple(Source),
    tuple(ClearsBy),
)


@pytest.mark.parametrize(
    ("text", "token"),
    [
        ("WEDGE", "BLOCKED"),
        (" wedged ", "BLOCKED-OUTCOME"),
        ("live", "LIVE"),
        ("stale-stamp", "STALE-STAMP"),
        ("novel", "NOVEL"),
        ("", None),
        ("  ", None),
        (None, None),
    ],
)
def test_an_older_word_becomes_the_present_one(text, token):
    assert normalize_token(text) == token


def test_every_word_is_known_and_the_older_members_are_the_same():
    assert {
        *Gate,
        *PacketOutcome,
        "WEDGE",
        "WEDGED",
        "COLLISION",
        "ERROR",
        "RATE_LIMITED",
    } == KNOWN_VERDICT_TOKENS
    assert PacketOutcome.WEDGED is PacketOutcome.BLOCKED_OUTCOME
    with pytest.raises(ValueError, match="WEDGED"):
        PacketOutcome("WEDGED")


@pytest.mark.parametrize("token", list(itertools.chain(*FAMILIES)))
def test_people_read_words_in_the_place_of_tokens(token):
    assert "-" not in words(token) and "_" not in words(token)


@pytest.mark.parametrize("family", [*FAMILIES, tuple(map(iteration_words, OutcomeKind))])
def test_no_two_tokens_of_one_family_read_alike(family):
    assert len({words(token) for token in family}) == len(family)


def test_every_kind_of_outcome_has_words():
    assert all(
        iteration_words(kind) != kind and "_" not in iteration_words(kind) for kind in OutcomeKind
    )


def test_a_word_that_was_never_released_is_itself():
    assert (
        words("lease-lost-by-magic")
        == iteration_words("lease-lost-by-magic")
        == "lease-lost-by-magic"
    )


@pytest.mark.parametrize(
    ("decided", "text"),
    [
        (("continue", "dispatch", None), "continue dispatch"),
        (("retry-same-iter", "", None), "retry"),
        (("stop", "", "consecutive-dirty-zero"), "stop: no work delivered"),
    ],
)
def test_a_decision_reads_as_words(decided, text):
    assert decision_words(*decided) == text


@pytest.mark.parametrize("rule", [*(name for name, _ in RUNGS), CAP])
def test_a_rule_is_told_by_what_it_looks_for_and_never_as_shipped(rule):
    assert "-" not in rule_words(rule) and "shipped" not in rule_words(rule)
    assert rule_words(rule) != rule.replace("-", " ") or rule == "overloaded"
