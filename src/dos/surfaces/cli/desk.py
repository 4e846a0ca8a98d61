"""What a verb is handed, and what it gives back."""

import os
import sys
from contextlib import suppress
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from msgspec import Struct

from dos.errors import BadInput, ConfigInvalid, StoreBusy

if TYPE_CHECKING:  # imported at use: a verb that asks nothing of the workspace does not pay for it
    from dos.config.tables import Config
    from dos.journal.store import Store
    from dos.sources.world import World

OUTPUTS = ("text", "json", "plain")


class Reply(Struct, frozen=True, kw_only=True):
    """A verb's answer: the text for people, the data for programs, and the exit code, which is the verdict."""

    code: int = 0
    text: str = ""
    data: Any = None
    plain: str = ""  # a sentence for people who do not program; the text when there is none
    complaint: str = ""  # said on stderr, beside the answer
    next_action: str = ""  # said with --explain; in JSON it is `interpretation`
    indented: bool = False
    always_json: bool = False


class Desk:
    """The workspace as the command line was told to see it."""

    busy_seconds = 5.0  # how long a verb waits for the write lock

    def __init__(
        self,
        *,
        workspace: str = "",
        as_json: bool = False,
        output: str = "",
        pretty: bool = False,
        explain: bool = False,
        lenient: bool = False,
    ) -> None:
        if output and output not in OUTPUTS:
            from dos.records.names import shown

            raise BadInput(f"there is no output {shown(output)}", hint=f"Use one of: {', '.join(OUTPUTS)}.")
        self.as_json = output == "json" or (as_json and not output)
        self.plain = output == "plain"
        self.pretty = pretty
        self.explain = explain
        self.start = Path(workspace or os.environ.get("DISPATCH_WORKSPACE") or ".")
        self._lenient = lenient

    @cached_property
    def world(self) -> "World":
        from dos.sources.world import World

        return World(self.start, lenient=self._lenient)

    @cached_property
    def forgiving_world(self) -> "World":
        """For verbs whose task is to say what is wrong: a dos.toml with errors does not stop them."""
        from dos.sources.world import World

        return World(self.start, lenient=True)

    @property
    def policy(self) -> "Config":
        """The configuration for a verb that admits or acts: it never goes by a file that has errors in it."""
        if problems := self.world.loaded.problems:
            raise ConfigInvalid(str(problems[0]), hint=problems[0].hint or "Run `dos lint` to see what is wrong.")
        return self.world.config

    @cached_property
    def journal(self) -> "Store":
        """The journal for writing; made when it is not there."""
        from dos.sources.world import open_journal

        place, url = self.world.workspace, self.world.config.store.url
        return open_journal(place, url, actor=actor(), busy_seconds=self.busy_seconds)

    def look_again(self) -> None:
        """Forget what was read: a journal may have appeared since."""
        self.world.close()
        del self.world

    def reader(self) -> "Store":
        """A second view of the journal, for a thread of its own."""
        from dos.sources.world import open_journal

        return open_journal(self.world.workspace, self.world.config.store.url)

    def say(self, line: str) -> None:
        """One line of a long story, at once."""
        sys.stdout.write(line + "\n")
        sys.stdout.flush()

    def close(self) -> None:
        for name in ("journal", "world", "forgiving_world"):
            if name in self.__dict__:
                # Only the tidying at the end found no room: everything that was written is written.
                with suppress(StoreBusy):
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


def speaks_unicode() -> bool:
    """Whether what is printed may hold more than ASCII and still be read."""
    return (sys.stdout.encoding or "").lower().replace("-", "").replace("_", "") == "utf8"
