"""An opinion is asked where facts are silent. It may take belief away, and never gives any."""

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dos.witness import judges
from dos.witness.accountability import Accountability
from dos.witness.belief import believe_under_floor
from dos.witness.fact import EvidenceFacts
from dos.witness.fact import Stance as FactStance
from dos.witness.judges import (
    Claim,
    JudgedClaim,
    JudgeVerdict,
    Stance,
    compose_deterministic_first,
    evaluate,
    parse_reply,
    with_opinion,
)

OPINIONS = st.builds(
    JudgeVerdict, stance=st.sampled_from(Stance), why=st.text(max_size=5), cost=st.just(1.0)
)
BELIEFS = st.lists(
    st.builds(
        EvidenceFacts,
        accountability=st.sampled_from(Accountability),
        stance=st.sampled_from(FactStance),
        reachable=st.booleans(),
    ),
    max_size=4,
).map(believe_under_floor)


@given(BELIEFS, st.lists(OPINIONS, max_size=4))
def test_no_opinion_and_no_number_of_them_raises_belief(belief, opinions):
    left = belief
    for opinion in opinions:
        left = with_opinion(left, opinion)
    assert left.believe <= belief.believe
    assert left.refuted is belief.refuted
    disagreed = any(opinion.stance is Stance.DISAGREE for opinion in opinions)
    assert left.believe is (belief.believe and not disagreed)


@given(st.lists(OPINIONS, max_size=6), st.lists(OPINIONS, min_size=6, max_size=6))
def test_the_judge_hears_only_what_the_oracle_leaves(oracle, judge):
    claims = [Claim(claim_text=str(number)) for number in range(len(oracle))]
    heard = []

    def ask(claim):
        heard.append(claim)
        return judge[int(claim.claim_text)]

    found = compose_deterministic_first(claims, lambda claim: oracle[int(claim.claim_text)], ask)
    left = [
        claim for claim, said in zip(claims, oracle, strict=True) if said.stance is Stance.ABSTAIN
    ]
    assert heard == left
    assert sum(found.occupancy.values()) == len(found.rows) == len(claims)
    assert found.occupancy["oracle"] == len(claims) - len(left)


@pytest.mark.parametrize(
    ("reply", "stance"),
    [
        ("VERDICT: AGREE\nWHY: the log", "AGREE"),
        ("verdict: disagree", "DISAGREE"),
        ("**VERDICT:** ABSTAIN", "ABSTAIN"),
        ("VERDICT: AGREE\nVERDICT: DISAGREE", "DISAGREE"),
        ("VERDICT: AGREE\nVERDICT: ABSTAIN\nVERDICT: DISAGREE", "ABSTAIN"),
        ("VERDICT: AGREE\nVERDICT: MAYBE", "ABSTAIN"),
        ("VERDICT: AGREED", "ABSTAIN"),
        ("I agree", "ABSTAIN"),
        ("My VERDICT: AGREE", "ABSTAIN"),
        ("", "ABSTAIN"),
    ],
)
def test_a_reply_is_read_by_its_lines(reply, stance):
    assert parse_reply(reply).stance == stance


def test_the_reason_of_a_reply_is_one_line():
    assert parse_reply("VERDICT: AGREE\nWHY:  because   of that \nmore").why == "because of that"


@given(st.text())
def test_whatever_a_model_says_without_the_word_is_no_agreement(reply):
    if "agree" not in reply.casefold():
        assert parse_reply(reply).stance is Stance.ABSTAIN


def test_the_prompt_says_what_to_trust():
    prompt = judges.build_prompt(
        Claim(claim_text="it shipped", stated_reason="I am sure", evidence=("exit 1",))
    )
    assert (
        "evidence alone" in prompt
        and "DISAGREE" in prompt
        and "exit 1" in prompt
        and "I am sure" in prompt
    )


