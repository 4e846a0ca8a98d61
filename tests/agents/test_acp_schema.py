"""The official package of the protocol judges what the adapter sends, and what was recorded."""

import json
from typing import Any

import pytest
from acp import schema
from acp_replay import FILES, play, program_of, recorded
from captures import ENDED

from dos.agents.acp.conversation import CONVERSATIONS
from dos.agents.adapter import Settings
from dos.permission.ask import Allow

SENT = {
    "initialize": schema.InitializeRequest,
    "authenticate": schema.AuthenticateRequest,
    "session/new": schema.NewSessionRequest,
    "session/load": schema.LoadSessionRequest,
    "session/prompt": schema.PromptRequest,
    "session/cancel": schema.CancelNotification,
    "session/set_config_option": schema.SetSessionConfigOptionSelectRequest,
}
HEARD = {
    "session/update": schema.SessionNotification,
    "session/request_permission": schema.RequestPermissionRequest,
}
ANSWERS = {
    "initialize": schema.InitializeResponse,
    "session/new": schema.NewSessionResponse,
    "session/prompt": schema.PromptResponse,
}


def check_sent(message: dict[str, Any]) -> None:
    assert message["jsonrpc"] == "2.0"
    if "method" in message:
        SENT[message["method"]].model_validate(message["params"])
        assert ("id" in message) == (message["method"] != "session/cancel")
    elif "result" in message:
        schema.RequestPermissionResponse.model_validate(message["result"])
    else:
        schema.Error.model_validate(message["error"])


@pytest.mark.parametrize("file", FILES)
def test_everything_that_is_sent_is_as_the_schema_says(file):
    for message in play(file).sent:
        check_sent(message)


@pytest.mark.parametrize("file", FILES)
def test_the_recordings_are_as_the_schema_says(file):
    """Otherwise they would prove nothing about other programs."""
    asked: dict[object, str] = {}
    for each in recorded(file):
        if each.ours:
            asked[each.message.get("id")] = each.message.get("method", "")
        elif each.message.get("method") in HEARD:
            HEARD[each.message["method"]].model_validate(each.message["params"])
        elif isinstance(each.message.get("result"), dict):
            answer = ANSWERS.get(asked[each.message["id"]])
            if answer:
                answer.model_validate(each.message["result"])


def told(conversation, state, **message: object):
    turn = conversation.converse(state, json.dumps({"jsonrpc": "2.0", **message}))
    for line in turn.replies:
        check_sent(json.loads(line))
    return turn


def offering(**capabilities: object) -> dict[str, object]:
    key = {"id": "api-key", "name": "A key", "_meta": {"api-key": {}}}
    web = {"id": "web", "name": "A browser"}
    return {
        "protocolVersion": 1,
        "agentCapabilities": capabilities,
        "authMethods": [web, key],
    }


def test_an_earlier_conversation_is_loaded_where_the_program_can():
    conversation = CONVERSATIONS["acp"]
    opened = conversation.open("go on", Settings(directory="/repo", resume="s1"))
    turn = told(conversation, opened.state, id=1, result=offering(loadSession=True))
    (load,) = map(json.loads, turn.replies)
    assert (load["method"], load["params"]["sessionId"]) == ("session/load", "s1")
    old = {"sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": "Old."}}
    update = {"sessionId": "s1", "update": old}
    turn = told(conversation, turn.state, method="session/update", params=update)
    turn = told(conversation, turn.state, id=2, result={})
    (prompt,) = map(json.loads, turn.replies)
    assert (prompt["method"], prompt["params"]["sessionId"]) == ("session/prompt", "s1")
    assert turn.state.session == "s1"
    assert turn.state.claim == ""


def test_a_program_that_cannot_load_begins_anew():
    conversation = CONVERSATIONS["acp"]
    opened = conversation.open("go on", Settings(directory="/repo", resume="s1"))
    turn = told(conversation, opened.state, id=1, result=offering())
    assert json.loads(turn.replies[0])["method"] == "session/new"


