"""Who wrote a piece of evidence decides what it can prove.

What the claimant could have written proves nothing.
"""

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import structs

from dos.witness import belief, reward
from dos.witness.accountability import Accountability
from dos.witness.belief import BeliefVerdict, EffectClaim, believe_under_floor, derived_witness
from dos.witness.fact import EvidenceFacts, Stance, attest, no_signal, refute
from dos.witness.reward import Label, acceptance_ab

AGENT, SYSTEM, OTHER = Accountability
CLAIM = EffectClaim(key="deployed")
FACTS = st.builds(
    EvidenceFacts,
    source_name=st.sampled_from(["a", "b", "c"]),
    accountability=st.sampled_from(Accountability),
    stance=st.sampled_from(Stance),
    subject=st.just("s"),
    detail=st.text(max_size=5),
    reachable=st.booleans(),
)
FORGEABLE = FACTS.map(lambda fact: structs.replace(fact, accountability=AGENT))
SILENT = FACTS.map(lambda fact: structs.replace(fact, stance=Stance.NO_SIGNAL))
SETS = st.lists(FACTS, max_size=6)


def bits(facts):
    verdict = believe_under_floor(facts)
    return verdict.believe, verdict.refuted


def test_a_fact_without_a_value_is_an_unreached_silence():
    assert EvidenceFacts() == EvidenceFacts(
        stance=Stance.NO_SIGNAL, reachable=False, accountability=AGENT
    )
    assert (
        attest("x", SYSTEM).reachable
        and refute("x", SYSTEM).reachable
        and not no_signal("x", SYSTEM).reachable
    )


@pytest.mark.parametrize(
    ("facts", "expected"),
    [
        ([], (False, False)),
        ([attest("a", SYSTEM)], (True, False)),
        ([attest("a", OTHER)], (True, False)),
        ([attest("a", AGENT)], (False, False)),
        ([refute("a", SYSTEM)], (False, True)),
        ([refute("a", AGENT)], (False, False)),
        ([no_signal("a", OTHER)], (False, False)),
        ([structs.replace(attest("a", OTHER), reachable=False)], (False, False)),
        ([structs.replace(refute("a", OTHER), reachable=False)], (False, False)),
        ([attest("a", SYSTEM), refute("b", AGENT)], (True, False)),
        ([attest("a", AGENT), refute("b", OTHER)], (False, True)),
        ([attest("a", SYSTEM), refute("b", OTHER)], (True, True)),
    ],
)
def test_which_words_move_which_bits(facts, expected):
    assert bits(facts) == expected
    assert believe_under_floor(facts).reason


def test_everything_that_was_said_is_listed_on_its_side():
    facts = [attest("a", AGENT), refute("b", AGENT), no_signal("c", OTHER), attest("d", SYSTEM)]
    verdict = believe_under_floor(facts)
    sides = (verdict.attesting, verdict.refuting, verdict.silent)
    assert [[fact.source_name for fact in side] for side in sides] == [["a", "d"], ["b"], ["c"]]
    assert msgspec.to_builtins(verdict).keys() == {
        "believe",
        "refuted",
        "reason",
        "attesting",
        "refuting",
        "silent",
    }


@given(st.lists(FORGEABLE, max_size=6), st.booleans())
def test_what_the_claimant_could_have_written_never_confirms_or_condemns(facts, claimed):
    claim = CLAIM if claimed else None
    assert bits(facts) == (False, False)
    assert belief.judge(claim, facts).answer in (belief.Answer.UNWITNESSED, belief.Answer.NO_CLAIM)
    assert reward.judge(claim, facts).answer in (reward.Answer.ABSTAIN, reward.Answer.NO_CLAIM)
    derived = derived_witness("sum", "add", facts, "s", within_tol=True)
    assert bits([derived]) == (False, False)


@given(SETS, st.lists(st.one_of(FORGEABLE, SILENT), max_size=3))
def test_a_forgeable_fact_or_a_silence_more_changes_neither_bit(facts, more):
    assert bits([*facts, *more]) == bits([*more, *facts]) == bits(facts)


@given(SETS, st.randoms())
def test_the_order_of_the_witnesses_does_not_matter(facts, chance):
    mixed = chance.sample(facts, len(facts))
    assert bits(mixed) == bits(facts)
    assert belief.judge(CLAIM, mixed).answer is belief.judge(CLAIM, facts).answer


@given(SETS, st.text(max_size=20))
def test_what_is_narrated_is_carried_and_never_read(facts, narrated):
    told = structs.replace(CLAIM, narrated=narrated)
    said, plain = belief.judge(told, facts), belief.judge(CLAIM, facts)
    assert said == structs.replace(plain, narrated=narrated)
    assert reward.judge(told, facts) == reward.judge(CLAIM, facts)


@given(SETS)
def test_a_conflict_sets_both_bits_and_confirms_nothing(facts):
    verdict = belief.judge(CLAIM, [*facts, attest("x", SYSTEM), refute("y", OTHER)])
    assert (verdict.answer, verdict.believe, verdict.refuted) == (
        belief.Answer.REFUTED,
        False,
        True,
    )
    assert believe_under_floor([*facts, attest("x", SYSTEM), refute("y", OTHER)]).conflict


