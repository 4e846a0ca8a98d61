"""Limits that no program can be made to hit here: lines as vendors and users document them."""

from datetime import UTC, datetime, timedelta

import pytest
from captures import ENDED, NOW, SILENT, ended, heard, lines
from msgspec import json

from dos.agents import claude_code, codex, gemini, opencode
from dos.agents.adapter import Clocks, Ending, Scope, Usage, Waiting

AT_FOUR = datetime(2026, 11, 15, 16, 0, tzinfo=UTC)


def line(**said):
    return json.encode(said).decode()


def claude(*between, words="", status=None, kind="rate_limit", **result):
    """A failed run of Claude Code: it began, something happened, it reports an error."""
    message = {"model": "<synthetic>", "content": [{"type": "text", "text": words}]}
    return [
        line(type="system", subtype="init", session_id="s", model="m"),
        *between,
        line(type="assistant", message=message, error=kind),
        line(
            **{
                "type": "result",
                "subtype": "success",
                "is_error": True,
                "api_error_status": status,
                "result": words,
            }
            | result
        ),
    ]


def rejected(**info):
    return line(type="rate_limit_event", rate_limit_info={"status": "rejected", **info})


@pytest.mark.parametrize(
    ("words", "ending", "resets_at", "window"),
    [
        ("You've hit your session limit · resets 4pm", Ending.USAGE_WINDOW, AT_FOUR, "session"),
        ("You’ve hit your weekly limit · resets 4pm", Ending.USAGE_WINDOW, AT_FOUR, "weekly"),
        ("Claude AI usage limit reached|1794758400", Ending.USAGE_WINDOW, AT_FOUR, ""),
        ("You're out of extra usage · resets 4pm", Ending.USAGE_WINDOW, AT_FOUR, ""),
        ("You're out of usage credits", Ending.SPEND_STOP, None, ""),
        ("Your org is out of usage · add funds to continue", Ending.SPEND_STOP, None, ""),
        ("Your seat type doesn't include usage", Ending.SPEND_STOP, None, ""),
        ("Your group's usage limit is set to $0", Ending.SPEND_STOP, None, ""),
        (
            "API Error: Server is temporarily limiting requests (not your usage limit)",
            Ending.TRANSIENT,
            None,
            "",
        ),
        ("API Error: Request rejected (429)", Ending.TRANSIENT, None, ""),
    ],
)
def test_claude_tells_its_limits_in_words(words, ending, resets_at, window):
    outcome = ended(claude_code, claude(words=words, status=429), 1, ENDED)
    assert (outcome.ending, outcome.resets_at, outcome.window) == (ending, resets_at, window)


@pytest.mark.parametrize("resets", [AT_FOUR.timestamp(), AT_FOUR.timestamp() * 1000])
@pytest.mark.parametrize(
    ("window", "scope"),
    [
        ("five_hour", Scope.ACCOUNT),
        ("seven_day_opus", Scope.MODEL),
        ("seven_day_sonnet", Scope.MODEL),
    ],
)
def test_a_rejection_names_the_window_and_when_it_resets(resets, window, scope):
    rejection = rejected(resetsAt=resets, rateLimitType=window)
    outcome = ended(
        claude_code,
        claude(rejection, words="API Error: Request rejected (429)", status=429),
        1,
        ENDED,
    )
    assert outcome.ending is Ending.USAGE_WINDOW
    assert (outcome.resets_at, outcome.window, outcome.scope) == (AT_FOUR, window, scope)
    assert heard(claude_code, [rejection]) == [Waiting(ending=Ending.USAGE_WINDOW, text=window)]


def test_a_rejection_that_wants_credit_is_for_a_person():
    rejection = rejected(errorCode="credits_required")
    assert ended(claude_code, claude(rejection, status=429), 1, ENDED).ending is Ending.SPEND_STOP


def test_a_rejection_says_nothing_about_another_failure():
    rejection = rejected(resetsAt=AT_FOUR.timestamp(), rateLimitType="five_hour")
    outcome = ended(claude_code, claude(rejection, kind="", subtype="error_max_turns"), 1, ENDED)
    assert outcome.ending is Ending.TURN_CAP


