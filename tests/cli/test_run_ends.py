"""How runs end: halts that are proposed, conversations that are cut back, last words that are no
answers."""

import os
import subprocess
import sys
from hashlib import sha256

import pytest
from commanding import command
from msgspec import json
from patience import PATIENCE
from run_histories import RUN

HALT_KEYS = {"recorded", "handle", "command", "lane", "loop_ts"}


def begin(dos, *words):
    return dos("run", "begin", "--run-id", RUN, "--goal", "g", "--step", "s1", *words)


def stored(dos, stream):
    return [
        (line["kind"], line["body"]) for line in dos("journal", "export", "--stream", stream).lines
    ]


# Halting


def test_a_halt_is_written_down_and_signals_nobody(dos, workspace):
    sleeper = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    try:
        answer = dos(
            "halt",
            "--handle",
            str(sleeper.pid),
            "--reason",
            "spin",
            "--command",
            f"kill {sleeper.pid}",
        )
        assert answer.code == 0 and answer.json.keys() == HALT_KEYS
        assert answer.json["recorded"] and answer.json["command"] == f"kill {sleeper.pid}"
        assert sleeper.poll() is None
        kind, fact = stored(dos, "halts")[0]
        assert (kind, fact["handle"], fact["reason"]) == ("halt_proposed", str(sleeper.pid), "spin")
    finally:
        sleeper.communicate(b"\n")


@pytest.mark.parametrize(("words", "reason"), [((), "halt"), (("--owner", "me"), "halt:me")])
def test_without_a_reason_it_says_who_asked(dos, workspace, words, reason):
    dos("halt", "--handle", "x", *words)
    assert stored(dos, "halts")[0][1]["reason"] == reason


@pytest.mark.parametrize(
    "words", [("--lane", "api"), ("--loop-ts", "T1"), ()], ids=["lane", "stamp", "process"]
)
def test_the_lease_that_is_meant_is_found(dos, workspace, words):
    taken = (
        "--lane",
        "api",
        "--owner",
        "A",
        "--loop-ts",
        "T1",
        "--run-id",
        RUN,
        "--pid",
        str(os.getpid()),
    )
    assert dos("lease-lane", "acquire", *taken).code == 0
    answer = dos("halt", "--handle", str(os.getpid()), *words)
    assert (answer.json["lane"], answer.json["loop_ts"]) == ("api", "T1")
    assert [kind for kind, _ in stored(dos, f"run/{RUN}")] == ["halt_proposed"]


def test_a_resumable_halt_puts_the_run_aside(dos, workspace):
    begin(dos)
    dos("resume", "--run-id", RUN)
    answer = dos("halt", "--handle", "x", "--run-id", RUN, "--resumable", "--resume-sha", "HEAD")
    assert answer.code == 0 and answer.json.keys() == HALT_KEYS | {"suspended", "suspend_note"}
    assert answer.json["suspended"] and RUN in answer.json["suspend_note"]
    reply = dos("resume", "--run-id", RUN, "--json").json
    assert reply["proposed_now"] and "suspended" in reply["reason"]


def test_without_a_run_nothing_is_put_aside(dos, workspace):
    answer = dos("halt", "--handle", "x", "--resumable")
    assert answer.code == 0 and answer.json["recorded"] and not answer.json["suspended"]


@pytest.mark.parametrize(
    "words",
    [
        (),
        ("--handle", ""),
        ("--handle", "x", "--run-id", "../../../x"),
        ("--handle", "x", "--resume-sha", "nowhere"),
        ("--handle", "a\nb"),
    ],
    ids=str,
)
def test_a_halt_that_means_nothing_is_an_error(dos, state, words):
    assert dos("halt", *words).code == 2
    assert not state.exists()


# Rewinding

TURNS = ['{"turn": 0}', "", '{"turn":   1}', "not even JSON", '{"turn": 3}']


@pytest.fixture
def transcript(workspace):
    path = workspace / "transcript.jsonl"
    path.write_text("\n".join(TURNS) + "\n")
    return path


def suspend(dos, transcript, *words):
    return dos("run", "suspend", RUN, "--transcript", str(transcript), *words, "--json")


def test_a_turn_is_stamped_and_the_conversation_cut_back_to_it(dos, transcript):
    begin(dos)
    stamped = suspend(dos, transcript, "--checkpoint-turn", "1").json
    assert stamped["transcript_digest"] == sha256(TURNS[2].encode()).hexdigest()
    answer = dos("rewind", "--run-id", RUN, "--fire", "THRASHING", "--json")
    assert (answer.code, answer.json["verdict"], answer.json["rewind_to_turn"]) == (0, "REWIND", 1)
    assert answer.json["dropped_turns"] == [2, 3]


def test_the_last_turn_is_stamped_when_none_is_named(dos, transcript):
    begin(dos)
    assert suspend(dos, transcript).json["checkpoint_turn"] == 3


def test_a_conversation_that_goes_on_is_still_anchored_and_one_that_was_rewritten_is_not(
    dos, transcript
):
    begin(dos)
    suspend(dos, transcript, "--checkpoint-turn", "1")
    with transcript.open("a") as file:
        file.write('{"turn": 4}\n')
    assert dos("rewind", "--run-id", RUN, "--fire", "STARVED", "--json").json["dropped_turns"] == [
        2,
        3,
        4,
    ]
    transcript.write_text(transcript.read_text().replace('{"turn":   1}', '{"turn": 1}'))
    assert dos("rewind", "--run-id", RUN, "--fire", "STARVED").code == 3
    transcript.unlink()
    assert dos("rewind", "--run-id", RUN, "--fire", "STARVED").code == 3


