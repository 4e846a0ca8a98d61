"""A run is judged by what landed and by signs of life, never by what it says of itself."""

import msgspec
import pytest
from amounts import EXAMPLES
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec import structs

from dos.loop.verdicts.liveness import Answer, Evidence, Policy, Verdict, judge
from dos.unknown import Unknown

MINUTE = 60_000
NOW = 1_800_000_000_000
RANK = [Answer.STALLED, Answer.SPINNING, Answer.ADVANCING]


def seen(*, age=120 * MINUTE, commits=0, events=0, progress=None, beat=None, alive=None, **more):
    return Evidence(
        run_started_ms=NOW - age,
        now_ms=NOW,
        commits_since_start=commits,
        journal_events_since=events,
        progress_age_ms=progress,
        last_heartbeat_age_ms=beat,
        process_alive=alive,
        **more,
    )


TABLE = [
    # Progress counts while it is inside of the window, whatever else is known.
    (seen(commits=1, progress=0), Answer.ADVANCING),
    (seen(commits=1, progress=30 * MINUTE), Answer.ADVANCING),
    (seen(commits=1, progress=30 * MINUTE, beat=90 * MINUTE), Answer.ADVANCING),
    (seen(events=1, progress=10 * MINUTE), Answer.ADVANCING),
    (seen(commits=1, progress=10 * MINUTE, lapsed=True), Answer.ADVANCING),
    # One commit is no proof for ever: when it is old, signs of life decide.
    (seen(commits=1, progress=30 * MINUTE + 1), Answer.STALLED),
    (seen(commits=1, progress=31 * MINUTE, beat=0), Answer.SPINNING),
    (seen(events=1, progress=31 * MINUTE, beat=0), Answer.SPINNING),
    # Nobody said when: it was made since the run began.
    (seen(commits=1, age=30 * MINUTE), Answer.ADVANCING),
    (seen(events=1, age=30 * MINUTE), Answer.ADVANCING),
    (seen(commits=1, age=31 * MINUTE, beat=0), Answer.SPINNING),
    # Too young to accuse, also if it has not beaten yet.
    (seen(beat=15 * MINUTE, age=29 * MINUTE), Answer.ADVANCING),
    (seen(age=1000), Answer.ADVANCING),
    (seen(age=1000, alive=True), Answer.ADVANCING),
    (seen(age=29 * MINUTE), Answer.ADVANCING),
    (seen(age=-5 * MINUTE), Answer.ADVANCING),
    # Past its grace.
    (seen(beat=15 * MINUTE, age=30 * MINUTE), Answer.SPINNING),
    (seen(beat=0), Answer.SPINNING),
    (seen(age=30 * MINUTE), Answer.STALLED),
    # A process that is there is not dead, however silent; what it does not do is land anything.
    (seen(age=30 * MINUTE, alive=True), Answer.SPINNING),
    (seen(beat=15 * MINUTE + 1, alive=True), Answer.SPINNING),
    (seen(commits=1, progress=31 * MINUTE, beat=31 * MINUTE, alive=True), Answer.SPINNING),
    (seen(beat=16 * MINUTE, age=16 * MINUTE, alive=True), Answer.ADVANCING),
    # No sign of life.
    (seen(beat=15 * MINUTE + 1, age=16 * MINUTE), Answer.STALLED),
    (seen(beat=15 * MINUTE + 1), Answer.STALLED),
    (seen(beat=0, age=3 * MINUTE, lapsed=True), Answer.STALLED),
    # A process that is gone outranks everything that it left behind.
    (seen(beat=0, alive=False), Answer.STALLED),
    (seen(beat=0, age=1000, alive=False), Answer.STALLED),
    (seen(commits=1, progress=0, beat=0, alive=False), Answer.STALLED),
    # What could not be read accuses nobody and acquits nobody.
    (seen(commits=Unknown("git is not there")), Answer.UNKNOWN),
    (seen(commits=Unknown("git is not there"), age=1000, beat=0), Answer.UNKNOWN),
    (seen(commits=Unknown("git is not there"), alive=False), Answer.UNKNOWN),
    (seen(commits=Unknown("git is not there"), events=1, progress=0), Answer.UNKNOWN),
]