def test_a_warning_is_no_rejection():
    warned = line(
        type="rate_limit_event", rate_limit_info={"status": "allowed_warning", "resetsAt": 1}
    )
    assert heard(claude_code, [warned]) == []
    assert ended(claude_code, claude(warned, status=429), 1, ENDED).ending is Ending.TRANSIENT


def test_claude_that_waits_for_its_window_and_falls_silent_has_hit_the_window():
    began = line(type="system", subtype="init", session_id="s", model="m")
    rejection = rejected(resetsAt=AT_FOUR.timestamp(), rateLimitType="five_hour")
    retry = line(
        type="system",
        subtype="api_retry",
        error_status=429,
        error="rate_limit",
        retry_delay_ms=1000,
    )
    outcome = ended(claude_code, [began, rejection, retry], 143, SILENT)
    assert (outcome.ending, outcome.resets_at) == (Ending.USAGE_WINDOW, AT_FOUR)


def test_claude_that_went_on_after_a_retry_and_falls_silent_hangs():
    retried = lines("claude-529.jsonl")[:2]
    worked = lines("claude-ok.jsonl")[1:3]
    assert ended(claude_code, [*retried, *worked], -15, SILENT).ending is Ending.HANG


def test_claude_that_was_denied_what_it_needed_and_failed_lacks_permission():
    denied = [{"tool_name": "Bash", "tool_use_id": "t", "tool_input": {}}]
    failed = claude(kind="", subtype="error_during_execution", permission_denials=denied)
    outcome = ended(claude_code, failed, 1, ENDED)
    assert (outcome.ending, outcome.found.raw) == (Ending.PERMISSION, "Bash")


def test_the_cost_of_claude_is_that_of_its_latest_result():
    def result(tokens, cost):
        usage = {
            "a": {
                "inputTokens": tokens,
                "cacheReadInputTokens": 7,
                "cacheCreationInputTokens": 3,
                "costUSD": cost,
            }
        }
        return line(type="result", subtype="success", is_error=False, modelUsage=usage)

    outcome = ended(claude_code, [result(10, 0.1), result(25, 0.3)], 0, ENDED)
    assert outcome.usage == (
        Usage(model="a", input_tokens=25, cached_tokens=7, cache_write_tokens=3, cost_usd=0.3),
    )


def test_claude_that_tells_no_models_costs_what_it_tells_in_all():
    result = {
        "type": "result",
        "subtype": "success",
        "is_error": False,
        "modelUsage": {},
        "total_cost_usd": 0.5,
    }
    text = line(**result, usage={"input_tokens": 8, "output_tokens": 2})
    assert ended(claude_code, [text], 0, ENDED).usage == (
        Usage(input_tokens=8, output_tokens=2, cost_usd=0.5),
    )


def claude_that_broke_off(words, error="", model="<synthetic>"):
    message = {"id": "m", "model": model, "content": [{"type": "text", "text": words}]}
    return [
        line(type="system", subtype="init", session_id="s", model="m"),
        line(type="assistant", message=message, **({"error": error} if error else {})),
    ]


@pytest.mark.parametrize(
    ("words", "error", "ending"),
    [
        ("You've hit your session limit · resets 4pm", "rate_limit", Ending.USAGE_WINDOW),
        ("API Error: Repeated 529 Overloaded errors", "overloaded", Ending.OVERLOADED),
        ("Credit balance is too low", "billing_error", Ending.SPEND_STOP),
        ("Invalid API key", "", Ending.AUTH),
        ("No response requested.", "", Ending.CRASH),
        ("something that nobody has seen", "unknown", Ending.CRASH),
    ],
)
def test_claude_without_a_result_ended_by_the_last_thing_that_it_made_up(words, error, ending):
    assert ended(claude_code, claude_that_broke_off(words, error), 1, ENDED).ending is ending


def test_what_a_model_says_of_limits_is_no_limit():
    said = claude_that_broke_off(
        "You've hit your session limit · resets 4pm", model="claude-opus-4-8"
    )
    assert ended(claude_code, said, 1, ENDED).ending is Ending.CRASH


