"""What the adapter makes of the recorded conversations of real programs."""

import json

import pytest
from acp_replay import DENIED, FILES, play, prompt_of, recorded
from captures import ENDED, SILENT
from msgspec import structs

from dos.agents.acp import protocol, updates
from dos.agents.adapter import Ending
from dos.agents.conversation import Asks

ALLOWED = [file for file in FILES if file.endswith("_allow")]
REFUSED = [file for file in FILES if file.endswith("_deny") and file != "codex_deny"]
EVIL = "/repo/docs/evil.md"


@pytest.mark.parametrize("file", [file for file in FILES if file != "codex_read_only"])
def test_what_it_sends_is_what_was_sent_then(file):
    lines, played = recorded(file), play(file)
    asked_for = [each.message for each in lines if each.ours and is_of_every_program(each.message)]
    ours = [message for message in played.sent if is_of_every_program(message)]
    for then, now in zip(asked_for, ours, strict=False):
        now["params"].pop("clientInfo", None)
        then["params"].pop("clientInfo", None)
        assert now == then
    assert len(ours) >= len(asked_for)


def is_of_every_program(message: dict[str, object]) -> bool:
    """Not every program is interrupted for a message."""
    return message.get("method") not in (None, "session/cancel")


@pytest.mark.parametrize("file", [*ALLOWED, *REFUSED])
def test_a_request_is_answered_by_the_option_of_its_kind(file):
    then = [each.message for each in recorded(file) if each.ours and "outcome" in str(each.message)]
    now = [message for message in play(file).sent if "method" not in message]
    assert [each for each in now if "result" in each] == then


def test_files_are_not_offered_to_a_program_that_asks_for_them_nevertheless():
    (refused,) = [message for message in play("opencode_allow").sent if "error" in message]
    assert refused["error"]["code"] == protocol.METHOD_NOT_FOUND
    assert "fs/write_text_file" in refused["error"]["message"]


@pytest.mark.parametrize("file", ["opencode_allow", *REFUSED])
def test_a_request_to_edit_names_its_file(file):
    edit, *_ = play(file).asked
    assert EVIL in edit.paths
    assert edit.command == ""


@pytest.mark.parametrize("file", ["claude_deny", "gemini_deny", "opencode_allow"])
def test_a_request_to_run_a_command_holds_the_command(file):
    *_, run = play(file).asked
    assert run.command == "echo hi > /repo/docs/evil2.md"


def test_the_tool_has_the_name_that_the_program_gives_it_where_it_does():
    assert [asks.tool for asks in play("claude_deny").asked] == ["Write", "Bash"]
    assert [asks.tool for asks in play("gemini_deny").asked] == ["edit", "execute"]


def test_what_a_tool_call_told_before_counts_in_its_request():
    (edit,) = play("copilot_deny").asked
    assert edit.arguments["path"] == edit.arguments["fileName"] == EVIL
    assert edit.arguments["file_text"] == "evil"


@pytest.mark.parametrize("file", ALLOWED)
def test_a_turn_that_ends_ends_well(file):
    played = play(file)
    assert played.conversation.is_over(played.state)
    outcome = played.conversation.outcome(played.state, 0, ENDED)
    assert outcome.ending is Ending.OK
    assert outcome.claim == "all done"
    assert outcome.session == played.state.session != ""


@pytest.mark.parametrize("file", ["claude_deny", "gemini_deny", "qwen_deny"])
def test_refusals_are_counted_in_how_it_ended(file):
    played = play(file)
    outcome = played.conversation.outcome(played.state, 0, ENDED)
    assert outcome.ending is Ending.OK
    assert outcome.found.field == "permission_denials"


@pytest.mark.parametrize("file", ["opencode_deny", "copilot_deny"])
def test_a_program_whose_turn_a_refusal_ends_is_told_why_and_goes_on(file):
    played = play(file)
    assert not played.conversation.is_over(played.state)
    reminder = played.sent[-1]
    assert reminder["method"] == "session/prompt"
    assert reminder["params"]["sessionId"] == played.state.session
    assert DENIED.sentence in reminder["params"]["prompt"][0]["text"]
    answer = {"jsonrpc": "2.0", "id": reminder["id"], "result": {"stopReason": "end_turn"}}
    turn = played.conversation.converse(played.state, json.dumps(answer))
    assert played.conversation.is_over(turn.state)