@pytest.mark.parametrize(("evidence", "answer"), TABLE)
def test_the_answer(evidence, answer):
    verdict = judge(evidence)
    assert verdict.answer is answer
    assert verdict.reason
    assert verdict.evidence is evidence


@pytest.mark.parametrize(
    ("evidence", "reason"),
    [
        (
            seen(commits=1, progress=31 * MINUTE, beat=20_000),
            "alive 20 s ago, and nothing has landed for 31 min",
        ),
        (seen(beat=5 * 60 * MINUTE), "the last sign of life is 5.0 h old, and nothing has landed"),
        (seen(commits=Unknown("no such object")), "progress could not be read: no such object"),
        (seen(alive=False), "its process is gone"),
        (seen(lapsed=True), "its lease is over, and nothing has landed"),
    ],
)
def test_the_reason_says_what_was_seen(evidence, reason):
    assert judge(evidence).reason == reason


def lived(minute, commits, beats_until, died_at=None):
    """A run after some minutes: its commits, its heartbeats, and the end of its process."""
    made = [at for at in commits if at <= minute]
    beat = min(minute, beats_until)
    return judge(
        Evidence(
            run_started_ms=NOW,
            now_ms=NOW + minute * MINUTE,
            commits_since_start=len(made),
            progress_age_ms=(minute - made[-1]) * MINUTE if made else None,
            last_heartbeat_age_ms=(minute - beat) * MINUTE,
            process_alive=died_at is None or minute < died_at,
        )
    ).answer


def test_a_worker_that_commits_every_few_minutes_advances_for_two_hours():
    commits = range(4, 121, 4)
    assert {lived(minute, commits, beats_until=120) for minute in range(121)} == {Answer.ADVANCING}


def test_one_that_stopped_committing_spins_31_minutes_later_and_not_before():
    story = [lived(minute, range(4, 61, 4), beats_until=200) for minute in range(200)]
    assert story[: 60 + 31] == [Answer.ADVANCING] * 91
    assert story[60 + 31 :] == [Answer.SPINNING] * 109


@pytest.mark.parametrize("died_at", [1, 45, 100])
def test_one_that_died_stalls_at_once_and_not_before(died_at):
    story = [
        lived(minute, range(4, 121, 4), beats_until=died_at, died_at=died_at)
        for minute in range(121)
    ]
    assert story[:died_at] == [Answer.ADVANCING] * died_at
    assert story[died_at:] == [Answer.STALLED] * (121 - died_at)


def test_the_policy_moves_the_borders():
    policy = Policy(grace_minutes=1, spin_minutes=2, window_minutes=3)
    assert judge(seen(commits=1, progress=3 * MINUTE), policy).answer is Answer.ADVANCING
    assert (
        judge(seen(commits=1, progress=4 * MINUTE, beat=2 * MINUTE), policy).answer
        is Answer.SPINNING
    )
    assert judge(seen(beat=2 * MINUTE + 1), policy).answer is Answer.STALLED
    assert judge(seen(age=MINUTE - 1), policy).answer is Answer.ADVANCING


@pytest.mark.parametrize("name", ["grace_minutes", "spin_minutes", "window_minutes"])
@pytest.mark.parametrize("value", [-1, 1 << 62])
def test_a_policy_of_impossible_numbers_is_refused(name, value):
    with pytest.raises(ValueError, match=name):
        Policy(**{name: value})


@pytest.mark.parametrize(
    "bad",
    [{"commits": -1}, {"events": -1}, {"beat": -1}, {"progress": -1}, {"tokens_spent_since": -1}],
)
def test_impossible_evidence_is_refused(bad):
    with pytest.raises(ValueError, match="below 0"):
        seen(**bad)