@given(SETS)
def test_an_accepted_example_was_attested_and_a_poisoned_one_refuted_by_a_record(facts):
    verdict = reward.judge(CLAIM, facts)
    recorded = [fact for fact in facts if fact.is_accountable]
    assert not verdict.accept or any(fact.attests for fact in recorded)
    assert not verdict.poison or any(fact.refutes for fact in recorded)
    assert verdict.dispreferred is verdict.poison


@pytest.mark.parametrize(
    ("claim", "facts", "expected"),
    [
        (None, [attest("a", OTHER)], ("NO_CLAIM", "", None)),
        (EffectClaim(key="  "), [attest("a", OTHER)], ("NO_CLAIM", "", None)),
        (CLAIM, [], ("UNWITNESSED", "", None)),
        (CLAIM, [attest("a", AGENT)], ("UNWITNESSED", "", None)),
        (CLAIM, [attest("a", AGENT), attest("b", OTHER)], ("CONFIRMED", "b", OTHER)),
        (CLAIM, [attest("a", SYSTEM), refute("b", OTHER)], ("REFUTED", "b", OTHER)),
        (
            CLAIM,
            [refute("a", AGENT), refute("b", SYSTEM), refute("c", OTHER)],
            ("REFUTED", "b", SYSTEM),
        ),
    ],
)
def test_the_answer_about_an_effect(claim, facts, expected):
    verdict = belief.judge(claim, facts)
    assert (verdict.answer, verdict.witness, verdict.accountability) == expected


def test_the_json_of_an_effect_has_the_known_keys():
    shown = msgspec.to_builtins(belief.judge(CLAIM, [no_signal("ci", OTHER)]))
    assert shown.keys() == {
        "verdict",
        "believe",
        "refuted",
        "reason",
        "claim_key",
        "narrated",
        "witness",
        "accountability",
        "silent_witnesses",
    }
    assert (shown["accountability"], shown["silent_witnesses"]) == (None, ("ci",))
    assert EffectClaim(key="k").probe == "k" and EffectClaim(key="k", subject="s").probe == "s"


@pytest.mark.parametrize(
    ("claim", "facts", "expected"),
    [
        (None, [attest("a", OTHER)], ("NO_CLAIM", False, False)),
        (CLAIM, [attest("a", SYSTEM)], ("ACCEPT", True, False)),
        (CLAIM, [refute("a", SYSTEM)], ("REJECT_POISON", False, True)),
        (CLAIM, [attest("a", SYSTEM), refute("b", SYSTEM)], ("REJECT_POISON", False, True)),
        (CLAIM, [attest("a", AGENT)], ("ABSTAIN", False, False)),
        (CLAIM, [refute("a", AGENT)], ("ABSTAIN", False, False)),
        (CLAIM, [], ("ABSTAIN", False, False)),
    ],
)
def test_the_answer_about_an_example(claim, facts, expected):
    verdict = reward.judge(claim, facts)
    assert (verdict.answer, verdict.accept, verdict.poison) == expected
    assert msgspec.to_builtins(verdict).keys() == {
        "verdict",
        "accept",
        "poison",
        "dispreferred",
        "claim_present",
        "reason",
        "witness",
        "accountability",
    }


def test_accepting_is_compared_with_believing_everything():
    accept, abstain = reward.Answer.ACCEPT, reward.Answer.ABSTAIN
    labels = [
        Label(answer=accept, truth=True),
        Label(answer=abstain, truth=False),
        Label(answer=abstain, truth=True),
    ]
    found = acceptance_ab([*labels, Label(answer=reward.Answer.NO_CLAIM, truth=False)])
    assert (found.total, found.accepted, found.adjudicated_precision) == (3, 1, 1.0)
    assert found.believe_all_precision == pytest.approx(2 / 3)
    assert acceptance_ab([]) == reward.Comparison(
        total=0, accepted=0, believe_all_precision=0.0, adjudicated_precision=0.0, gain=0.0
    )


BELIEVED = believe_under_floor([attest("a", SYSTEM)])


@pytest.mark.parametrize(
    ("op", "operands", "within", "expected"),
    [
        ("add", [attest("a", SYSTEM), attest("b", OTHER)], True, (Stance.ATTESTED, SYSTEM)),
        ("add", [attest("a", OTHER), BELIEVED], True, (Stance.ATTESTED, OTHER)),
        ("add", [BELIEVED, attest("a", SYSTEM)], True, (Stance.ATTESTED, SYSTEM)),
        ("add", [attest("a", SYSTEM), attest("b", AGENT)], True, (Stance.ATTESTED, AGENT)),
        ("add", [attest("a", SYSTEM), no_signal("b", OTHER)], True, (Stance.ATTESTED, AGENT)),
        (
            "add",
            [attest("a", SYSTEM), BeliefVerdict(believe=True, refuted=True)],
            True,
            (Stance.ATTESTED, AGENT),
        ),
        (" ", [attest("a", SYSTEM)], True, (Stance.ATTESTED, AGENT)),
        ("add", [], True, (Stance.NO_SIGNAL, AGENT)),
        ("add", [attest("a", SYSTEM), attest("b", OTHER)], False, (Stance.REFUTED, SYSTEM)),
        ("add", [attest("a", SYSTEM), refute("b", OTHER)], False, (Stance.REFUTED, AGENT)),
        ("add", [], False, (Stance.REFUTED, AGENT)),
    ],
)
def test_a_recomputation_is_worth_no_more_than_what_it_is_made_of(op, operands, within, expected):
    found = derived_witness("sum", op, operands, "s", within)
    assert (found.stance, found.accountability) == expected