@pytest.mark.parametrize(
    ("words", "code", "verdict"),
    [
        ((), 0, "NO_REWIND"),
        (("--fire", "DIVERGED"), 3, "UNANCHORED"),
    ],
)
def test_without_a_stamp_there_is_nothing_to_cut_back_to(dos, workspace, words, code, verdict):
    begin(dos)
    answer = dos("rewind", "--run-id", RUN, *words, "--json")
    assert (answer.code, answer.json["verdict"], answer.json["run_id"]) == (code, verdict, RUN)


def test_the_note_names_what_was_claimed_and_is_not_so(dos, transcript):
    begin(dos)
    dos("run", "claim", RUN, "s1")
    suspend(dos, transcript)
    note = dos("rewind", "--run-id", RUN, "--fire", "DIVERGED", "--json").json["no_good_note"]
    assert [token["kind"] for token in note["tokens"]] == ["DIVERGED", "VERIFY_NOT_SHIPPED"]
    assert note["env_excerpt"] == "" and len(note["lines"]) == 2


@pytest.mark.parametrize("words", [("--checkpoint-turn", "4"), ("--checkpoint-turn", "-1")])
def test_a_turn_that_is_not_there_cannot_be_stamped(dos, transcript, words):
    begin(dos)
    before = dos("journal", "seq").out
    answer = dos("run", "suspend", RUN, "--transcript", str(transcript), *words)
    assert answer.code == 2 and "4 turns" in answer.err
    assert dos("journal", "seq").out == before


@pytest.mark.parametrize("words", [("--fire", "BORED"), ("--fire", "")])
def test_only_the_three_causes_are_taken(dos, workspace, words):
    assert dos("rewind", "--run-id", RUN, *words).code == 2


# Last words


def said(text="done", model="m", **top):
    return {
        "type": "assistant",
        "message": {"role": "assistant", "model": model, "content": text},
        **top,
    }


def blocks(*found):
    return said(text=list(found))


ASKED = {"type": "user", "message": {"role": "user", "content": "go"}}
LIMIT = said("API Error: 429", model="<synthetic>", isApiErrorMessage=True, apiErrorStatus="429")


@pytest.mark.parametrize(
    ("records", "state", "code", "cause"),
    [
        ([ASKED, said()], "HEALTHY", 0, "NONE"),
        ([ASKED, blocks({"type": "text", "text": "done"})], "HEALTHY", 0, "NONE"),
        ([ASKED, blocks({"type": "tool_use", "name": "x"})], "HEALTHY", 0, "NONE"),
        ([ASKED, blocks({"type": "thinking", "thinking": "x"})], "HEALTHY", 0, "NONE"),
        ([ASKED], "EMPTY", 3, "NONE"),
        ([], "EMPTY", 3, "NONE"),
        ([said("  ")], "EMPTY", 3, "NONE"),
        ([blocks()], "EMPTY", 3, "NONE"),
        ([said(), LIMIT], "SYNTHETIC", 3, "RATE_LIMIT"),
        ([LIMIT, said()], "HEALTHY", 0, "NONE"),
        ([said(), LIMIT, ASKED], "SYNTHETIC", 3, "RATE_LIMIT"),
        ([said(), "torn {", 7, [1], {"message": 3}], "HEALTHY", 0, "NONE"),
        ([said("x", isApiErrorMessage=True, apiErrorStatus=True)], "SYNTHETIC", 3, "OTHER"),
        ([said("x", isApiErrorMessage=True, apiErrorStatus=401)], "SYNTHETIC", 3, "AUTH"),
    ],
)
def test_the_last_word_decides(dos, workspace, records, state, code, cause):
    path = workspace / "t.jsonl"
    lines = [
        record if isinstance(record, str) else json.encode(record).decode() for record in records
    ]
    path.write_text("\n".join(lines) + "\n")
    answer = dos("verify-result", "--transcript", str(path), "--json")
    reply = answer.json
    assert (answer.code, reply["state"], reply["class"], reply["dead"]) == (
        code,
        state,
        cause,
        code == 3,
    )
    assert reply["envelope"]["verdict"] == ("WEDGE" if code else "LIVE")
    assert reply.keys() == {"state", "dead", "class", "api_status", "reason", "envelope"}
    text = dos("verify-result", "--transcript", str(path)).out
    assert text.startswith(f"DEAD {state}" if code else f"{state} {state}") and " — " in text


@pytest.mark.parametrize("path", ["nowhere.jsonl", "api"])
def test_a_transcript_that_cannot_be_read_calls_nobody_dead(dos, workspace, path):
    answer = dos("verify-result", "--transcript", path, "--json")
    assert (answer.code, answer.json["state"], answer.json["dead"]) == (2, "UNREADABLE", False)
    assert answer.json["envelope"] == {"all_clear": False, "verdict": "UNCLEAR"}
    assert answer.err.startswith(f"error: '{path}': ") and "hint: " in answer.err


@pytest.mark.parametrize(
    ("event", "code"),
    [
        (b"", 2),
        (b"  \n", 2),
        (b"{", 2),
        (b"[]", 2),
        (b'{"transcript_path": 3}', 2),
        (b'{"session_id": "s"}', 2),
        (b"[" * 100_000, 2),
        (b'{"transcript_path": "t.jsonl"}', 3),
    ],
    ids=["nothing", "blank", "torn", "list", "number", "no path", "deep", "event"],
)
def test_the_event_of_a_hook_names_the_transcript(workspace, event, code):
    (workspace / "t.jsonl").write_bytes(json.encode(LIMIT) + b"\n")
    done = subprocess.run(
        command("verify-result"), cwd=workspace, input=event, capture_output=True, timeout=PATIENCE
    )
    assert done.returncode == code, done
    assert b"Traceback" not in done.stderr and b"bug in dos" not in done.stderr