def test_a_missing_login_is_tried_once_with_a_key_and_never_in_a_browser():
    conversation = CONVERSATIONS["acp"]
    opened = conversation.open("work", Settings(directory="/repo"))
    turn = told(conversation, opened.state, id=1, result=offering())
    wanted = {"code": -32000, "message": "Authentication required"}
    turn = told(conversation, turn.state, id=2, error=wanted)
    (login,) = map(json.loads, turn.replies)
    assert (login["method"], login["params"]) == ("authenticate", {"methodId": "api-key"})
    turn = told(conversation, turn.state, id=3, result={})
    assert json.loads(turn.replies[0])["method"] == "session/new"
    turn = told(conversation, turn.state, id=4, error=wanted)
    assert turn.replies == ()
    assert conversation.is_over(turn.state)
    assert conversation.outcome(turn.state, 0, ENDED).ending == "auth"


def test_a_model_is_chosen_by_the_option_of_its_category():
    conversation = CONVERSATIONS["acp"]
    opened = conversation.open("work", Settings(directory="/repo", model="big"))
    turn = told(conversation, opened.state, id=1, result=offering())
    option = {"id": "m", "name": "Model", "category": "model", "type": "select"}
    option |= {"currentValue": "small", "options": [{"value": "small", "name": "s"}]}
    begun = {"sessionId": "s1", "configOptions": [option]}
    turn = told(conversation, turn.state, id=2, result=begun)
    (chosen,) = map(json.loads, turn.replies)
    assert chosen["params"] == {"sessionId": "s1", "configId": "m", "value": "big"}
    answered = told(conversation, turn.state, id=3, result={"configOptions": []})
    assert json.loads(answered.replies[0])["method"] == "session/prompt"
    assert answered.state.model == "big"
    failed = told(conversation, turn.state, id=3, error={"code": -32602, "message": "no such"})
    assert conversation.is_over(failed.state)
    assert conversation.outcome(failed.state, 0, ENDED).ending == "model_unavailable"


@pytest.mark.parametrize("version", [0, 2, "1", None])
def test_only_the_version_that_is_spoken_here_is_spoken(version):
    """A program of version 2 does not end its turn by its answer: it would never be over."""
    conversation = CONVERSATIONS["acp"]
    opened = conversation.open("work", Settings(directory="/repo"))
    turn = told(conversation, opened.state, id=1, result={"protocolVersion": version, "x": 1})
    assert turn.replies == ()
    assert conversation.is_over(turn.state)
    outcome = conversation.outcome(turn.state, 0, ENDED)
    assert outcome.ending == "launch_failed"
    assert outcome.found.field == "protocolVersion"


def test_an_option_that_allows_for_good_is_never_chosen():
    conversation, state = program_of("opencode_deny"), play("opencode_deny").states[4]
    options = [{"optionId": "always", "kind": "allow_always", "name": "Always"}]
    request = {"sessionId": "s", "toolCall": {"toolCallId": "t"}, "options": options}
    asked = told(conversation, state, id="q", method="session/request_permission", params=request)
    turn = conversation.answer(asked.state, asked.asks[0], Allow())
    check_sent(json.loads(turn.replies[0]))
    assert json.loads(turn.replies[0])["result"] == {"outcome": {"outcome": "cancelled"}}


STOPPED = {
    "max_tokens": "context",
    "max_turn_requests": "turn_cap",
    "refusal": "unknown",
    "cancelled": "unknown",
    "something_new": "unknown",
}


@pytest.mark.parametrize("reason", STOPPED)
def test_a_stop_reason_is_an_ending(reason):
    played = play("claude_allow")
    states = [state for state in played.states if "session/prompt" in state.sent.values()]
    (number,) = states[-1].sent
    turn = told(played.conversation, states[-1], id=number, result={"stopReason": reason})
    assert played.conversation.outcome(turn.state, 0, ENDED).ending == STOPPED[reason]
