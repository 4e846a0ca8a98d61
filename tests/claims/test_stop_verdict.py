"""May an agent stop on what it said?"""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dos.claims.declared import Claim, Rung
from dos.claims.stop import CheckedClaim, Evidence, check_claim, judge
from dos.verify import shipped
from dos.verify.candidate import Contradiction, Tier
from dos.verify.shipped import Answer

RECIPES = (
    "DOS-CLAIM",
    "git commit",
    "--allow-empty",
    "git ",
    "commit message",
    "subject",
    "trailer",
    "Unit:",
    "Ships:",
    "stamp",
)


def claim(rung=Rung.MARKER, phase="AUTH1"):
    return Claim(plan="AUTH", phase=phase, rung=rung, raw="AUTH1 is done")


def truth(answer=Answer.NOT_SHIPPED, tier=Tier.ABSENT, **more):
    return shipped.Verdict(
        answer=answer, plan="AUTH", phase="AUTH1", ref="HEAD", tier=tier, reason="why", **more
    )


LIE = check_claim(claim(), truth())
HINT = check_claim(claim(Rung.HEURISTIC), truth())
TRUE = check_claim(claim(), truth(Answer.SHIPPED, Tier.LIVE, source="grep-subject"))
UNTOLD = check_claim(claim(), truth(Answer.CANNOT_TELL))
UNTOLD_HINT = check_claim(claim(Rung.HEURISTIC), truth(Answer.CANNOT_TELL))


@pytest.mark.parametrize(
    ("rows", "ok", "strictly", "warnings"),
    [
        ([], True, True, 0),
        ([TRUE], True, True, 0),
        ([LIE], False, False, 0),
        ([TRUE, LIE], False, False, 0),
        ([HINT], True, False, 1),
        ([TRUE, HINT], True, False, 1),
        ([UNTOLD], None, None, 1),
        ([UNTOLD, TRUE], None, None, 1),
        ([UNTOLD, LIE], False, False, 1),
        ([UNTOLD_HINT], True, None, 1),
    ],
)
def test_a_lie_refuses_prose_only_warns_and_what_cannot_be_told_is_never_fine(
    rows, ok, strictly, warnings
):
    verdict = judge(Evidence(results=tuple(rows)))
    assert (verdict.ok, len(verdict.warnings)) == (ok, warnings)
    assert judge(Evidence(results=tuple(rows)), strict=True).ok is strictly
    assert verdict.refused == (ok is False) == verdict.reason.startswith("You say")


def test_what_could_not_be_read_is_not_fine_and_refuses_nothing():
    verdict = judge(Evidence(unread="/nowhere: it is not there"))
    assert (verdict.ok, verdict.results) == (None, ()) and "/nowhere" in verdict.warnings[0]


@pytest.mark.parametrize("answer", list(Answer))
@pytest.mark.parametrize("tier", list(Tier))
def test_a_name_alone_is_not_done_whatever_is_taken_for_shipped_elsewhere(answer, tier):
    found = check_claim(claim(), truth(answer, tier))
    if answer is Answer.CANNOT_TELL:
        assert found.shipped is None and found.why == "why"
    else:
        assert found.shipped is (answer is Answer.SHIPPED and tier >= Tier.SUBSTANTIVE)


def test_a_refusal_names_what_is_missing_and_where_it_was_expected():
    row = check_claim(
        claim(),
        truth(
            Answer.UNPROVEN,
            Tier.NAMED,
            contradictions=(Contradiction.DOCS_ONLY,),
            expected=("src/auth/**",),
        ),
    )
    reason = judge(Evidence(results=(row,))).reason
    assert "AUTH/AUTH1: T1 named only" in reason
    assert "only documents were changed" in reason and "expected in src/auth/**" in reason


def test_many_lies_are_told_in_a_few_lines():
    rows = tuple(check_claim(claim(phase=f"AUTH{number}"), truth()) for number in range(9))
    assert "And 4 more." in judge(Evidence(results=rows)).reason


def test_the_rows_have_the_keys_that_others_read():
    row = judge(Evidence(results=(LIE,))).to_dict()["results"][0]
    assert row.keys() >= {"plan", "phase", "rung", "raw", "confident", "shipped", "source"}
    assert (row["shipped"], row["source"], row["rung"], row["tier"]) == (
        False,
        "none",
        "marker",
        "T0",
    )
    assert judge(Evidence(results=(UNTOLD,))).to_dict()["results"][0]["shipped"] is None
    assert judge(Evidence()).to_dict() == {"ok": True, "results": []}
    assert judge(Evidence(results=(TRUE, UNTOLD))).to_dict()["checked"] == 1


truths = st.builds(
    truth,
    st.sampled_from(Answer),
    st.sampled_from(Tier),
    contradictions=st.lists(st.sampled_from(Contradiction), unique=True).map(tuple),
    expected=st.lists(st.sampled_from(["src/auth/**", "docs/a.md", "x" * 300]), max_size=12).map(
        tuple
    ),
    summary=st.sampled_from(["AUTH1: login", "git commit --allow-empty -m AUTH1"]),
)


@given(rows=st.lists(st.tuples(st.sampled_from(Rung), truths), max_size=12), strict=st.booleans())
def test_nothing_said_to_an_agent_is_a_recipe_for_being_believed(rows, strict):
    results = tuple(check_claim(claim(rung), found) for rung, found in rows)
    verdict = judge(Evidence(results=results), strict=strict)
    told = "\n".join([verdict.reason, *verdict.warnings])
    assert not [recipe for recipe in RECIPES if recipe.lower() in told.lower()]


@given(rows=st.lists(st.tuples(st.sampled_from(Rung), truths), max_size=8), strict=st.booleans())
def test_it_is_refused_exactly_for_a_binding_claim_that_is_not_done(rows, strict):
    results = tuple(check_claim(claim(rung), found) for rung, found in rows)
    lies = [row for row in results if row.shipped is False and (strict or row.claim.confident)]
    assert judge(Evidence(results=results), strict=strict).refused == bool(lies)


def test_hostile_names_are_shown_harmlessly():
    row = CheckedClaim(
        claim=Claim(plan="A\x1b[31m", phase="B" * 500, rung=Rung.MARKER, raw=""), shipped=False
    )
    assert row.name.isprintable() and len(row.name) < 120