def test_reminders_end():
    played = play("opencode_deny")
    state, prompts = played.state, 0
    for number in range(20):
        (waiting,) = state.sent
        request = {"jsonrpc": "2.0", "id": f"r{number}", "method": "session/request_permission"}
        asked = played.conversation.converse(state, json.dumps({**request, "params": {}}))
        (asks,) = asked.asks
        state = played.conversation.answer(asked.state, asks, DENIED).state
        answer = {"jsonrpc": "2.0", "id": waiting, "result": {"stopReason": "end_turn"}}
        state = played.conversation.converse(state, json.dumps(answer)).state
        if played.conversation.is_over(state):
            break
        prompts += 1
    assert prompts == 4, "and one in the recording"


USED = {
    "claude_allow": (300, 60, 0.003),
    "codex_allow": (300, 60, None),
    "gemini_allow": (300, 60, None),
    "opencode_allow": (100, 20, None),  # of its last request alone
    "qwen_deny": (200, 40, None),
    "copilot_deny": (100, 20, None),
    "codex_429": (0, 0, None),
}


@pytest.mark.parametrize("file", USED)
def test_usage_is_that_of_all_requests(file):
    played = play(file)
    used = played.conversation.outcome(played.state, 0, ENDED).usage
    sent, received, dollars = USED[file]
    assert sum(each.input_tokens for each in used) == sent
    assert sum(each.output_tokens for each in used) == received
    assert sum(each.cost_usd or 0 for each in used) == (dollars or 0)


def test_usage_is_told_by_model():
    played = play("gemini_allow")
    assert [each.model for each in played.state.usage] == ["gemini-2.5-flash"]


@pytest.mark.parametrize("exit_code", [0, 1, -9])
@pytest.mark.parametrize("file", ["claude_429", "codex_429"])
def test_a_limit_is_typed_whatever_the_turn_or_the_exit_code_says(file, exit_code):
    played = play(file)
    assert played.conversation.is_over(played.state)
    outcome = played.conversation.outcome(played.state, exit_code, ENDED)
    assert outcome.ending is Ending.TRANSIENT
    assert "429" in outcome.found.raw or outcome.found.raw == "rate_limit"


@pytest.mark.parametrize("file", ["opencode_429", "gemini_429"])
def test_silence_of_a_program_that_waits_for_its_model_is_a_limit(file):
    """Both try again in silence; the recordings end after 40 s of it."""
    played = play(file)
    assert not played.conversation.is_over(played.state)
    outcome = played.conversation.outcome(played.state, -15, SILENT)
    assert (outcome.ending, outcome.found.field) == (Ending.TRANSIENT, "silence")


def test_silence_of_a_tool_of_an_open_question_and_of_a_busy_program_is_a_hang():
    conversation, state = at_work()
    asked = conversation.converse(state, asking(7)).state
    update = {
        "sessionUpdate": "tool_call",
        "toolCallId": "1",
        "title": "sleep",
        "status": "pending",
    }
    line = {"jsonrpc": "2.0", "method": "session/update", "params": {"update": update}}
    runs = conversation.converse(state, json.dumps(line)).state
    for silent in (asked, runs):
        assert conversation.outcome(silent, -15, SILENT).ending is Ending.HANG
    assert conversation.outcome(state, -15, SILENT).ending is Ending.TRANSIENT
    for clock in ("idle", "overtime"):
        clocks = structs.replace(SILENT, silent=False, **{clock: True})
        assert conversation.outcome(state, -15, clocks).ending is Ending.HANG


LOGGED = {
    "gemini_429": "Attempt 1 failed with status 429. Retrying with backoff... Error",
    "opencode_429": (
        'timestamp=2026-11-15T21:00:00 level=ERROR run=1 message="stream error" '
        'error.error="AI_APICallError: Too Many Requests"'
    ),
}


@pytest.mark.parametrize("file", LOGGED)
def test_a_program_that_writes_why_it_is_silent_has_met_a_limit(file):
    played = play(file)
    waits = played.conversation.converse(played.state, LOGGED[file]).state
    assert waits.waiting is not None
    assert waits.waiting.ending is Ending.TRANSIENT
    assert played.conversation.outcome(waits, -15, SILENT).ending is Ending.TRANSIENT
    update = {"sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": "Hi"}}
    line = {"jsonrpc": "2.0", "method": "session/update", "params": {"update": update}}
    went_on = played.conversation.converse(waits, json.dumps(line)).state
    assert went_on.waiting is None


@pytest.mark.parametrize("file", ["claude_cancel", "opencode_cancel"])
def test_a_message_reaches_it_at_once_or_after_its_turn_was_interrupted(file):
    played = play(file)
    prompts = [each for each in played.sent if each.get("method") == "session/prompt"]
    assert [each["params"]["prompt"][0]["text"] for each in prompts] == [
        prompt_of(recorded(file)),
        "Stop, and write a test first.",
    ]
    assert not played.conversation.is_over(played.state)


