"""The captured output of the real programs, and clocks to judge it by."""

from datetime import UTC, datetime
from pathlib import Path

from dos.agents.adapter import Clocks

FOLDER = Path(__file__).parent.parent / "fixtures" / "agents"
NOW = datetime(2026, 11, 15, 14, 0, 20, tzinfo=UTC)  # a Sunday
ENDED = Clocks(ended_at=NOW)
SILENT = Clocks(ended_at=NOW, silent=True)
ADAPTERS = {"claude": "claude_code", "codex": "codex", "gemini": "gemini", "opencode": "opencode"}


def lines(file: str) -> list[str]:
    return (FOLDER / file).read_text(encoding="utf-8").splitlines()


def adapter_of(file: str) -> str:
    return ADAPTERS[file.partition("-")[0]]