def test_the_json_has_the_known_keys():
    shown = msgspec.to_builtins(judge(seen(commits=2, progress=5)))
    assert shown.keys() == {"verdict", "reason", "evidence"}
    released = {
        "run_started_ms",
        "now_ms",
        "commits_since_start",
        "journal_events_since",
        "last_heartbeat_age_ms",
    }
    released |= {"process_alive", "tokens_spent_since"}
    assert shown["evidence"].keys() == released | {"progress_age_ms", "lapsed"}


@pytest.mark.parametrize("verdict", [judge(evidence) for evidence, _ in TABLE])
def test_a_verdict_survives_json(verdict):
    assert msgspec.json.decode(msgspec.json.encode(verdict), type=Verdict) == verdict


def test_the_token_alone_is_a_verdict():
    assert msgspec.json.decode(b'{"verdict":"SPINNING"}', type=Verdict).answer is Answer.SPINNING


ages = st.integers(0, 200 * MINUTE)
anything = st.builds(
    seen,
    age=ages,
    commits=st.integers(0, 3) | st.just(Unknown("unread")),
    events=st.integers(0, 3),
    progress=st.none() | ages,
    beat=st.none() | ages,
    alive=st.none() | st.booleans(),
    tokens_spent_since=st.none() | st.integers(0, 10**9),
    lapsed=st.booleans(),
)


def progress_never_harms(evidence, younger):
    before = judge(evidence).answer
    more = structs.replace(
        evidence,
        commits_since_start=evidence.commits_since_start
        if isinstance(evidence.commits_since_start, Unknown)
        else evidence.commits_since_start + 1,
        progress_age_ms=min(
            younger,
            evidence.age_ms if evidence.progress_age_ms is None else evidence.progress_age_ms,
        ),
    )
    after = judge(more).answer
    if before is Answer.UNKNOWN:
        assert after is Answer.UNKNOWN
    else:
        assert RANK.index(after) >= RANK.index(before)


def its_own_word_is_nothing(evidence, tokens):
    assert (
        judge(structs.replace(evidence, tokens_spent_since=tokens)).answer is judge(evidence).answer
    )


def what_nobody_knows_changes_nothing(evidence):
    """That a process is there proves that it lives, and never that it gets anywhere."""
    if evidence.process_alive is not False and not isinstance(
        evidence.commits_since_start, Unknown
    ):
        unknown = judge(structs.replace(evidence, process_alive=None)).answer
        there = judge(structs.replace(evidence, process_alive=True)).answer
        assert there is unknown or unknown is Answer.STALLED
        assert there is not Answer.STALLED or evidence.lapsed
    assert (
        judge(structs.replace(evidence, tokens_spent_since=None)).answer is judge(evidence).answer
    )


def unread_is_unknown_and_nothing_else(evidence):
    unread = isinstance(evidence.commits_since_start, Unknown)
    assert (judge(evidence).answer is Answer.UNKNOWN) == unread


LAWS = [
    (progress_never_harms, (anything, ages)),
    (its_own_word_is_nothing, (anything, st.integers(0, 10**12))),
    (what_nobody_knows_changes_nothing, (anything,)),
    (unread_is_unknown_and_nothing_else, (anything,)),
]


@pytest.mark.parametrize(("law", "drawn"), LAWS, ids=lambda part: getattr(part, "__name__", ""))
@given(data=st.data())
def test_a_law_of_liveness_holds(law, drawn, data):
    law(*map(data.draw, drawn))


@pytest.mark.soak
@pytest.mark.parametrize(("law", "drawn"), LAWS, ids=lambda part: getattr(part, "__name__", ""))
@settings(max_examples=EXAMPLES, deadline=None)
@given(data=st.data())
def test_a_law_of_liveness_holds_for_long(law, drawn, data):
    law(*map(data.draw, drawn))
