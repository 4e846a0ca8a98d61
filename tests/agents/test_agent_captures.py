"""What the real programs printed, and how each of them is taken to have ended."""

from datetime import UTC, datetime

import pytest
from captures import ENDED, FOLDER, SILENT, adapter_of, after, ended, heard, lines

from dos.agents import registry, stream
from dos.agents.adapter import Ending, ToolResult, Usage, Waiting

ENDINGS = [
    ("claude-ok.jsonl", 0, Ending.OK),
    (
        "claude-ok.jsonl",
        1,
        Ending.OK,
    ),  # a server that wants a login spoils the exit code of good work
    ("claude-permission.jsonl", 0, Ending.OK),
    ("claude-401.jsonl", 1, Ending.AUTH),
    ("claude-404.jsonl", 1, Ending.MODEL_UNAVAILABLE),
    ("claude-429.jsonl", 1, Ending.TRANSIENT),
    ("claude-500.jsonl", 1, Ending.TRANSIENT),
    ("claude-529.jsonl", 1, Ending.OVERLOADED),
    ("claude-budget.jsonl", 1, Ending.BUDGET_CAP),
    ("claude-context.jsonl", 1, Ending.CONTEXT),
    ("claude-credit.jsonl", 1, Ending.SPEND_STOP),
    ("claude-max-turns.jsonl", 1, Ending.TURN_CAP),
    ("claude-not-logged-in.jsonl", 1, Ending.AUTH),
    ("claude-unknown-option.log", 1, Ending.LAUNCH_FAILED),
    ("claude-window-no-result.jsonl", 1, Ending.USAGE_WINDOW),
    ("claude-window-no-result.jsonl", 0, Ending.USAGE_WINDOW),
    ("claude-auth-no-result.jsonl", 1, Ending.AUTH),
    ("codex-ok.jsonl", 0, Ending.OK),
    ("codex-401.jsonl", 1, Ending.AUTH),
    ("codex-404.jsonl", 1, Ending.MODEL_UNAVAILABLE),
    ("codex-429.jsonl", 1, Ending.TRANSIENT),
    ("codex-500.jsonl", 1, Ending.OVERLOADED),  # it tells of high demand, and no status
    ("codex-529.jsonl", 1, Ending.OVERLOADED),
    ("codex-context.jsonl", 1, Ending.CONTEXT),
    ("codex-unknown-option.log", 2, Ending.LAUNCH_FAILED),
    ("gemini-ok.jsonl", 0, Ending.OK),
    ("gemini-400.log", 144, Ending.CONTEXT),
    ("gemini-401.jsonl", 145, Ending.AUTH),
    ("gemini-404.log", 1, Ending.MODEL_UNAVAILABLE),
    ("gemini-credit.jsonl", 1, Ending.SPEND_STOP),
    ("gemini-no-key.log", 41, Ending.AUTH),
    ("gemini-no-result.jsonl", 145, Ending.AUTH),  # what a status leaves of itself in an exit code
    ("gemini-no-result.jsonl", 173, Ending.TRANSIENT),
    ("gemini-no-result.jsonl", 247, Ending.OVERLOADED),
    ("gemini-no-result.jsonl", 3, Ending.CRASH),
    ("opencode-ok.jsonl", 0, Ending.OK),
    ("opencode-401.jsonl", 1, Ending.AUTH),
    ("opencode-no-model.log", 1, Ending.MODEL_UNAVAILABLE),
    ("opencode-permission.log", 0, Ending.PERMISSION),
    ("pi-ok.jsonl", 0, Ending.OK),
    ("pi-401.jsonl", 0, Ending.AUTH),  # its exit code tells nothing
    ("pi-429.jsonl", 0, Ending.TRANSIENT),
    ("pi-529.jsonl", 0, Ending.OVERLOADED),
    ("pi-context.jsonl", 0, Ending.CONTEXT),
    ("mini-ok.log", 0, Ending.OK),
    ("mini-401.log", 1, Ending.AUTH),
    ("mini-404.log", 1, Ending.MODEL_UNAVAILABLE),
    ("mini-context.log", 1, Ending.CONTEXT),
    ("aider-ok.log", 0, Ending.OK),
    ("aider-lie.log", 0, Ending.OK),  # nothing was committed: git tells
    ("aider-401.log", 0, Ending.AUTH),
    ("aider-404.log", 0, Ending.MODEL_UNAVAILABLE),
    ("aider-429.log", 0, Ending.TRANSIENT),
    ("aider-529.log", 0, Ending.OVERLOADED),
    ("aider-context.log", 0, Ending.CONTEXT),
]
# Ended by us, since nothing was heard any more. Gemini exits with 0 when it is asked to end.
SILENT_ENDINGS = [
    ("claude-window-no-result.jsonl", 143, Ending.USAGE_WINDOW),
    ("claude-auth-no-result.jsonl", 143, Ending.AUTH),
    ("gemini-429.jsonl", 0, Ending.HANG),
    ("gemini-429-retrying.log", 0, Ending.TRANSIENT),
    ("gemini-529-retrying.log", 0, Ending.OVERLOADED),
    ("opencode-429-retrying.log", -15, Ending.TRANSIENT),
    ("opencode-529-retrying.log", -15, Ending.OVERLOADED),
]
OPUS = Usage(model="claude-opus-4-8[1m]", input_tokens=200, output_tokens=40, cost_usd=0.002)
GOOD = [
    ("claude-ok.jsonl", "e47150c0-9188-4075-8b33-daa07a8c691d", "claude-opus-4-8[1m]", OPUS),
    (
        "codex-ok.jsonl",
        "01a1dcd4-452f-7b63-95b2-43b1e7c8cc39",
        "",
        Usage(input_tokens=200, output_tokens=40),
    ),
    (
        "gemini-ok.jsonl",
        "6434c988-aa67-47a9-ba2f-6c2830552810",
        "gemini-2.5-flash",
        Usage(model="scripted", input_tokens=200, output_tokens=40),
    ),
    (
        "opencode-ok.jsonl",
        "ses_e232b71ebffe7ddPf7OOcKG7Cc",
        "",
        Usage(input_tokens=200, output_tokens=40),
    ),
]


