"""What a verb is given, and what it returns: `Context` and `Reply`.

A surface (the command line, a server) makes a context for each call and prints the reply. A verb
reads the workspace through the context, and prints nothing itself unless its output is long.
"""

import os
import sys
from contextlib import suppress
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from msgspec import Struct

from dos import run_ids
from dos.errors import BadInput, ConfigInvalid, StoreBusy, WorkspaceMissing
from dos.text import LONGEST_PATH, escape_invisible, quote
from dos.verbs.output import print_stderr

if TYPE_CHECKING:  # imported at use: a verb that needs no workspace does not pay for it
    from dos.config.schema import Config
    from dos.journal.store import Store
    from dos.world import World

OUTPUTS = ("text", "json", "plain")


class Reply(Struct, frozen=True, kw_only=True):
    """The answer of a verb: text for people, data for programs, and the exit code.

    A reply without text and data prints nothing: the verb has printed its output already.
    """

    code: int = 0
    text: str = ""
    data: Any = None
    plain: str = ""  # one sentence for people who do not program; default: the text
    stderr: str = ""  # printed to stderr beside the answer
    next_action: str = ""  # printed with --explain; in JSON it is `interpretation`
    indented: bool = False
    always_json: bool = False


class Context:
    """The workspace of a call and its global options.

    What a verb reads is opened when it is first used, and closed with the context.
    """

    busy_seconds = 5.0  # how long a verb waits for the write lock
    # The process that called, as the kernel names it, where a server runs the verb; None: this one.
    caller_pid: int | None = None

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
        """`workspace` defaults to $DISPATCH_WORKSPACE, then to the current directory."""
        if output and output not in OUTPUTS:
            raise BadInput(
                f"unknown output format {quote(output)}", hint=f"Use one of: {', '.join(OUTPUTS)}."
            )
        self.as_json = output == "json" or (as_json and not output)
        self.plain = output == "plain"
        self.pretty = pretty
        self.explain = explain
        self._workspace = workspace or os.environ.get("DISPATCH_WORKSPACE") or "."
        self._lenient = lenient
        self._printed_warnings: set[str] = set()

    @cached_property
    def start_directory(self) -> Path:
        """Where the search for the workspace begins; raises WorkspaceMissing if missing."""
        # Not pathlib: it raises for a name that no file system can have.
        if not os.path.isdir(self._workspace):  # noqa: PTH112
            raise WorkspaceMissing(
                f"{quote(self._workspace, LONGEST_PATH)} is not a directory",
                hint="Give --workspace a repository, or cd into one.",
            )
        try:
            return Path(os.path.abspath(self._workspace))  # noqa: PTH100 - links are not resolved
        except FileNotFoundError:
            raise WorkspaceMissing(
                "the current directory no longer exists",
                hint="cd into a repository, or give --workspace.",
            ) from None

    @cached_property
    def world(self) -> "World":
        """For verbs that read settings. Raises ConfigInvalid for errors, except with --lenient."""
        from dos.world import World

        return World(self.start_directory, lenient=self._lenient)

    @cached_property
    def lenient_world(self) -> "World":
        """For verbs that report errors of dos.toml instead of stopping at them.

        A table with errors has its defaults, so nothing may be admitted or started by these
        settings.
        """
        from dos.world import World

        return World(self.start_directory, lenient=True)

    @cached_property
    def journal_world(self) -> "World":
        """For verbs that need the journal and no settings: only [store] must be valid."""
        try:
            if not self.world.loaded_config.problems:
                return self.world
        except ConfigInvalid:
            pass  # a warning is printed below
        world = self.lenient_world
        world.use_store_of_broken_config()
        self.warn_of_config_errors(world)
        return world

    @property
    def policy_world(self) -> "World":
        """For verbs that admit or act. Raises ConfigInvalid for errors, also with --lenient."""
        problems = self.world.loaded_config.problems
        if problems:
            first = problems[0]
            raise ConfigInvalid(str(first), hint=first.hint or "Run `dos lint` to see all errors.")
        return self.world

    @property
    def policy(self) -> "Config":
        """The settings, for verbs that admit or act."""
        return self.policy_world.config

    @cached_property
    def journal(self) -> "Store":
        """The journal for writing; it is created where there is none."""
        from dos.world import open_journal

        world = self.journal_world
        return open_journal(
            world.workspace, world.config.store.url, actor=actor(), busy_seconds=self.busy_seconds
        )

    def reload(self) -> None:
        """Close everything and read it again at next use: a journal may exist by then."""
        self.close()
        for name in ("journal", "world", "journal_world", "lenient_world"):
            self.__dict__.pop(name, None)

    def open_reader(self) -> "Store":
        """Open the journal a second time, for use in another thread. The caller closes it."""
        from dos.world import open_journal

        return open_journal(self.world.workspace, self.world.config.store.url)

    def print_line(self, line: str) -> None:
        """Print one line of a long output to stdout at once."""
        sys.stdout.write(escape_control_characters(line.replace("\n", "\\n")) + "\n")
        sys.stdout.flush()

    def warn(self, text: str) -> None:
        """Print lines to stderr; a line that was printed before is not repeated."""
        for line in text.rstrip("\n").split("\n"):
            if line not in self._printed_warnings:
                self._printed_warnings.add(line)
                print_stderr(line)

    def warn_of_config_errors(self, world: "World | None" = None) -> None:
        """Warn where a dos.toml with errors was read: by this world, or because of --lenient."""
        if world is None and self._lenient:
            world = self.__dict__.get("world")
        if world is None:
            return
        problems = world.loaded_config.problems
        if not problems:
            return
        more = ""
        if len(problems) > 1:
            more = f" (`dos lint` shows {len(problems) - 1} more)"
        self.warn(f"warning: {problems[0]}{more}")

    def close(self) -> None:
        """Close what was opened."""
        for name in ("journal", "world", "lenient_world"):
            if name in self.__dict__:
                # Only the clean-up at the end found the store busy: all that was written is kept.
                with suppress(StoreBusy):
                    getattr(self, name).close()


def actor() -> str:
    """Return who acts, for the journal: the run that calls, else the user."""
    return run_ids.named_in(os.environ) or os.environ.get("USER") or ""


def colour_wanted() -> bool:
    """Whether to print colours: $NO_COLOR, then $DOS_COLOR, then whether stdout is a terminal."""
    if "NO_COLOR" in os.environ:
        return False
    setting = os.environ.get("DOS_COLOR", "").lower()
    if setting:
        return setting not in ("never", "0", "false")
    return sys.stdout.isatty() and os.environ.get("TERM") != "dumb"


def escape_control_characters(text: str) -> str:
    """Escape what a terminal would act on; the colours of dos itself are kept."""
    if "\x1b[" not in text or not colour_wanted():
        return escape_invisible(text)
    import re

    # A split by a group has the text at even positions and the colours at odd ones.
    parts = re.split(r"(\x1b\[(?:0|2|31|32|33)m)", text)
    parts[::2] = [escape_invisible(part) for part in parts[::2]]
    return "".join(parts)


def stdout_is_utf8() -> bool:
    """Whether stdout can show more than ASCII."""
    encoding = (sys.stdout.encoding or "").lower()
    return encoding.replace("-", "").replace("_", "") == "utf8"
