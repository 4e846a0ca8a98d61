"""Which units does an agent say are done?"""

import pytest
from growth import grows_less_than
from hypothesis import given
from hypothesis import strategies as st

from dos.claims.declared import Rung, extract


def said(text):
    return [(claim.plan, claim.phase) for claim in extract(text)]


AUTH1, AUTH2, AUTH3 = (("AUTH", f"AUTH{number}") for number in (1, 2, 3))


@pytest.mark.parametrize(
    ("line", "claimed"),
    [
        ("DOS-CLAIM: A B", True),
        ("> - DOS-CLAIM: A B", True),
        ("  * DOS-CLAIM: A B  ", True),
        ("\tDOS-CLAIM:\tA\tB", True),
        ("**DOS-CLAIM: A B**", True),
        ("see DOS-CLAIM: A B", False),
        ("DOS-CLAIM: A B C", False),
        ("DOS-CLAIM: A", False),
        ("DOS-CLAIM:", False),
        ("dos-claim: A B", False),
        ("DOS-CLAIM A B", False),
        ("DOS-CLAIM: A **", False),
    ],
)
def test_a_marker_is_a_line_of_its_own(line, claimed):
    claims = extract(f"before\n{line}\r\nafter")
    assert [(claim.plan, claim.phase, claim.rung) for claim in claims] == (
        [("A", "B", "marker")] if claimed else []
    )
    assert all(claim.confident for claim in claims)


@pytest.mark.parametrize(
    ("text", "claimed"),
    [
        ("AUTH1 shipped", [AUTH1]),
        ("A1 shipped", []),
        ("auth1 shipped", []),
        ("AUTH1 next", []),
        ("AUTH1 landed", [AUTH1]),
        ("AUTH1 completed", [AUTH1]),
        ("finished AUTH1", [AUTH1]),
        ("merged AUTH1!", [AUTH1]),
        ("AUTH_LOG1 done", [("AUTH_LOG", "AUTH_LOG1")]),
        ("AUTH1 is done and shipped", [AUTH1]),
        ("AUTH1 has been completed.", [AUTH1]),
        ("I've finished AUTH/AUTH1", [AUTH1]),
        ("I've finished auth-rewrite/AUTH1", [("auth-rewrite", "AUTH1")]),
        ("unit AUTH AUTH1: complete", [AUTH1]),
        ("unit BILLING AUTH1 is done", [("BILLING", "AUTH1")]),
        ("AUTH AUTH1 is done", [AUTH1]),
        ("AUTH1/AUTH2 merged", [AUTH1, AUTH2]),
        ("Done. Shipped AUTH1 and AUTH2.", [AUTH1, AUTH2]),
        ("Shipped AUTH1, AUTH2 and AUTH3.", [AUTH1, AUTH2, AUTH3]),
        ("AUTH1, AUTH2 and AUTH3 are done", [AUTH1, AUTH2, AUTH3]),
        ("AUTH1 — done", [AUTH1]),
        ("- AUTH1: login form: done", [AUTH1]),
        ("- [x] AUTH1: login", [AUTH1]),
        ("✅ AUTH1", [AUTH1]),
        ("| AUTH1 | login | done |", [AUTH1]),
        ("AUTH1: add the form. Done.", [AUTH1]),
        ("After fixing the tests, AUTH1 is done.", [AUTH1]),
        ("AUTH1 is complete with no failing tests", [AUTH1]),
        ("AUTH1 shipped after a long fight", [AUTH1]),
        ("AUTH1 is done, let me know if you need more", [AUTH1]),
        ("Completed:\n- AUTH1: login\n- AUTH2: logout\n\nAUTH3 comes later", [AUTH1, AUTH2]),
        ("## Done\n1. AUTH1\n2. AUTH2", [AUTH1, AUTH2]),
    ],
)
def test_prose_claims(text, claimed):
    claims = extract(text)
    assert [(claim.plan, claim.phase) for claim in claims] == claimed
    assert all(claim.rung is Rung.HEURISTIC and not claim.confident for claim in claims)


