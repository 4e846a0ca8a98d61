"""What a verb is handed, and what it gives back."""

import os
import sys
from functools import cached_property
from pathlib import Path
from typing import Any

from msgspec import Struct

from dos.journal.store import Store
from dos.sources.world import World, open_journal


class Reply(Struct, frozen=True, kw_only=True):
    """A verb's answer: the text for people, the data for programs, and the exit code, which is the verdict."""

    code: int = 0
    text: str = ""
    data: Any = None
    next_action: str = ""  # said with --explain; in JSON it is `interpretation`
    indented: bool = False
    always_json: bool = False


class Desk:
    """The workspace as the command line was told to see it."""

    def __init__(
        self, *, workspace: str = "", as_json: bool = False, explain: bool = False, lenient: bool = False
    ) -> None:
        self.as_json = as_json
        self.explain = explain
        self.start = Path(workspace or os.environ.get("DISPATCH_WORKSPACE") or ".")
        self._lenient = lenient

    @cached_property
    def world(self) -> World:
        return World(self.start, lenient=self._lenient)

    @cached_property
    def journal(self) -> Store:
        """The journal for writing; made when it is not there."""
        return open_journal(self.world.workspace, self.world.config.store.url, actor=actor())

    def reader(self) -> Store:
        """A second view of the journal, for a thread of its own."""
        return open_journal(self.world.workspace, self.world.config.store.url)

    def say(self, line: str) -> None:
        """One line of a long story, at once."""
        sys.stdout.write(line + "\n")
        sys.stdout.flush()

    def close(self) -> None:
        for name in ("journal", "world"):
            if name in self.__dict__:
                getattr(self, name).close()


def actor() -> str:
    return os.environ.get("DOS_RUN_ID") or os.environ.get("CID_RUN_ID") or os.environ.get("USER") or ""


def colour() -> bool:
    """Colour only for a person who looks and did not say no."""
    if "NO_COLOR" in os.environ:
        return False
    wish = os.environ.get("DOS_COLOR", "").lower()
    if wish:
        return wish not in ("never", "0", "false")
    return sys.stdout.isatty()
