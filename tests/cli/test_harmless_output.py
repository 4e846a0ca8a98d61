"""Whatever is in a name or a message, a terminal shows it and does not act on it."""

import re

import pytest
from commanding import in_its_own_process
from msgspec import json
from test_terminal import at_a_terminal

from dos import workspace as places
from dos.doctor import view
from dos.journal.events.fleet import LaneFailed, RunStopped, WorkSalvaged
from dos.journal.events.lanes import LeaseRefused
from dos.lease import Request
from dos.regions import region
from dos.verbs import lookup
from dos.verbs.context import escape_control_characters
from dos.verbs.listing.table import VERBS
from dos.world import open_journal

NASTY = "x\x1b]0;owned\x07\x1b[2J\u202egpj.exe\x9b31m\x7f\u2066y"
NASTY_LANE = "l\u202eane\u200b"  # nothing forbids these in a file
ACTS = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b\u2028-\u202e\u2066-\u2069]")


@pytest.fixture
def nasty(workspace):
    """A workspace where somebody else's program has written whatever it liked."""
    config = workspace / "dos.toml"
    tree = f'"{NASTY_LANE}" = ["n/**"]'
    text = (
        config.read_text()
        .replace("[lanes.trees]", f"[lanes.trees]\n{tree}")
        .replace('"api", ', f'"{NASTY_LANE}", "api", ')
    )
    config.write_text(text)
    with open_journal(places.find(workspace), "") as journal:
        for lane in (NASTY_LANE, "api"):
            asked = Request(
                lane=lane,
                holder=NASTY,
                host=NASTY,
                ttl_ms=10**8,
                region=region([f"{lane}/**"]),
                run_id="R",
            )
            journal.acquire(asked, lambda asked, live: None)
        journal.record(
            "x", RunStopped(run_id="R", lane=NASTY, stop_reason=NASTY, needs=NASTY, reason=NASTY)
        )
        journal.record("x", LaneFailed(lane=NASTY, reason=NASTY))
        journal.record(
            "x", LeaseRefused(lane=NASTY, holder=NASTY, reason_class=NASTY, reason=NASTY)
        )
        journal.record(
            "x", WorkSalvaged(run_id="R", lane=NASTY, ref=NASTY, commit=NASTY, why=NASTY)
        )
    return workspace


ASKED = [
    *(
        name.split()
        for name, verb in VERBS.items()
        if name not in ("demo", "quickstart", "serve", "up", "init", "down", "simulate")
        and not any(field.required for field in lookup.arguments(verb))
    ),
    ["arbitrate", "--lane", "api", "--exact", "--explain"],
    ["lease-lane", "acquire", "--lane", "api", "--owner", "B"],
    ["lease-lane", "acquire", "--lane", NASTY_LANE, "--owner", "B"],
    ["lease-lane", "wait", "--lane", "api", "--timeout", "0"],
    ["down", "--timeout", "0"],
    ["simulate", "--seeds", "2"],
    ["lease-lane", "reap", "--dry-run"],
    ["lease-lane", "adopt", "--lane", "api", "--owner", "B"],
    ["man", "lane", NASTY_LANE],
    ["man", "wedge", "blocked"],
    ["completion", "lanes"],
    ["scope-gate", "--lane", "api", "--file", "n/\u202e"],
]


@pytest.mark.sampled(8)
@pytest.mark.parametrize("words", ASKED, ids=lambda words: ascii(" ".join(words)))
@pytest.mark.parametrize("output", ["text", "plain", "json"])
def test_nothing_that_is_printed_can_act_on_a_terminal(dos, nasty, words, output):
    answer = dos(*words, "--output", output)
    assert answer.code != 70, answer
    assert not ACTS.search(answer.out) and not ACTS.search(answer.err), answer


def test_json_still_says_exactly_what_was_stored(dos, nasty):
    assert {lease["holder"] for lease in dos("lease-lane", "live").json} == {NASTY}
    assert dos("journal", "tail").lines[1]["body"]["asked"]["holder"] == NASTY
    assert dos("journal", "export").lines[1]["body"]["asked"]["holder"] == NASTY


def test_a_mistyped_verb_or_option_is_shown_and_not_obeyed(dos):
    for words in (
        [NASTY],
        ["lease-lane", NASTY],
        ["status", NASTY],
        ["status", f"--{NASTY}"],
        ["help", NASTY],
    ):
        answer = dos(*words)
        assert answer.code == 2 and not ACTS.search(answer.err), words


def test_our_own_colours_are_left_and_only_where_colour_is_wanted(monkeypatch):
    monkeypatch.setenv("DOS_COLOR", "always")
    for colour in view.COLOURS.values():
        assert (
            escape_control_characters(f"{colour}x\x1b[0m\x1b[2J\x1b[5m")
            == f"{colour}x\x1b[0m\\u001b[2J\\u001b[5m"
        )
    monkeypatch.setenv("DOS_COLOR", "never")
    assert escape_control_characters("\x1b[31mx\x1b[0m") == "\\u001b[31mx\\u001b[0m"


@pytest.mark.parametrize(
    ("environment", "coloured"),
    [
        ({"TERM": "xterm"}, True),
        ({"TERM": "dumb"}, False),
        ({"TERM": "dumb", "DOS_COLOR": "always"}, True),
    ],
    ids=str,
)
def test_a_dumb_terminal_gets_no_colour_unless_somebody_asks_for_it(
    workspace, environment, coloured
):
    assert (b"\x1b[" in at_a_terminal("doctor", cwd=workspace, environment=environment)) is coloured


def test_what_is_piped_has_no_colour(workspace):
    assert "\x1b" not in in_its_own_process("doctor", cwd=workspace).out


def test_a_line_of_a_story_stays_one_line(capsys):
    from dos.verbs.context import Context

    Context().print_line("one\ntwo\x1b[2J")
    assert capsys.readouterr().out == "one\\ntwo\\u001b[2J\n"


def test_escapes_in_json_are_json():
    from dos.text import escape_invisible

    encoded = json.encode({"name": NASTY + "\U000e0041"}).decode()
    assert escape_invisible(encoded).isprintable() and json.decode(escape_invisible(encoded)) == {
        "name": NASTY + "\U000e0041"
    }