@pytest.mark.parametrize(
    ("words", "ending", "resets_at", "scope"),
    [
        (
            "You've hit your usage limit. Try again at 4:00 PM.",
            Ending.USAGE_WINDOW,
            AT_FOUR,
            Scope.ACCOUNT,
        ),
        ("You've hit your usage limit. Try again later.", Ending.USAGE_WINDOW, None, Scope.ACCOUNT),
        (
            "You've hit your usage limit for gpt-x. Switch to another model now,",
            Ending.USAGE_WINDOW,
            None,
            Scope.MODEL,
        ),
        (
            "Your workspace is out of credits. Ask your admin",
            Ending.SPEND_STOP,
            None,
            Scope.ACCOUNT,
        ),
        ("You hit your spend cap set by the owner", Ending.SPEND_STOP, None, Scope.ACCOUNT),
        (
            "Quota exceeded. Check your plan and billing details.",
            Ending.SPEND_STOP,
            None,
            Scope.ACCOUNT,
        ),
        (
            "To use Codex with your ChatGPT plan, upgrade to Plus",
            Ending.SPEND_STOP,
            None,
            Scope.ACCOUNT,
        ),
        (
            "Selected model is at capacity. Please try a different model.",
            Ending.OVERLOADED,
            None,
            Scope.ACCOUNT,
        ),
        ("stream disconnected before completion: idle", Ending.TRANSIENT, None, Scope.ACCOUNT),
        (
            "Codex ran out of room in the model's context window.",
            Ending.CONTEXT,
            None,
            Scope.ACCOUNT,
        ),
        ("shared rollout token budget exhausted", Ending.BUDGET_CAP, None, Scope.ACCOUNT),
        ("something that nobody has seen", Ending.UNKNOWN, None, Scope.ACCOUNT),
    ],
)
def test_codex_tells_its_limits_in_words(words, ending, resets_at, scope):
    said = [
        line(type="thread.started", thread_id="t"),
        line(type="turn.failed", error={"message": words}),
    ]
    outcome = ended(codex, said, 1, ENDED)
    assert (outcome.ending, outcome.resets_at, outcome.scope) == (ending, resets_at, scope)


def test_codex_counts_what_was_cached_among_its_input():
    usage = {
        "input_tokens": 100,
        "cached_input_tokens": 60,
        "cache_write_input_tokens": 10,
        "output_tokens": 5,
    }
    outcome = ended(codex, [line(type="turn.completed", usage=usage)], 0, ENDED)
    assert outcome.usage == (
        Usage(input_tokens=30, cached_tokens=60, cache_write_tokens=10, output_tokens=5),
    )


@pytest.mark.parametrize(
    ("kind", "words", "ending", "resets_at", "seconds"),
    [
        (
            "TerminalQuotaError",
            "You have exhausted your daily quota on this model.",
            Ending.USAGE_WINDOW,
            None,
            None,
        ),
        (
            "unknown",
            "exhausted. Your quota_exhausted will reset after 2h0m0s.",
            Ending.USAGE_WINDOW,
            NOW + timedelta(hours=2),
            None,
        ),
        (
            "unknown",
            "You exceeded your current quota. Please retry in 34s.",
            Ending.TRANSIENT,
            None,
            34.0,
        ),
        (
            "RetryableQuotaError",
            "[API Error: busy (Status: RESOURCE_EXHAUSTED)]",
            Ending.TRANSIENT,
            None,
            None,
        ),
        ("unknown", "The model is overloaded.", Ending.OVERLOADED, None, None),
    ],
)
def test_gemini_tells_its_limits(kind, words, ending, resets_at, seconds):
    said = [
        line(type="init", session_id="g"),
        line(type="result", status="error", error={"type": kind, "message": words}),
    ]
    outcome = ended(gemini, said, 1, ENDED)
    assert (outcome.ending, outcome.resets_at, outcome.retry_after_seconds) == (
        ending,
        resets_at,
        seconds,
    )