@pytest.mark.parametrize(
    "text",
    [
        "AUTH1 is not done",
        "AUTH1 isn't done yet",
        "AUTH1 isn’t done yet",
        "I haven't completed AUTH1",
        "AUTH1 has not been merged",
        "not yet done: AUTH1",
        "AUTH1 is yet to be done",
        "Not shipped: AUTH1, AUTH2",
        "Not done:\n- AUTH1\n- AUTH2",
        "Neither AUTH1 nor AUTH2 is done",
        "AUTH1, AUTH2 and AUTH3 are not done.",
        "Nothing of AUTH1 is done",
        "Everything but AUTH1 is done",
        "All but AUTH1 are done",
        "I finished everything except AUTH1.",
        "AUTH1 done: no",
        "AUTH1 shipped? no",
        "Is AUTH1 done?",
        "AUTH1 shipped?no",
        "once AUTH1 is shipped",
        "Once CI passes, AUTH1 is done.",
        "AUTH1 is done once CI passes",
        "if tests pass and AUTH1 is shipped, we go on",
        "AUTH2 starts after AUTH1 is done",
        "before AUTH1 is merged",
        "AUTH1 will be done",
        "I'll get AUTH1 done",
        "AUTH1 can't be completed",
        "AUTH1 cannot be completed",
        "AUTH1 should be done tomorrow",
        "I need to get AUTH1 done",
        "AUTH1 is almost done",
        "AUTH1 is half done",
        "AUTH1 is being finished",
        "complete AUTH1 next",
        "Failed to get AUTH1 merged",
        "- [ ] AUTH1: login",
        "docs/AUTH1.md is done",
        "https://example.com/AUTH1 is done",
        "UTF8 support is done, and SHA256 too",
        "AUTH1a is done",
        "abandoned AUTH1",
        "AUTH1 is undone",
        "",
    ],
)
def test_what_is_denied_asked_or_wished_for_is_no_claim(text):
    assert said(text) == []


@pytest.mark.parametrize(
    "text",
    [
        "AUTH1 is done, AUTH2 is not",
        "AUTH1 is done and AUTH2 is not",
        "AUTH1 is done but AUTH2 is not done",
        "AUTH1 is done; AUTH2 will be done next",
        "AUTH1 done, AUTH2 — not yet",
        "while AUTH1 is done, AUTH2 isn't",
        "| AUTH1 | done | AUTH2 | open |",
        "AUTH1 is done, I'll go on with AUTH2",
        "I looked at AUTH2. AUTH1 is done.",
    ],
)
def test_each_unit_is_spoken_of_by_itself(text):
    assert said(text) == [AUTH1]


def test_each_unit_is_named_once_by_its_strongest_rung():
    claims = extract(
        "AUTH1 is done\nDOS-CLAIM: AUTH AUTH1\nAUTH1 shipped\nAUTH2 shipped\nDOS-CLAIM: P X",
        plan="P",
        phase="X",
    )
    assert [(claim.plan, claim.phase, claim.rung) for claim in claims] == [
        ("P", "X", "frontmatter"),
        ("AUTH", "AUTH1", "marker"),
        ("AUTH", "AUTH2", "heuristic"),
    ]
    assert claims[0].to_dict() == {
        "plan": "P",
        "phase": "X",
        "rung": "frontmatter",
        "raw": "P X",
        "confident": True,
    }


@pytest.mark.parametrize(("plan", "phase"), [("P", ""), ("", "X"), ("P", "  "), (" ", " ")])
def test_half_a_name_names_nothing(plan, phase):
    assert extract("", plan=plan, phase=phase) == ()


NEGATIONS = ["not", "never", "almost", "not yet"]
LATER = ["once", "if", "when", "unless", "until", "as soon as"]
DONE = ["done", "shipped", "finished", "landed", "merged", "completed"]
units = st.builds(
    lambda letters, number: f"{letters}{number}",
    st.sampled_from(["AUTH", "BILL", "X_Y"]),
    st.integers(0, 999),
)


@given(
    unit=units,
    done=st.sampled_from(DONE),
    denied=st.sampled_from(NEGATIONS),
    later=st.sampled_from(LATER),
)
def test_a_denial_or_a_condition_takes_a_claim_away(unit, done, denied, later):
    assert [phase for _, phase in said(f"{unit} is {done}.")] == [unit]
    assert said(f"{unit} is {denied} {done}.") == []
    assert said(f"We go on {later} {unit} is {done}.") == []
    assert said(f"Is {unit} {done}?") == []


@given(text=st.text(), more=st.text(alphabet="AUTH12 donext,.?\n->*|DOS-CLAIM:"))
def test_any_text_is_read(text, more):
    for claim in extract(text + more):
        assert claim.plan and claim.phase and claim.rung in list(Rung)


@pytest.mark.sampled(3)
@pytest.mark.parametrize(
    "piece",
    [
        "AUTH1 ",
        "done ",
        "AUTH1 done ",
        "not ",
        "AUTH1, ",
        "AUTH1 and ",
        "A",
        "A_",
        "1",
        "> - ",
        "DOS-CLAIM: ",
        "DOS-CLAIM: a ",
        "unit ",
        "a/",
        "AUTH1/",
        "- ",
        "if ",
        "[x] ",
        "AUTH1 is done. ",
        ". ",
        "AUTH1\n",
        "Done:\n- AUTH1 done\n",
    ],
)
def test_the_time_grows_with_the_length_and_no_faster(piece):
    short, long = (piece * (length // len(piece)) for length in (25_000, 100_000))
    assert grows_less_than(
        10, extract, short, long
    )  # linear is four times, the square would be sixteen
