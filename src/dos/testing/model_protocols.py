"""The answers of a scripted model in the protocols of four providers, streamed or whole."""

import time
from collections.abc import Sequence
from typing import Any

from msgspec import Struct, json

from dos.testing.model_requests import Body, text_of
from dos.testing.model_script import Call

USAGE = {"input": 100, "output": 20}
ERRORS = {429: "rate_limit_error", 529: "overloaded_error", 401: "authentication_error"}


class Message(Struct, frozen=True, kw_only=True):
    """What goes back over HTTP."""

    content: bytes
    content_type: str = "application/json"
    status: int = 200
    headers: dict[str, str] = {}


def answer(path: str, body: Body, calls: Sequence[Call], text: str) -> Message:
    """Return the model's answer: the calls, or the text where there are none."""
    if "/messages" in path:
        return _anthropic(body, calls, text)
    if "/responses" in path:
        return _openai_responses(body, calls, text)
    if "/chat/completions" in path:
        return _openai_chat(body, calls, text)
    return _gemini(path, calls, text)


def error(status: int, message: str, headers: dict[str, str]) -> Message:
    """Return the error of a provider, in a form that all programs read."""
    kind = ERRORS.get(status, "api_error")
    details = {"type": kind, "code": status, "status": kind.upper(), "message": message}
    content = json.encode({"type": "error", "error": details})
    return Message(content=content, status=status, headers=headers)


def _message(
    streamed: bool, whole: Body, events: Sequence[Body | str], *, named: bool = True
) -> Message:
    """Return the answer as a whole, or as server-sent events."""
    if not streamed:
        return Message(content=json.encode(whole))
    lines = []
    for event in events:
        if named and isinstance(event, dict):
            lines.append(f"event: {event['type']}\n")
        data = event if isinstance(event, str) else json.encode(event).decode()
        lines.append(f"data: {data}\n\n")
    return Message(content="".join(lines).encode(), content_type="text/event-stream")


def _anthropic(body: Body, calls: Sequence[Call], text: str) -> Message:
    ident = time.time_ns()
    blocks: list[Body] = []
    for number, call in enumerate(calls):
        block = {"type": "tool_use", "id": f"toolu_{ident}_{number}", "name": call.name}
        blocks.append({**block, "input": call.arguments})
    if not calls:
        blocks.append({"type": "text", "text": text})
    stop = "tool_use" if calls else "end_turn"
    tokens = {"input_tokens": USAGE["input"], "output_tokens": USAGE["output"]}
    message: Body = {
        "id": f"msg_{ident}",
        "type": "message",
        "role": "assistant",
        "model": body.get("model", "scripted"),
        "stop_sequence": None,
        "usage": {**tokens, "cache_creation_input_tokens": 0, "cache_read_input_tokens": 0},
    }
    start = {**message, "content": [], "stop_reason": None}
    events: list[Body] = [{"type": "message_start", "message": start}]
    for number, block in enumerate(blocks):
        events += _anthropic_block(number, block)
    ended = {"stop_reason": stop, "stop_sequence": None}
    usage = {"output_tokens": USAGE["output"]}
    events.append({"type": "message_delta", "delta": ended, "usage": usage})
    events.append({"type": "message_stop"})
    whole = {**message, "content": blocks, "stop_reason": stop}
    return _message(bool(body.get("stream")), whole, events)


def _anthropic_block(number: int, block: Body) -> list[Body]:
    """Return the events that stream one block of an answer."""
    if block["type"] == "tool_use":
        empty = {**block, "input": {}}
        sent = json.encode(block["input"]).decode()
        delta = {"type": "input_json_delta", "partial_json": sent}
    else:
        empty = {"type": "text", "text": ""}
        delta = {"type": "text_delta", "text": block["text"]}
    return [
        {"type": "content_block_start", "index": number, "content_block": empty},
        {"type": "content_block_delta", "index": number, "delta": delta},
        {"type": "content_block_stop", "index": number},
    ]


