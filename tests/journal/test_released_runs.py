"""Intent ledgers of released versions, read into the streams of their runs."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from lease_histories import memory_store
from log_files import exported, moved, written

from dos.journal import run_state, streams
from dos.journal.backend import Entry, encode_body
from dos.journal.events import runs
from dos.journal.events.envelope import Event
from dos.journal.events.reader import decode
from dos.journal.transfer import intent_ledger
from dos.journal.transfer.transfer import import_lines

ID, OTHER = "RID-000000001000002", "RID-000000001000003"
TAG = {"family": "intent-ledger", "version": 1}


def record(op, **fields):
    return {"op": op, "run_id": ID, "schema": TAG, **fields}


def ledger(tmp_path, records, folder=ID, name="intent.jsonl"):
    (tmp_path / folder).mkdir(exist_ok=True)
    return written(tmp_path / folder / name, records)


@pytest.mark.parametrize(
    ("said", "fact"),
    [
        (
            record(
                "INTENT", goal="g", plan="P", phase="F", start_sha="a", declared_steps=["s1"],
                step_regions={"s1": ["x/**"]}, env={"host": "h"},
            ),
            runs.IntentDeclared(
                run_id=ID, goal="g", plan="P", phase="F", start_sha="a", steps=["s1"],
                regions={"s1": ["x/**"]}, env={"host": "h"},
            ),
        ),
        (
            record("INTENT", goal=3, declared_steps="s1", step_regions=[1], env=[]),
            runs.IntentDeclared(run_id=ID),
        ),
        (record("STEP_CLAIMED", step_id="s1", sha="a"),
            runs.StepClaimed(run_id=ID, step="s1", sha="a")),
        (record("STEP_CLAIMED", sha="a"), None),
        (
            record("STEP_VERIFIED", step_id="s1", sha="a", via="file-path", verdicts=["ok", 3]),
            runs.StepVerified(run_id=ID, step="s1", sha="a", via="file-path", verdicts=["ok"]),
        ),
        (record("SUSPEND", sha="a"), runs.RunSuspended(run_id=ID, resume_sha="a")),
        (
            record("SUSPEND", sha="a", resume_sha="b", checkpoint_turn=3, transcript_digest="d"),
            runs.RunSuspended(run_id=ID, resume_sha="b", checkpoint_turn=3, transcript_digest="d"),
        ),
        (record("SUSPEND", checkpoint_turn="3"), runs.RunSuspended(run_id=ID)),
        (record("SUSPEND", checkpoint_turn=True), runs.RunSuspended(run_id=ID)),
        (
            record("RESUME_PROPOSED", predecessor_run_id=OTHER, residual=["s2"]),
            runs.ResumeProposed(run_id=ID, predecessor=OTHER, residual=["s2"]),
        ),
        (record("NOVELTY"), None),
        ({}, None),
    ],
)  # fmt: skip
def test_a_record_is_a_fact_of_its_run(said, fact):
    assert intent_ledger.fact_from_record(said, ID) == fact


anything = (
    st.none()
    | st.booleans()
    | st.integers(-5, 5)
    | st.text(max_size=3)
    | st.lists(st.text(max_size=2), max_size=2)
)
names = (
    "goal", "plan", "phase", "start_sha", "declared_steps", "step_regions", "env", "step_id", "sha",
    "via", "verdicts", "reason", "resume_sha", "residual", "checkpoint_turn", "transcript_digest",
    "predecessor_run_id", "ts", "run_id",
)  # fmt: skip
wild = st.fixed_dictionaries(
    {"op": st.sampled_from(sorted(intent_ledger.OPS)) | anything},
    optional={
        name: anything | st.dictionaries(st.text(max_size=2), anything, max_size=2)
        for name in names
    },
)


@given(said=wild)
def test_whatever_a_record_holds_its_fact_can_be_stored_and_read(said):
    found = intent_ledger.fact_from_record(said, ID)
    intent_ledger.ledger_run_id(said)
    at_ms = intent_ledger.written_ms(said)
    assert at_ms is None or at_ms >= 0
    if found is None:
        return
    raw = encode_body(Entry(stream=run_state.stream(ID), kind=found.kind, body=found), "")
    stored = Event(
        pos=1,
        stream=run_state.stream(ID),
        ver=1,
        kind=found.kind,
        at_ms=0,
        actor="",
        fence=None,
        key=None,
        schema=1,
        raw=raw,
    )
    assert decode(stored) == found


@pytest.mark.parametrize(
    ("text", "at_ms"),
    [
        ("1970-01-01T00:00:01Z", 1000),
        ("2026-01-02T03:04Z", 1767323040000),
        ("soon", None),
        ("", None),
        ("1960-01-01", None),
    ],
)
def test_a_record_keeps_its_time(text, at_ms):
    assert intent_ledger.written_ms({"ts": text}) == at_ms


def test_the_lines_are_kept_beside_what_they_say(tmp_path):
    store = memory_store()
    path = ledger(
        tmp_path,
        [
            record("INTENT", goal="g", ts="2026-01-02T03:04:05Z"),
            record("STEP_CLAIMED", step_id="s1"),
        ],
    )
    assert import_lines(store, path).events == 4
    assert [event.kind for event in store.load(f"import/{ID}/intent.jsonl")] == [
        "line_imported"
    ] * 2
    loaded = store.load(run_state.stream(ID))
    assert [event.kind for event in loaded] == ["intent_declared", "step_claimed"]
    assert loaded[0].at_ms == 1767323045000
    before = store.last()
    assert import_lines(store, path).events == 0
    assert store.last() == before


@pytest.mark.parametrize(
    ("folder", "name", "records", "run"),
    [
        (
            ID,
            "intent.jsonl",
            [{"op": "INTENT", "goal": "g"}],
            ID,
        ),  # an untagged record, by its folder
        (
            "elsewhere",
            "saved.jsonl",
            [record("INTENT", goal="g")],
            ID,
        ),  # any file, by what its records say
        (ID, "intent.jsonl", [record("INTENT", goal="g", run_id=OTHER)], OTHER),
        ("elsewhere", "intent.jsonl", [{"op": "INTENT", "goal": "g"}], ""),
        (ID, "lane-journal.jsonl", [{"op": "INTENT", "goal": "g"}], ""),
        ("elsewhere", "saved.jsonl", [record("INTENT", goal="g", run_id="../x")], ""),
    ],
)
def test_which_run_a_ledger_is_about(tmp_path, folder, name, records, run):
    store = memory_store()
    import_lines(store, ledger(tmp_path, records, folder, name))
    with store.backend.read() as view:
        assert view.streams("run/") == ([f"run/{run}"] if run else [])


@pytest.mark.parametrize(
    ("line", "unreadable", "newer"),
    [
        ("garbage", 1, False),
        (
            {"op": "INTENT", "goal": "x", "schema": {"family": "intent-ledger", "version": 2}},
            1,
            True,
        ),
        ({"op": "INTENT", "goal": "x", "schema": {"family": "recipes", "version": 1}}, 1, False),
        (
            {"op": "INTENT", "goal": "x", "schema": {"family": "lane-journal", "version": 1}},
            1,
            False,
        ),
        ("[1]", 0, False),
        ("", 0, False),
    ],
)
def test_a_line_that_cannot_be_read_is_counted_and_says_nothing(tmp_path, line, unreadable, newer):
    store = memory_store()
    import_lines(
        store, ledger(tmp_path, [record("INTENT", goal="g"), line, record("INTENT", plan="P")])
    )
    run = run_state.read(store, ID)
    assert (run.goal, run.plan) == ("g", "P")
    assert (run.unreadable_lines, run.unreadable_newer) == (unreadable, newer)


def test_a_run_that_was_exported_and_imported_is_the_same_run(tmp_path):
    source, target = memory_store(), memory_store()
    import_lines(
        source,
        ledger(
            tmp_path,
            [record("INTENT", goal="g", declared_steps=["s1"]), "garbage", record("SUSPEND")],
        ),
    )
    import_lines(target, moved(tmp_path, source))
    assert run_state.read(target, ID) == run_state.read(source, ID)
    assert [line["kind"] for line in exported(target, stream=streams.run(ID))] == [
        "intent_declared", "ledger_line_unreadable", "run_suspended",
    ]  # fmt: skip
