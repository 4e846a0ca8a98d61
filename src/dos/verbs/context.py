"""What a verb is handed, and what it gives back."""

import os
import sys
from contextlib import suppress
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from msgspec import Struct

from dos.errors import BadInput, ConfigInvalid, StoreBusy, WorkspaceMissing
from dos.text import LONGEST_PATH, escape_invisible, quote
from dos.verbs.output import print_stderr

if TYPE_CHECKING:  # imported at use: a verb that asks nothing of the workspace does not pay for it
    from dos.config.schema import Config
    from dos.journal.store import Store
    from dos.world import World

OUTPUTS = ("text", "json", "plain")


class Reply(Struct, frozen=True, kw_only=True):
    """A verb's answer: the text for people, the data for programs, and the exit code, which is the verdict."""

    code: int = 0
    text: str = ""
    data: Any = None
    plain: str = ""  # a sentence for people who do not program; the text when there is none
    stderr: str = ""  # said on stderr, beside the answer
    next_action: str = ""  # said with --explain; in JSON it is `interpretation`
    indented: bool = False
    always_json: bool = False


class Context:
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
            raise BadInput(
                f"there is no output {quote(output)}", hint=f"Use one of: {', '.join(OUTPUTS)}."
            )
        self.as_json = output == "json" or (as_json and not output)
        self.plain = output == "plain"
        self.pretty = pretty
        self.explain = explain
        self._workspace = workspace or os.environ.get("DISPATCH_WORKSPACE") or "."
        self._lenient = lenient
        self._said: set[str] = set()

    @cached_property
    def start_directory(self) -> Path:
        """Where the look for the workspace begins."""
        if not os.path.isdir(self._workspace):  # noqa: PTH112 - pathlib raises for a name that no system can have
            raise WorkspaceMissing(
                f"{quote(self._workspace, LONGEST_PATH)} is not a directory",
                hint="Give --workspace a repository, or cd into one.",
            )
        try:
            return Path(os.path.abspath(self._workspace))  # noqa: PTH100 - what is a link stays one
        except FileNotFoundError:
            raise WorkspaceMissing(
                "the directory that you are in is not there any more",
                hint="cd into a repository, or give --workspace.",
            ) from None

    @cached_property
    def world(self) -> "World":
        """For verbs that need the policy: a dos.toml with errors stops them, unless --lenient lets them read on."""
        from dos.world import World

        return World(self.start_directory, lenient=self._lenient)

    @cached_property
    def lenient_world(self) -> "World":
        """For verbs whose task is to say what is wrong: a dos.toml with errors does not stop them."""
        from dos.world import World

        return World(self.start_directory, lenient=True)

    @cached_property
    def journal_world(self) -> "World":
        """For verbs that need the journal and no policy: of dos.toml only [store] has to be readable."""
        try:
            if not self.world.loaded_config.problems:
                return self.world
        except ConfigInvalid:
            pass  # said below, as a warning
        from dos.config.past_errors import with_store_only

        found, place = self.lenient_world, self.lenient_world.workspace
        found.loaded_config = with_store_only(found.loaded_config, place.config, place.state)
        self.warn_of_config_errors(found)
        return found

    @property
    def policy_world(self) -> "World":
        """For a verb that admits or acts: it never goes by a file that has errors in it, --lenient or not."""
        if problems := self.world.loaded_config.problems:
            raise ConfigInvalid(
                str(problems[0]), hint=problems[0].hint or "Run `dos lint` to see what is wrong."
            )
        return self.world

    @property
    def policy(self) -> "Config":
        return self.policy_world.config

    @cached_property
    def journal(self) -> "Store":
        """The journal for writing; made when it is not there."""
        from dos.world import open_journal

        found = self.journal_world
        return open_journal(
            found.workspace, found.config.store.url, actor=actor(), busy_seconds=self.busy_seconds
        )

    def reload(self) -> None:
        """Forget what was read: a journal may have appeared since."""
        self.close()
        for name in ("journal", "world", "journal_world", "lenient_world"):
            self.__dict__.pop(name, None)

    def open_reader(self) -> "Store":
        """A second view of the journal, for a thread of its own."""
        from dos.world import open_journal

        return open_journal(self.world.workspace, self.world.config.store.url)

    def print_line(self, line: str) -> None:
        """One line of a long story, at once."""
        sys.stdout.write(escape_control_characters(line.replace("\n", "\\n")) + "\n")
        sys.stdout.flush()

    def warn(self, text: str) -> None:
        """Lines beside the answer, each of them once."""
        for line in text.rstrip("\n").split("\n"):
            if line not in self._said:
                self._said.add(line)
                print_stderr(line)

    def warn_of_config_errors(self, world: "World | None" = None) -> None:
        """Once, and only where a dos.toml with errors was read past."""
        read = world or (self.__dict__.get("world") if self._lenient else None)
        if read and (problems := read.loaded_config.problems):
            more = f" (`dos lint` shows {len(problems) - 1} more)" if len(problems) > 1 else ""
            self.warn(f"warning: {problems[0]}{more}")

    def close(self) -> None:
        for name in ("journal", "world", "lenient_world"):
            if name in self.__dict__:
                # Only the tidying at the end found no room: everything that was written is written.
                with suppress(StoreBusy):
                    getattr(self, name).close()


def actor() -> str:
    return (
        os.environ.get("DOS_RUN_ID") or os.environ.get("CID_RUN_ID") or os.environ.get("USER") or ""
    )


def colour_wanted() -> bool:
    """Colour only for a person who looks and did not say no."""
    if "NO_COLOR" in os.environ:
        return False
    wish = os.environ.get("DOS_COLOR", "").lower()
    if wish:
        return wish not in ("never", "0", "false")
    return sys.stdout.isatty() and os.environ.get("TERM") != "dumb"


def escape_control_characters(text: str) -> str:
    """What may be printed: whatever is in a name, a terminal shows it. Of escape sequences our own colours are left."""
    if "\x1b[" not in text or not colour_wanted():
        return escape_invisible(text)
    import re

    parts = re.split(r"(\x1b\[(?:0|2|31|32|33)m)", text)
    return "".join(
        part if number % 2 else escape_invisible(part) for number, part in enumerate(parts)
    )


def stdout_is_utf8() -> bool:
    """Whether what is printed may hold more than ASCII and still be read."""
    return (sys.stdout.encoding or "").lower().replace("-", "").replace("_", "") == "utf8"
