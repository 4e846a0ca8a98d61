"""What holds of a conversation, whatever the program says and in whatever order."""

import json
from functools import partial

import pytest
from acp_replay import DENIED, FILES, recorded
from captures import NOW
from hypothesis import given
from hypothesis import strategies as st
from msgspec import msgpack

from dos.agents.acp.conversation import CONVERSATIONS
from dos.agents.adapter import Clocks, Ending, Settings
from dos.agents.conversations.dialogue import Dialogue
from dos.permission.ask import Allow

HEARD = [each.line for file in FILES for each in recorded(file) if not each.ours]
KEYS = st.sampled_from(
    """id method params result error code data errorKind update sessionUpdate toolCall
    toolCallId options optionId kind content text locations path rawInput rawOutput command
    usage cost amount _meta quota model_usage token_count inputTokens totalTokens stopReason
    sessionId protocolVersion agentCapabilities authMethods configOptions category models""".split()  # noqa: SIM905 - a list would fill the page
)
WORDS = st.sampled_from(
    """session/update session/request_permission fs/write_text_file agent_message_chunk
    tool_call tool_call_update usage_update session_info_update end_turn cancelled refusal
    completed allow_once reject_once edit execute USD model api-key rate_limit""".split()  # noqa: SIM905 - a list would fill the page
)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-3, 2**63) | st.floats() | st.text(max_size=9) | WORDS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=5),
    max_leaves=12,
)
MESSAGES = st.fixed_dictionaries(
    {"jsonrpc": st.just("2.0")},
    optional={
        "id": st.integers(0, 5) | VALUES,
        "method": WORDS | VALUES,
        "params": st.dictionaries(KEYS, VALUES, max_size=5),
        "result": st.dictionaries(KEYS, VALUES, max_size=5) | VALUES,
        "error": st.dictionaries(KEYS, VALUES, max_size=4) | VALUES,
    },
)
LINES = st.lists(
    st.sampled_from(HEARD)
    | MESSAGES.map(json.dumps)
    | VALUES.map(json.dumps)
    | st.text(max_size=40),
    max_size=20,
)
CLOCKS = st.builds(
    partial(Clocks, ended_at=NOW), silent=st.booleans(), idle=st.booleans(), stopped=st.booleans()
)


@pytest.mark.parametrize("name", CONVERSATIONS)
@given(
    said=LINES,
    allowed=st.booleans(),
    steered=st.sets(st.integers(0, 20), max_size=3),
    exit_code=st.none() | st.integers(-64, 255),
    clocks=CLOCKS,
)
def test_any_conversation_can_be_had_and_judged(name, said, allowed, steered, exit_code, clocks):
    conversation = CONVERSATIONS[name]
    dialogue = Dialogue(conversation)
    sent = list(dialogue.begin("work", Settings(directory="/repo")).replies)
    for number, line in enumerate(said):
        before = msgpack.encode(dialogue.state)
        state = dialogue.state
        exchange = dialogue.on_line(line)
        assert msgpack.encode(state) == before, "a state that was given is left as it was"
        sent += exchange.replies
        for asks in exchange.asks:
            sent += dialogue.answer(asks, Allow() if allowed else DENIED)
        if number in steered:
            sent += dialogue.steer("Stop.", lambda: None) or ()
    for line in sent:
        assert "\n" not in line
        assert json.loads(line)["jsonrpc"] == "2.0"
    numbers = [message["id"] for line in sent if "method" in (message := json.loads(line))
               and "id" in message]  # fmt: skip
    assert numbers == list(range(1, len(numbers) + 1))
    outcome = conversation.outcome(dialogue.state, exit_code, clocks)
    assert len(outcome.claim) <= 2000
    assert all(used.input_tokens >= 0 and used.output_tokens >= 0 for used in outcome.usage)
    msgpack.encode(outcome)
    if outcome.ending is Ending.OK:
        assert not clocks.stopped
        assert exit_code == 0 or dialogue.is_over


@pytest.mark.parametrize("name", CONVERSATIONS)
@given(said=LINES)
def test_after_its_end_a_program_can_say_nothing_that_changes_how_it_ended(name, said):
    conversation = CONVERSATIONS[name]
    dialogue = Dialogue(conversation)
    dialogue.begin("work", Settings(directory="/repo"))
    begun = [
        {"id": 1, "result": {"protocolVersion": 1}},
        {"id": 2, "result": {"sessionId": "s"}},
        {"id": 3, "error": {"code": -32603, "message": "429", "data": {"errorKind": "rate_limit"}}},
    ]
    for message in begun:
        dialogue.on_line(json.dumps({"jsonrpc": "2.0", **message}))
    assert dialogue.is_over
    clocks = Clocks(ended_at=NOW)
    for line in said:
        dialogue.on_line(line)
    assert conversation.outcome(dialogue.state, 0, clocks).ending is Ending.TRANSIENT