@pytest.mark.parametrize(
    ("exit_code", "ending"),
    [
        (173, Ending.TRANSIENT),
        (247, Ending.OVERLOADED),
        (53, Ending.TURN_CAP),
        (55, Ending.PERMISSION),
        (52, Ending.LAUNCH_FAILED),
    ],
)
def test_gemini_exits_with_a_meaning(exit_code, ending):
    said = [line(type="result", status="error", error={"message": "?"})] if exit_code > 128 else []
    assert ended(gemini, said, exit_code, ENDED).ending is ending


def test_gemini_counts_what_was_cached_among_its_input_and_thoughts_in_the_total_alone():
    told = {
        "total_tokens": 150,
        "input_tokens": 100,
        "cached": 40,
        "input": 60,
        "output_tokens": 20,
    }
    text = line(type="result", status="success", stats={"models": {"g": told}})
    assert ended(gemini, [text], 0, ENDED).usage == (
        Usage(model="g", input_tokens=60, cached_tokens=40, output_tokens=50),
    )


@pytest.mark.parametrize(
    ("words", "ending", "resets_at"),
    [
        (
            "Weekly usage limit reached. It will reset in 2 hours",
            Ending.USAGE_WINDOW,
            NOW + timedelta(hours=2),
        ),
        ("Free usage exceeded, subscribe to Go", Ending.USAGE_WINDOW, None),
        ("Provider is overloaded", Ending.OVERLOADED, None),
        ("Too Many Requests", Ending.TRANSIENT, None),
        ("slow down", Ending.TRANSIENT, None),
    ],
)
def test_opencode_is_silent_and_its_log_tells_why(words, ending, resets_at):
    logged = (
        'timestamp=2026 level=ERROR run=1 message="stream error" modelID=m'
        f' error.error="AI_APICallError: {words}"'
    )
    outcome = ended(opencode, [logged], -15, SILENT)
    assert (outcome.ending, outcome.resets_at) == (ending, resets_at)
    (waiting,) = heard(opencode, [logged])
    assert waiting.ending is ending


def test_opencode_that_finds_no_title_for_its_work_does_not_wait():
    logged = (
        'timestamp=2026 level=ERROR run=1 message="stream error" small=true agent=title'
        ' error.error="Overloaded"'
    )
    assert heard(opencode, [logged]) == []
    assert ended(opencode, [logged], -15, SILENT).ending is Ending.HANG


def test_opencode_passes_on_how_long_its_provider_wants_to_be_left_alone():
    data = {"message": "busy", "statusCode": 429, "responseHeaders": {"retry-after": "7"}}
    outcome = ended(
        opencode, [line(type="error", error={"name": "APIError", "data": data})], 1, ENDED
    )
    assert (outcome.ending, outcome.retry_after_seconds) == (Ending.TRANSIENT, 7.0)


def test_opencode_tells_the_cost_of_each_step():
    def step(cost):
        tokens = {
            "total": 45,
            "input": 10,
            "output": 5,
            "reasoning": 20,
            "cache": {"read": 8, "write": 2},
        }
        return line(type="step_finish", part={"tokens": tokens, "cost": cost})

    outcome = ended(opencode, [step(0.25), step(0.5)], 0, ENDED)
    assert outcome.usage == (
        Usage(
            input_tokens=20, cached_tokens=16, cache_write_tokens=4, output_tokens=50, cost_usd=0.75
        ),
    )


@pytest.mark.parametrize(
    "adapter", [claude_code, codex, gemini, opencode], ids=lambda adapter: adapter.name
)
def test_what_we_ended_by_hand_was_killed_whatever_it_said(adapter):
    stopped = Clocks(ended_at=NOW, stopped=True)
    outcome = ended(adapter, [], -15, stopped)
    assert (outcome.ending, outcome.signal) == (Ending.KILLED, 15)


@pytest.mark.parametrize(("exit_code", "number"), [(-9, 9), (-11, 11), (137, 9), (143, 15)])
def test_a_signal_is_told_by_its_number(exit_code, number):
    outcome = ended(claude_code, lines("claude-ok.jsonl")[:2], exit_code, ENDED)
    assert (outcome.ending, outcome.signal) == (Ending.KILLED, number)