def judge(file, exit_code, clocks=ENDED):
    return ended(registry.find(adapter_of(file)), lines(file), exit_code, clocks)


def told(file):
    return heard(registry.find(adapter_of(file)), lines(file))


def test_every_capture_is_judged():
    assert {file for file, *_ in (*ENDINGS, *SILENT_ENDINGS)} == {
        path.name for path in FOLDER.iterdir()
    }


@pytest.mark.parametrize(("file", "exit_code", "ending"), ENDINGS)
def test_a_program_that_ended_by_itself_ended_so(file, exit_code, ending):
    outcome = judge(file, exit_code)
    assert outcome.ending is ending
    assert outcome.found.field and outcome.found.raw


@pytest.mark.parametrize(("file", "exit_code", "ending"), SILENT_ENDINGS)
def test_a_silent_program_is_taken_to_wait_for_what_it_told_last(file, exit_code, ending):
    assert judge(file, exit_code, SILENT).ending is ending


@pytest.mark.parametrize("file", [file for file, *_ in SILENT_ENDINGS if "retrying" in file])
def test_each_retry_is_heard_while_it_waits(file):
    waits = [each for each in told(file) if isinstance(each, Waiting)]
    assert len(waits) >= 3
    assert {wait.ending for wait in waits} == {judge(file, 0, SILENT).ending}


@pytest.mark.parametrize(
    ("file", "ending"),
    [("claude-429.jsonl", Ending.TRANSIENT), ("claude-529.jsonl", Ending.OVERLOADED)],
)
def test_a_retry_tells_how_long_it_waits(file, ending):
    (wait,) = [each for each in told(file) if isinstance(each, Waiting)]
    assert wait.ending is ending
    assert 0.5 < wait.seconds < 0.7
    cut_off = lines(file)[:2]
    outcome = ended(registry.find("claude_code"), cut_off, -15, SILENT)
    assert (outcome.ending, outcome.retry_after_seconds) == (ending, wait.seconds)


@pytest.mark.parametrize(("file", "session", "model", "usage"), GOOD)
def test_what_was_said_and_used_is_told(file, session, model, usage):
    outcome = judge(file, 0)
    assert outcome.claim == "Done. Shipped AUTH1 and AUTH2."
    assert (outcome.session, outcome.model) == (session, model)
    assert outcome.usage == (usage,)


@pytest.mark.parametrize("file", [file for file, *_ in GOOD])
def test_what_is_heard_while_it_runs_adds_up_to_what_it_used(file):
    adapter = registry.find(adapter_of(file))
    assert after(adapter, lines(file)).usage == judge(file, 0).usage


@pytest.mark.parametrize("file", [file for file, *_ in GOOD])
def test_whoever_watches_sees_the_command_and_the_last_words(file):
    shown = [each.text for each in told(file) if hasattr(each, "text")]
    assert "git commit -qm 'AUTH1: ship one'" in "\n".join(shown[:2])
    assert shown[-1] == "Done. Shipped AUTH1 and AUTH2."


@pytest.mark.parametrize("file", ["claude-429.jsonl", "claude-529.jsonl"])
def test_giving_up_is_not_going_on(file):
    assert [type(each) for each in told(file)] == [Waiting]


def test_claude_cut_off_before_its_result_has_used_what_its_messages_told():
    outcome = ended(registry.find("claude_code"), lines("claude-ok.jsonl")[:-1], -9, ENDED)
    assert (outcome.ending, outcome.signal) == (Ending.KILLED, 9)
    assert outcome.usage == (Usage(model="claude-opus-4-8", input_tokens=200, output_tokens=40),)


def test_claude_without_a_result_tells_when_its_window_opens():
    outcome = judge("claude-window-no-result.jsonl", 1)
    assert (outcome.resets_at, outcome.window) == (
        datetime(2026, 11, 15, 16, 0, tzinfo=UTC),
        "five_hour",
    )


def test_what_was_denied_is_told_also_of_a_good_end():
    assert judge("claude-permission.jsonl", 0).found.raw == "Write"


def test_a_program_that_could_not_begin_tells_why():
    assert judge("claude-unknown-option.log", 1).found.raw == "error: unknown option '--nosuchflag'"


@pytest.mark.parametrize(
    ("file", "exit_code", "output"),
    [
        ("claude-ok.jsonl", None, "2a21a57 AUTH1: ship one"),
        ("codex-ok.jsonl", 0, "187535b AUTH1: ship one"),
        ("gemini-ok.jsonl", None, "0af6f1a AUTH1: ship one"),
        ("opencode-ok.jsonl", 0, "cd2ddb2 AUTH1: ship one"),
    ],
)
def test_what_a_tool_returned_is_heard(file, exit_code, output):
    results = [event for event in told(file) if isinstance(event, ToolResult)]
    assert results == [ToolResult(output=output, exit_code=exit_code)]


def test_only_the_end_of_a_long_result_is_kept():
    result = stream.tool_result("\n".join(str(number) for number in range(100)), exit_code=1)
    assert result.output.splitlines() == [str(number) for number in range(90, 100)]
    assert result.failed


@pytest.mark.parametrize("exit_code", ["1", True, float("nan"), None, [1]])
def test_an_exit_code_that_is_no_number_is_unknown(exit_code):
    assert stream.tool_result("x", exit_code=exit_code).exit_code is None
