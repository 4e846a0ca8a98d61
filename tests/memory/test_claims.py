"""What a note claims of the repository, and what it only says in passing."""

import pytest
from growth import grows_less_than
from hypothesis import given
from hypothesis import strategies as st

from dos.memory.claims import Polarity, find_claims
from dos.memory.note import Note, parse
from dos.memory.verdict import Answer, Finding, Status, in_order, judge

SHA = "1a2b3c4"
FULL = "1a2b3c4d5e6f" * 3 + "1a2b"


def told(text):
    return [(claim.raw, str(claim.polarity)) for claim in find_claims(text)]


@pytest.mark.parametrize(
    ("text", "claims"),
    [
        (f"Fixed in {SHA}.", [(SHA, "shipped")]),
        (f"The race was fixed by commit `{FULL}`", [(FULL, "shipped")]),
        (f"Merged as {SHA}; see also 9f8e7d6", [(SHA, "shipped")]),
        (f"The race was fixed ({SHA}).", []),
        (f"Look at {SHA} for an example", []),
        (f"It will be fixed in {SHA}", []),
        (f"It was not fixed in {SHA}", []),
        ("Fixed in abcdefa", []),  # a word could look like this
        (f"Fixed in {SHA}9", []),
        (f"Shipped {'x' * 45} {SHA}", []),
        (f"Shipped. See {SHA}", []),
        ("Created src/api/login.py.", [("src/api/login.py", "present")]),
        ("`src/a.py` was removed", [("src/a.py", "absent")]),
        ("Added src/a.py and removed src/b.py", [("src/a.py", "present"), ("src/b.py", "absent")]),
        ("src/removed.py was added", [("src/removed.py", "present")]),
        ("src/never.py was added", [("src/never.py", "present")]),
        (
            "src/a.py was removed and src/b.py was added",
            [("src/a.py", "absent"), ("src/b.py", "present")],
        ),
        ("docs/old/ is gone now", [("docs/old", "absent")]),
        ("tests/x.py does not exist", [("tests/x.py", "absent")]),
        ("The entry point is src/main.py", [("src/main.py", "neutral")]),
        ("We should have removed src/a.py", [("src/a.py", "neutral")]),
        ("src/a.py was not removed", [("src/a.py", "neutral")]),
        ("To be created: src/a.py", [("src/a.py", "neutral")]),
        ("Created lib/a.py and asrc/b.py and ../src/c.py", []),
        ("Created src/../../etc/passwd", []),
        ("Created src/**/x and src/*.py", []),
        ("Created src/a.py:12", []),  # a place
        ("`import os` was added in app/a.py:3", [("import os", "present")]),
        ("app/a.py:3 no longer has `--strict`", [("--strict", "absent")]),
        ("app/a.py:3 contains `from a import b`", [("from a import b", "present")]),
        ("`--strict` is a flag of app/a.py:3", [("--strict", "neutral")]),
        ("`--strict` was removed", []),  # nowhere
        ("--strict was removed from app/a.py:3", []),  # no code
        ("```\nremoved src/a.py\n```\nprose", []),
        ("- src/a.py is gone\n- added src/b.py", [("src/a.py", "absent"), ("src/b.py", "present")]),
        ("The file\nsrc/a.py\nwas removed.", [("src/a.py", "absent")]),
        ("", []),
    ],
)  # fmt: skip
def test_what_is_claimed(text, claims):
    assert told(parse(text, "x").body) == claims


@given(st.text(max_size=300))
def test_no_text_breaks_the_reader(text):
    for claim in find_claims(parse(text, "x").body):
        assert claim.raw and claim.polarity in Polarity
        assert ".." not in claim.target_file.split("/") and not claim.target_file.startswith("/")


@pytest.mark.parametrize(
    ("text", "note"),
    [
        ("body", Note(name="stem", body="body")),
        (
            "---\nname: login\nmetadata:\n  type: project  # x\n---\nbody\n",
            Note(name="login", type="project", body="body"),
        ),
        ("---\ntype: 'user'\n---\n", Note(name="stem", type="user")),
        ("---\nnever closed", Note(name="stem", body="---\nnever closed")),
        ("> RECALL_STALE: x\n> more\n\nbody", Note(name="stem", body="\nbody")),
        ("> a quotation\n\nbody", Note(name="stem", body="> a quotation\n\nbody")),
        ("\ufeff---\r\nname: a\r\n---\r\nbody\r\n", Note(name="a", body="body")),
    ],
)
def test_a_note_is_read_with_its_front_matter(text, note):
    assert parse(text, "stem") == note


CLAIM = find_claims("Created src/a.py")[0]
FINDINGS = st.lists(
    st.builds(
        Finding,
        claim=st.just(CLAIM),
        status=st.sampled_from(Status),
        ground_truth=st.just("x"),
        source=st.just("tree"),
    ),
    max_size=5,
)
NOTES = st.builds(
    Note, name=st.text("ab", min_size=1), type=st.sampled_from(("", "user", "Feedback", "project"))
)


@given(NOTES, FINDINGS)
def test_one_contradiction_is_enough_and_an_opinion_is_never_judged(note, findings):
    verdict = judge(note, findings)
    statuses = {finding.status for finding in findings}
    if note.type.lower() in ("user", "feedback"):
        assert verdict.answer is Answer.UNVERIFIABLE
    elif Status.CONTRADICTS in statuses:
        assert verdict.answer is Answer.STALE and verdict.culprit == "src/a.py"
    elif Status.CONFIRMS in statuses:
        assert verdict.answer is Answer.FRESH
    else:
        assert verdict.answer is Answer.UNVERIFIABLE
    assert (verdict.culprit is None) == (verdict.answer is not Answer.STALE)


@given(st.lists(st.tuples(NOTES, FINDINGS), max_size=6))
def test_a_sweep_shows_what_is_stale_first(rows):
    shown = in_order([judge(note, findings) for note, findings in rows])
    keys = [(list(Answer).index(verdict.answer), verdict.memory) for verdict in shown]
    assert keys == sorted(keys)


LONG = {
    "paths": "src/a{number}.py was removed, ",
    "paths that are planned": "src/a{number}.py will be added, ",
    "tokens and places": "`--flag-{number}` was added in src/a.py:{number}, ",
    "commits": "fixed in `{number:07x}`, ",
    "one long name": "x" * 40,
    "dots": "a.b/",
    "backticks": "`x` `",
    "cues": "was removed was added ",
    "fences": "```\nx\n~~~\n",
    "blank lines": "\n \n",
    "brackets": "src/a.py)))))))) ",
}


@pytest.mark.parametrize("piece", LONG.values(), ids=LONG)
def test_a_long_note_takes_time_by_its_length(piece):
    """One clause of any length: an agent writes what is read here."""

    def note_of(count):
        return "".join(piece.format(number=number) for number in range(count))

    def read(text):
        return find_claims(parse(text, "n").body)

    assert grows_less_than(30, read, note_of(200), note_of(2_000))