def test_what_is_asked_after_an_interruption_is_cancelled():
    played = play("opencode_cancel")
    assert played.asked == []
    (answer,) = [each for each in played.sent if "result" in each]
    assert answer["result"] == {"outcome": {"outcome": "cancelled"}}


def test_requests_that_are_open_when_it_is_interrupted_are_cancelled():
    conversation, state = at_work()
    asked = conversation.converse(state, asking(7))
    turn = conversation.steer(asked.state, "Stop.")
    cancel, answer = map(json.loads, turn.replies)
    assert cancel["method"] == "session/cancel"
    assert answer == {
        "jsonrpc": "2.0", "id": 7, "result": {"outcome": {"outcome": "cancelled"}}
    }  # fmt: skip
    assert conversation.answer(turn.state, asked.asks[0], DENIED).replies == ()


def asking(request_id: object) -> str:
    options = [{"optionId": "a", "kind": "allow_once"}, {"optionId": "r", "kind": "reject_once"}]
    return json.dumps({
        "jsonrpc": "2.0", "id": request_id, "method": "session/request_permission",
        "params": {"toolCall": {"toolCallId": "t", "kind": "edit"}, "options": options},
    })  # fmt: skip


def at_work(file: str = "opencode_deny"):
    """In its first turn."""
    played = play(file)
    working = [state for state in played.states if "session/prompt" in state.sent.values()]
    return played.conversation, working[0]


def test_an_edit_without_a_path_is_asked_without_one():
    conversation, state = at_work()
    (asks,) = conversation.converse(state, asking("x")).asks
    assert asks == Asks(id="x", tool="edit")


GAVE_UP = (
    "Error: Failed to get response from the AI model; retried 5 times (total retry wait time:"
    " 53.00 seconds) Last error: 429 Too Many Requests"
)


def reply(state, result) -> str:
    (number,) = state.sent
    return json.dumps({"jsonrpc": "2.0", "id": number, "result": result})


def says(text: str) -> str:
    update = {"sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": text}}
    return json.dumps({"jsonrpc": "2.0", "method": "session/update", "params": {"update": update}})


@pytest.mark.parametrize(
    ("file", "ending"), [("copilot_deny", Ending.TRANSIENT), ("opencode_deny", Ending.OK)]
)
def test_a_program_that_tells_a_limit_as_its_last_words_has_met_one(file, ending):
    conversation, state = at_work(file)
    state = conversation.converse(state, says(GAVE_UP)).state
    ended = conversation.converse(state, reply(state, {"stopReason": "end_turn"})).state
    assert conversation.outcome(ended, 0, ENDED).ending is ending


def test_words_about_a_limit_are_no_limit_once_it_said_something_else():
    conversation, state = at_work("copilot_deny")
    for text in (GAVE_UP, "All done."):
        state = conversation.converse(state, says(text)).state
    ended = conversation.converse(state, reply(state, {"stopReason": "end_turn"})).state
    assert conversation.outcome(ended, 0, ENDED).ending is Ending.OK


def test_usage_of_a_whole_session_is_counted_once():
    played = play("copilot_deny")
    usage = {"inputTokens": 500, "outputTokens": 100, "totalTokens": 600}
    ends = reply(played.state, {"stopReason": "end_turn", "usage": usage})
    state = played.conversation.converse(played.state, ends).state
    (used,) = state.usage
    assert (used.input_tokens, used.output_tokens) == (500, 100), "and 100 of the turn before"


@pytest.mark.parametrize(
    ("told", "name"),
    [
        ("$runtime|openai|scripted(openai)", "scripted"),
        ("coder-model(qwen-oauth)", "coder-model"),
        ("scripted/scripted", "scripted/scripted"),
        ("gpt-6[high]", "gpt-6[high]"),
        ("", ""),
    ],
)
def test_a_model_is_called_by_its_own_name(told, name):
    assert updates.model_name(told) == name


def test_a_warning_of_the_program_is_no_part_of_what_its_model_claims():
    conversation, state = at_work("codex_deny")
    warned = conversation.converse(state, says("Warning: no metadata.\n\n")).state
    chunk = json.loads(says("All done."))
    chunk["params"]["update"]["messageId"] = "item_1"
    for _ in range(2):
        warned = conversation.converse(warned, json.dumps(chunk)).state
    assert warned.claim == "All done.All done."