def _openai_responses(body: Body, calls: Sequence[Call], text: str) -> Message:
    ident = time.time_ns()
    items = [_responses_call(call, f"{ident}_{number}") for number, call in enumerate(calls)]
    if not calls:
        content = [{"type": "output_text", "text": text, "annotations": []}]
        said = {"type": "message", "role": "assistant", "content": content}
        items.append({"id": f"item_{ident}", "status": "completed", **said})
    done = {
        "id": f"resp_{ident}",
        "object": "response",
        "status": "completed",
        "model": body.get("model", "scripted"),
        "output": items,
        "usage": {
            "input_tokens": USAGE["input"],
            "output_tokens": USAGE["output"],
            "total_tokens": sum(USAGE.values()),
            "input_tokens_details": {"cached_tokens": 0},
            "output_tokens_details": {"reasoning_tokens": 0},
        },
    }
    created = {**done, "status": "in_progress", "output": []}
    events: list[Body] = [{"type": "response.created", "response": created}]
    for number, item in enumerate(items):
        added = {**item, "status": "in_progress"}
        kind = "response.output_item"
        events.append({"type": f"{kind}.added", "output_index": number, "item": added})
        events.append({"type": f"{kind}.done", "output_index": number, "item": item})
    events.append({"type": "response.completed", "response": done})
    return _message(bool(body.get("stream")), done, events)


def _responses_call(call: Call, ident: str) -> Body:
    """Return the item of a call; a tool in a namespace is named with it."""
    item: Body = {"id": f"item_{ident}", "status": "completed", "call_id": f"call_{ident}"}
    if call.kind == "custom":
        sent = text_of(call.arguments.get("input", ""))
        return {**item, "type": "custom_tool_call", "name": call.name, "input": sent}
    sent = json.encode(call.arguments).decode()
    item = {**item, "type": "function_call", "name": call.name, "arguments": sent}
    if call.namespace:
        item["namespace"] = call.namespace
    return item


def _openai_chat(body: Body, calls: Sequence[Call], text: str) -> Message:
    ident = time.time_ns()
    message: Body = {"role": "assistant", "content": None if calls else text}
    made = []
    for number, call in enumerate(calls):
        function = {"name": call.name, "arguments": json.encode(call.arguments).decode()}
        made.append(
            {
                "index": number,
                "id": f"call_{ident}_{number}",
                "type": "function",
                "function": function,
            }
        )
    if made:
        message["tool_calls"] = made
    finish = "tool_calls" if calls else "stop"
    head: dict[str, Any] = {
        "id": f"chat_{ident}",
        "created": int(time.time()),
        "model": body.get("model", "scripted"),
    }
    usage = {"prompt_tokens": USAGE["input"], "completion_tokens": USAGE["output"]}
    usage["total_tokens"] = sum(USAGE.values())
    choice = {"index": 0, "message": message, "finish_reason": finish}
    whole = {**head, "object": "chat.completion", "usage": usage, "choices": [choice]}
    chunk = {**head, "object": "chat.completion.chunk"}
    first = {"index": 0, "delta": message, "finish_reason": None}
    last = {"index": 0, "delta": {}, "finish_reason": finish}
    pieces: list[Body | str] = [
        {**chunk, "choices": [first]},
        {**chunk, "choices": [last], "usage": usage},
        "[DONE]",
    ]
    return _message(bool(body.get("stream")), whole, pieces, named=False)


def _gemini(path: str, calls: Sequence[Call], text: str) -> Message:
    parts: list[Body] = [
        {"functionCall": {"name": call.name, "args": call.arguments}} for call in calls
    ]
    content = {"role": "model", "parts": parts or [{"text": text}]}
    tokens = {"promptTokenCount": USAGE["input"], "candidatesTokenCount": USAGE["output"]}
    whole: Body = {
        "candidates": [{"content": content, "finishReason": "STOP", "index": 0}],
        "usageMetadata": {**tokens, "totalTokenCount": sum(USAGE.values())},
        "modelVersion": "scripted",
    }
    return _message("streamGenerateContent" in path, whole, [whole], named=False)