def likened(claim, *evidence, **more):
    return judges.judge_similarity(Claim(claim_text=claim, evidence=evidence), **more).stance


@pytest.mark.parametrize(
    ("claim", "evidence", "stance"),
    [
        ("login shipped", ("login shipped",), "AGREE"),
        ("login shipped", ("yesterday the login was shipped to all",), "AGREE"),
        ("login shipped", ("the weather is fine",), "DISAGREE"),
        ("login shipped", ("login was NOT shipped",), "DISAGREE"),
        ("login shipped", ("login wasn't shipped",), "DISAGREE"),
        ("login shipped", ("login shipped? No.",), "DISAGREE"),
        ("login shipped", ("login shipped", "login was never shipped"), "DISAGREE"),
        ("login shipped", ("the login that shipped was reverted",), "DISAGREE"),
        ("login not shipped", ("login shipped",), "DISAGREE"),
        ("login not shipped", ("login not shipped",), "AGREE"),
        ("the login tests pass", ("the login tests pass, 0 failed",), "AGREE"),
        ("login shipped", (), "ABSTAIN"),
        ("login shipped", (" ",), "ABSTAIN"),
        (" ", ("login shipped",), "ABSTAIN"),
    ],
)
def test_likeness_of_words(claim, evidence, stance):
    assert likened(claim, *evidence) == stance


WORDS = st.lists(
    st.sampled_from(["login", "page", "shipped", "release", "works"]), min_size=1, max_size=6
)


@given(
    WORDS,
    st.sampled_from(["not", "never", "no", "didn't", "cannot", "failed", "without"]),
    st.data(),
)
def test_the_same_words_with_a_negation_among_them_are_never_agreed_to(words, negation, data):
    place = data.draw(st.integers(0, len(words)))
    turned = [*words[:place], negation, *words[place:]]
    assert likened(" ".join(words), " ".join(turned)) != "AGREE"
    assert likened(" ".join(turned), " ".join(words)) != "AGREE"
    assert likened(" ".join(words), " ".join(turned), scored=1.0) != "AGREE"


@pytest.mark.parametrize(
    ("score", "stance"), [(0.9, "AGREE"), (7.0, "AGREE"), (0.82, "AGREE"), (0.81, "DISAGREE")]
)
def test_the_number_of_somebody_else_takes_the_place_of_ours(score, stance):
    assert likened("a", "b", scored=score) == stance


def outcome(stance, truth, cost=0.0):
    return JudgedClaim(verdict=JudgeVerdict(stance=stance, cost=cost), truth=truth)


def test_the_grid_and_its_rates():
    found = evaluate(
        [
            *[outcome(Stance.AGREE, True, 2.0)] * 3,
            outcome(Stance.AGREE, False),
            *[outcome(Stance.DISAGREE, False)] * 2,
            outcome(Stance.DISAGREE, True),
            outcome(Stance.ABSTAIN, True),
            *[outcome(Stance.ABSTAIN, False)] * 2,
        ]
    )
    assert msgspec.to_builtins(found.grid) == {
        "correct_clear": 3,
        "false_clear": 1,
        "correct_flag": 2,
        "false_flag": 1,
        "abstain_true": 1,
        "abstain_false": 2,
    }
    assert msgspec.to_builtins(found.rates) == pytest.approx(
        {
            "false_clear_rate": 0.25,
            "lie_leak_rate": 0.2,
            "decisive_accuracy": 5 / 7,
            "abstention_rate": 0.3,
            "cost_per_claim": 0.6,
        }
    )


@given(st.lists(st.builds(JudgedClaim, verdict=OPINIONS, truth=st.booleans())))
def test_the_grid_holds_every_case_once_and_the_rates_are_shares(outcomes):
    found = evaluate(outcomes)
    assert sum(msgspec.to_builtins(found.grid).values()) == found.n == len(outcomes)
    assert all(0 <= rate <= 1 for rate in msgspec.to_builtins(found.rates).values())
