"""Plays recorded conversations of real programs against the adapter."""

import json
from pathlib import Path
from typing import Any, NamedTuple

from dos.agents.acp.conversation import CONVERSATIONS, AcpConversation
from dos.agents.adapter import Settings
from dos.agents.conversation import Asks
from dos.permission.ask import Allow, Deny

FOLDER = Path(__file__).parents[1] / "fixtures" / "acp"
FILES = sorted(path.stem for path in FOLDER.glob("*.jsonl"))
ROWS = {
    "claude": "claude_acp",
    "codex": "codex_acp",
    "copilot": "copilot",
    "gemini": "gemini_acp",
    "opencode": "opencode_acp",
    "qwen": "qwen",
}
DENIED = Deny(reason="docs/evil.md is outside of your lane.", hint="Stay in src/.")


class Recorded(NamedTuple):
    ours: bool
    message: dict[str, Any]

    @property
    def line(self) -> str:
        return json.dumps(self.message)


class Played(NamedTuple):
    conversation: AcpConversation
    states: list[Any]
    sent: list[dict[str, Any]]
    asked: list[Asks]

    @property
    def state(self) -> Any:
        return self.states[-1]


def recorded(file: str) -> list[Recorded]:
    lines = map(json.loads, (FOLDER / f"{file}.jsonl").read_text().splitlines())
    return [Recorded(line["dir"] == ">", line["m"]) for line in lines]


def program_of(file: str) -> AcpConversation:
    return CONVERSATIONS[ROWS[file.partition("_")[0]]]


def prompt_of(lines: list[Recorded]) -> str:
    (prompt,) = (
        each.message["params"]["prompt"] for each in lines
        if each.message.get("method") == "session/prompt"
    )  # fmt: skip
    return str(prompt[0]["text"])


def play(file: str) -> Played:
    """Give the adapter what the program said, and let it answer as it was answered then."""
    lines, conversation = recorded(file), program_of(file)
    turn = conversation.open(prompt_of(lines), Settings(directory="/repo"))
    states, asked = [turn.state], []
    sent = list(turn.replies)
    allow = "_allow" in file
    for each in lines:
        if each.ours:
            if each.message.get("method") == "session/cancel":
                turn = conversation.steer(states[-1], "Stop, and write a test first.")
                assert turn is not None
                states.append(turn.state)
                sent += turn.replies
            continue
        turn = conversation.converse(states[-1], each.line)
        states.append(turn.state)
        sent += turn.replies
        for asks in turn.asks:
            asked.append(asks)
            turn = conversation.answer(states[-1], asks, Allow() if allow else DENIED)
            states.append(turn.state)
            sent += turn.replies
    return Played(conversation, states, [json.loads(line) for line in sent], asked)
