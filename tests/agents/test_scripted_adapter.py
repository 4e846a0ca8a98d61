"""The lines of our own scripted agent."""

from datetime import UTC, datetime, timedelta

import pytest
from captures import ENDED, NOW, SILENT, after, ended, heard
from msgspec import json

from dos.agents import scripted
from dos.agents.adapter import Activity, Ending, Scope, Usage, Waiting

SPENT = Usage(model="m", input_tokens=10, output_tokens=5, cost_usd=0.5)


def line(**said):
    return json.encode(said).decode()


USED = line(type="usage", model="m", input_tokens=10, output_tokens=5, cost_usd=0.5)
WAITING = line(type="waiting", ending="overloaded", seconds=3)


@pytest.mark.parametrize(
    ("said", "exit_code", "ending"),
    [
        (line(type="limit", text="usage limit reached"), 1, Ending.USAGE_WINDOW),
        (line(type="limit", text="usage limit reached"), 0, Ending.OK),
        (line(type="overloaded"), 1, Ending.OVERLOADED),
        (line(type="ending", ending="auth"), 1, Ending.AUTH),
        (line(type="ending", ending="spend_stop"), 0, Ending.SPEND_STOP),
        (line(type="ending", ending="ok"), 1, Ending.CRASH),
        (line(type="ending", ending="nonsense"), 1, Ending.UNKNOWN),
        (WAITING, 1, Ending.OVERLOADED),
        (line(type="say", text="usage limit reached"), 1, Ending.CRASH),
        ("Traceback: limit", 1, Ending.CRASH),
    ],
)
def test_it_ends_as_its_lines_say(said, exit_code, ending):
    assert ended(scripted, [said], exit_code, ENDED).ending is ending


@pytest.mark.parametrize(
    "resets_at", ["2026-11-15T16:00:00+00:00", "2026-11-15T16:00:00", 1794758400]
)
def test_a_limit_names_its_window_and_when_it_resets(resets_at):
    text = line(type="limit", resets_at=resets_at, window="five_hour", scope="model")
    outcome = ended(scripted, [text], 1, ENDED)
    assert outcome.resets_at == datetime(2026, 11, 15, 16, tzinfo=UTC)
    assert (outcome.window, outcome.scope) == ("five_hour", Scope.MODEL)


def test_a_limit_may_say_how_long_instead():
    assert ended(
        scripted, [line(type="limit", retry_after=60)], 1, ENDED
    ).resets_at == NOW + timedelta(seconds=60)
    assert (
        ended(scripted, [line(type="overloaded", retry_after=60)], 1, ENDED).retry_after_seconds
        == 60
    )


def test_silence_after_a_wait_is_that_wait_and_after_work_a_hang():
    outcome = ended(scripted, [WAITING], -15, SILENT)
    assert (outcome.ending, outcome.retry_after_seconds) == (Ending.OVERLOADED, 3.0)
    assert (
        ended(scripted, [WAITING, line(type="say", text="on it")], -15, SILENT).ending
        is Ending.HANG
    )


def test_what_it_used_adds_up_by_model():
    outcome = ended(
        scripted, [USED, USED, line(type="usage", model="n", output_tokens=1)], 0, ENDED
    )
    assert outcome.usage == (
        Usage(model="m", input_tokens=20, output_tokens=10, cost_usd=1.0),
        Usage(model="n", output_tokens=1),
    )


def test_each_line_is_heard():
    assert heard(scripted, [line(type="say", text="done")]) == [Activity(text="done")]
    assert heard(scripted, [line(type="write", path="a.py")]) == [Activity(text="write a.py")]
    assert heard(scripted, [USED]) == [] and after(scripted, [USED]).usage == (SPENT,)
    assert heard(scripted, [WAITING]) == [Waiting(ending=Ending.OVERLOADED, seconds=3.0)]
    assert heard(scripted, ["anything else"]) == []
