"""What an agent said last, from the conversations of five programs."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import json

from dos.claims.io import transcripts
from dos.claims.io.transcripts import Transcript, read
from dos.unknown import Unknown

CAPTURED = sorted((Path(__file__).parents[1] / "fixtures" / "agents").glob("*.jsonl"))


def said(text, message_id="", **more):
    return {
        "type": "assistant",
        "message": {"id": message_id, "role": "assistant", "content": text},
        **more,
    }


def block(kind, text="", message_id=""):
    return said([{"type": kind, "text": text}], message_id)


RESULT = {
    "type": "user",
    "message": {"role": "user", "content": [{"type": "tool_result", "content": "ok"}]},
}


@pytest.fixture
def written(tmp_path):
    def write(*records):
        path = tmp_path / "t.jsonl"
        lines = (
            record if isinstance(record, bytes) else json.encode(record) + b"\n"
            for record in records
        )
        path.write_bytes(b"".join(lines))
        return path

    return write


def test_captured_conversations_are_there():
    assert {path.stem.split("-")[0] for path in CAPTURED} == {
        "claude",
        "codex",
        "gemini",
        "opencode",
        "pi",
    }


@pytest.mark.parametrize("path", CAPTURED, ids=lambda path: path.stem)
def test_the_last_word_of_each_captured_conversation(path):
    found = read(path)
    assert isinstance(found, Transcript)
    if path.stem == "pi-ok":
        assert (found.text, found.results_after) == ("It is done.", 0)
    elif path.stem.startswith("pi"):  # its message of the failure holds no content
        assert (found.text, found.last.model, found.last.has_content) == ("", "m", False)
    elif path.stem.endswith("-ok"):
        assert (found.text, found.results_after) == ("Done. Shipped AUTH1 and AUTH2.", 0)
    elif path.stem == "claude-max-turns":
        assert (found.text, found.results_after) == ("", 1) and found.last.has_content
    elif path.stem in ("claude-budget", "claude-permission"):
        assert found.last.model.startswith("claude-")
    elif path.stem.startswith("claude"):
        assert found.last.model == "<synthetic>"
    else:
        assert found == Transcript()


@pytest.mark.parametrize(
    ("records", "turns", "texts"),
    [
        ([], 1, []),
        ([said("a"), said("b")], 1, ["b"]),
        ([said("a"), said("b"), said("c")], 2, ["b", "c"]),
        ([said("a"), said("b")], 9, ["a", "b"]),
        ([said("a"), block("tool_use"), RESULT], 1, ["a"]),
        ([said("a", "m"), block("tool_use", message_id="m"), said("b", "m")], 1, ["a\nb"]),
        ([said("a", "m"), said("b", "n")], 1, ["b"]),
        ([said("a", "m"), said("b", "n"), said("c", "n")], 2, ["a", "b\nc"]),
        (
            [said("a"), b"torn {\n", b"\xff\xfe\n", b"7\n", b"[1]\n", b"[" * 100_000 + b"\n"],
            1,
            ["a"],
        ),
        ([said("a"), json.encode(said("b"))[:-3]], 1, ["a"]),
        ([said("a"), json.encode(said("b"))], 1, ["b"]),
        ([said(["x", {"type": "text"}, {"type": "text", "text": 3}]), said("  ")], 1, []),
        (
            [{"message": {"role": "user", "content": "a"}}, {"message": 3}, {"item": 3, "part": 4}],
            1,
            [],
        ),
        (
            [
                {"type": "message", "role": "assistant", "content": c, "delta": True}
                for c in ("On", "e.")
            ],
            1,
            ["One."],
        ),
        (
            [
                {"type": "message", "role": "assistant", "content": "One.", "delta": True},
                {"type": "tool_result"},
                {"type": "message", "role": "assistant", "content": "Two.", "delta": True},
            ],
            2,
            ["One.", "Two."],
        ),
        ([{"type": "item.started", "item": {"type": "agent_message", "text": "a"}}], 1, []),
    ],
)
def test_messages_are_put_together_and_the_last_ones_are_kept(written, records, turns, texts):
    found = read(written(*records), last_turns=turns)
    assert [message.text for message in found.messages] == texts


def test_results_after_the_last_word_are_counted(written):
    assert read(written(RESULT, said("a"))).results_after == 0
    assert read(written(said("a"), RESULT, RESULT)).results_after == 2


@pytest.mark.parametrize(
    ("name", "why"),
    [("nowhere", "does not exist"), (".", "not a file"), ("a\0b", "does not exist")],
)
def test_what_cannot_be_read_is_unknown_and_not_empty(tmp_path, name, why):
    found = read(str(tmp_path / name))
    assert isinstance(found, Unknown) and why in found.why


def test_a_pipe_is_not_waited_for(tmp_path):
    import os

    os.mkfifo(tmp_path / "pipe")
    assert isinstance(read(tmp_path / "pipe"), Unknown)


def test_a_file_that_is_too_large_is_unknown(written, monkeypatch):
    monkeypatch.setattr(transcripts, "LARGEST", 10)
    assert isinstance(read(written(said("a"))), Unknown)


def test_a_line_that_is_too_long_is_passed_over(written, monkeypatch):
    monkeypatch.setattr(transcripts, "LONGEST_LINE", 1000)
    assert read(written(said("a"), said("b" * 5000), said("c")), last_turns=3).text == "a\nc"


@given(
    texts=st.lists(
        st.tuples(st.sampled_from(["a", "b", "", "x" * 90]), st.sampled_from(["", "m", "n"])),
        max_size=12,
    ),
    turns=st.integers(1, 4),
    tail=st.integers(50, 2000),
)
def test_the_end_of_a_file_tells_the_same_as_the_whole(tmp_path_factory, texts, turns, tail):
    path = tmp_path_factory.mktemp("t") / "t.jsonl"
    path.write_bytes(
        b"".join(json.encode(said(text, message_id)) + b"\n" for text, message_id in texts)
    )
    whole = read(path, last_turns=turns)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(transcripts, "TAIL", tail)
        assert read(path, last_turns=turns) == whole


@given(raw=st.binary(max_size=2000))
def test_any_bytes_are_read(tmp_path_factory, raw):
    path = tmp_path_factory.mktemp("t") / "t.jsonl"
    path.write_bytes(raw)
    assert isinstance(read(path), Transcript)
