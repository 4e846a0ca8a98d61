"""Show the log of the agent on a lane.

It shows the newest log of the lane; of a worker that failed before it started an agent, what the
worker printed. With -f it continues until Ctrl-C, also with agents that are started later. A log
can be read only on the host where its agent runs.
"""

import os
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any, TypeVar

from msgspec import Struct, json, to_builtins

from dos import run_ids
from dos.agents import registry
from dos.agents.adapter import StreamState
from dos.agents.io import logs
from dos.agents.io.logs import FailedStart, Log
from dos.cli.lanes import caller
from dos.errors import BadInput
from dos.journal import run_state
from dos.journal.events.fleet import AgentStarted
from dos.journal.events.reader import select
from dos.machine import process
from dos.report import event_lines
from dos.report.event_lines import AgentLine
from dos.text import (
    comparison_key,
    escape_invisible,
    join_some,
    one_line,
    quote,
    replace_undecodable,
    slug,
    validated_name,
)
from dos.verbs.args import Option
from dos.verbs.context import Context, Reply
from dos.world import World

EXITS = {"reported": 0, "no-log": 1, "contract_error": 2}
POLL_SECONDS = 0.2
MOST_LINES = 1_000_000
FIRST_READ = 1 << 18  # bytes from the end; four times as many until there are enough lines
LONGEST_LINE = 1 << 20
T = TypeVar("T")


class Args(Struct, kw_only=True):
    """Which log to show, and how."""

    lane: Annotated[str, Option(help="the lane", positional=True, metavar="LANE")]
    follow: Annotated[bool, Option(help="continue with new lines", flags=("-f",))] = False
    run: Annotated[str, Option(help="only logs of this run", metavar="RID")] = ""
    raw: Annotated[bool, Option(help="print the lines as the agent wrote them")] = False
    lines: Annotated[int, Option(help="how many lines to show from the end", metavar="N")] = 50


def run(args: Args, context: Context) -> Reply:
    """Print the end of the newest log of the lane, or follow it; exit code 1 if there is none.

    With --raw the lines are printed here, byte by byte: a reply is text, and a log may hold bytes
    that are none.
    """
    if not 0 <= args.lines <= MOST_LINES:
        raise BadInput(
            f"--lines is {args.lines}; it must be from 0 to {MOST_LINES}",
            hint="For example: --lines 100",
        )
    if args.raw and context.as_json:
        raise BadInput("--raw and --json exclude one another", hint="Leave one of them out.")
    run_id = run_ids.validated_run_id(args.run) if args.run else ""
    world = context.journal_world
    lane = _find_lane(world, validated_name(args.lane, "lane name"))
    if args.follow:
        return _follow(args, context, lane, run_id)
    if failed := logs.failed_start(world.workspace.state, lane, run_id):
        return _describe_failed_start(failed, lane, args)
    lane_logs = logs.lane_logs(world.workspace.state, lane, run_id)
    if not lane_logs:
        subject = f"{run_id} on lane {lane}" if run_id else f"lane {lane}"
        return Reply(
            code=1,
            text=f"No log of {subject} on this host: {_why_no_log(world, lane)}",
            data={"lane": lane, "run_id": run_id, "log": None, "lines": []},
        )
    reader = _LogReader(world, lane_logs[-1], raw=args.raw)
    lines = []
    if args.lines:
        whole_lines = reader.tail.last(args.lines, reader.read)
        lines = [*whole_lines, *reader.read_partial_line()][-args.lines :]
    if args.raw:
        for line in lines:
            _print_raw(line.text)
        return Reply()
    return Reply(
        text="\n".join([reader.title(), *(one_line(line.text.expandtabs()) for line in lines)]),
        data=reader.describe(lane) | {"lines": to_builtins(lines)},
    )


def _describe_failed_start(failed: FailedStart, lane: str, args: Args) -> Reply:
    """Return what the newest worker of the lane printed instead of starting an agent."""
    lines = [AgentLine("line", line) for line in failed.lines[-args.lines :] if args.lines]
    if args.raw:
        for line in lines:
            _print_raw(line.text)
        return Reply()
    title = f"== {failed.run_id}, its worker failed before it started an agent"
    return Reply(
        text="\n".join([title, *(one_line(line.text.expandtabs()) for line in lines)]),
        data={
            "lane": lane,
            "run_id": failed.run_id,
            "log": str(failed.path),
            "lines": to_builtins(lines),
        },
    )


def _why_no_log(world: World, lane: str) -> str:
    """Return why there is no log here: the worker is on another host, or none was written."""
    key = comparison_key(lane)
    leases = [lease for lease in world.journal.leases() if comparison_key(lease.lane) == key]
    if leases and not process.is_local(leases[-1]):
        return f"its worker is on {leases[-1].host}"
    return "no agent was started, or its log was removed"


def _follow(args: Args, context: Context, lane: str, run_id: str) -> Reply:
    """Print the newest log and what is added, then each newer log from its beginning.

    Ends with Ctrl-C. A lane without a log is waited for. The last line of a log is printed once a
    newer log exists, even if it has no end.
    """
    world = context.journal_world
    reader: _LogReader | None = None
    try:
        while True:
            lane_logs = logs.lane_logs(world.workspace.state, lane, run_id)
            next_log = None
            if reader is None:
                count = args.lines
                if lane_logs:
                    next_log = lane_logs[-1]
            else:
                count = MOST_LINES
                newer = [log for log in lane_logs if log > reader.log]
                _print_lines(context, reader, reader.read_new_lines())
                if newer:
                    next_log = newer[0]
                    _print_lines(context, reader, reader.read_partial_line())
            if next_log is None:
                time.sleep(POLL_SECONDS)
                continue
            reader = _LogReader(world, next_log, raw=args.raw)
            if not args.raw and not context.as_json:
                context.print_line(reader.title())
            _print_lines(context, reader, reader.tail.last(count, reader.read))
    except KeyboardInterrupt:
        return Reply()


class Tail:
    """A file that is read by whole lines: a line without an end is kept until it has one.

    The file may be replaced, truncated or removed meanwhile; then reading starts again with what is
    there.
    """

    def __init__(self, path: Path) -> None:
        """Read this file, which need not exist yet."""
        self.path = path
        self._position = 0
        self._partial_line = b""
        self._file: tuple[int, int] | None = None  # device and inode of what was read

    def last(self, count: int, read: Callable[[bytes], list[T]]) -> list[T]:
        """Return the last `count` items that `read` makes of the lines.

        Reads more and more of the file until there are enough: most lines may give no item.
        """
        width = FIRST_READ
        while True:
            data, start = self._read(-width)
            lines = data.split(b"\n")
            if start:
                del lines[0]  # it may be cut in two
            items = [item for line in lines[:-1] for item in read(line)]
            if len(items) >= count or not start:
                self._partial_line = lines[-1] if lines else b""
                if count:
                    return items[-count:]
                return []
            width *= 4

    def read_new_lines(self) -> list[bytes]:
        """Return the whole lines that were added since the last read."""
        data, start = self._read(self._position)
        if not start:
            self._partial_line = b""
        *lines, self._partial_line = (self._partial_line + data).split(b"\n")
        if len(self._partial_line) > LONGEST_LINE:
            lines.append(self._partial_line)
            self._partial_line = b""
        return lines

    def take_partial_line(self) -> list[bytes]:
        """Return the line that has no end, if there is one, once nothing more is written."""
        partial = self._partial_line
        self._partial_line = b""
        if partial:
            return [partial]
        return []

    def _read(self, start: int) -> tuple[bytes, int]:
        """Read from a position to the end; return the data and where it began.

        A position below zero counts from the end. Another file, or a shorter one, is read whole.
        """
        try:
            with self.path.open("rb") as file:
                status = os.fstat(file.fileno())
                identity = (status.st_dev, status.st_ino)
                is_new = identity != self._file or status.st_size < self._position
                if start < 0:
                    start = max(0, status.st_size + start)
                elif is_new:
                    start = 0
                file.seek(start)
                data = file.read(status.st_size - start)
        except FileNotFoundError:
            return b"", self._position  # old logs are removed
        self._position = start + len(data)
        self._file = identity
        return data, start


class _LogReader:
    """One log, read by the adapter of the agent that wrote it."""

    def __init__(self, world: World, log: Log, *, raw: bool) -> None:
        """Read a log with the adapter of the agent that wrote it; raw, or without one, as it is."""
        self.log = log
        self.tail = Tail(log.path)
        self.raw = raw
        self.agent = _find_agent(world, log)
        self._adapter = None
        self._state = StreamState()
        adapter_name = _adapter_name(world, self.agent)
        # An agent that was removed from dos.toml may have no adapter any more.
        if not raw and adapter_name in registry.names():
            self._adapter = registry.find(adapter_name)
            self._state = self._adapter.begin()

    def read(self, line: bytes) -> list[AgentLine]:
        """Return what a line of the log tells people; with `raw`, the line itself."""
        if self.raw:
            return [AgentLine("line", line.decode("utf-8", "surrogateescape"))]
        text = line.decode("utf-8", "replace")
        if self._adapter:
            self._state = self._adapter.on_line(self._state, text)
        return event_lines.agent_lines(text, self._state.heard)

    def read_new_lines(self) -> list[AgentLine]:
        """Return what the lines tell that were added since the last read."""
        return [item for line in self.tail.read_new_lines() for item in self.read(line)]

    def read_partial_line(self) -> list[AgentLine]:
        """Return what a last line without an end tells."""
        return [item for line in self.tail.take_partial_line() for item in self.read(line)]

    def title(self) -> str:
        """Return the line above a log: its run, iteration, attempt and agent."""
        log = self.log
        agent = f", {self.agent}" if self.agent else ""
        return f"== {log.run_id}, iteration {log.iteration}, attempt {log.attempt}{agent}"

    def describe(self, lane: str) -> dict[str, Any]:
        """Return whose log it is and where it is, for JSON."""
        return {
            "lane": lane,
            "run_id": self.log.run_id,
            "iteration": self.log.iteration,
            "attempt": self.log.attempt,
            "agent": self.agent,
            "log": str(self.log.path),
        }


def _print_lines(context: Context, reader: _LogReader, lines: list[AgentLine]) -> None:
    """Print lines as text, as JSON objects, or raw, and flush: a person is watching."""
    for line in lines:
        if reader.raw:
            _print_raw(line.text)
        elif context.as_json:
            row = {
                "run_id": reader.log.run_id,
                "iteration": reader.log.iteration,
                "attempt": reader.log.attempt,
                **to_builtins(line),
            }
            context.print_line(json.encode(row).decode())
        else:
            context.print_line(one_line(line.text.expandtabs()))
    sys.stdout.flush()


def _print_raw(line: str) -> None:
    """Print a line byte by byte to a file or a pipe; on a terminal, escape what it would act on."""
    binary_stdout = getattr(sys.stdout, "buffer", None)
    if binary_stdout is None or sys.stdout.isatty():
        sys.stdout.write(escape_invisible(replace_undecodable(line)) + "\n")
        return
    sys.stdout.flush()
    binary_stdout.write(line.encode("utf-8", "surrogateescape") + b"\n")
    binary_stdout.flush()


def _find_lane(world: World, given: str) -> str:
    """Return the lane if it is known or has logs; raises BadInput otherwise."""
    lane = world.config.canonical_lane(given) or given
    folders = logs.lanes_with_logs(world.workspace.state)
    if slug(lane) in folders:
        return lane
    try:
        return caller.known_lane(world, lane)
    except BadInput as error:
        names = {slug(name): name for name in world.config.known_lanes()}
        with_logs = join_some([names.get(folder, folder) for folder in folders])
        hint = "No lane has logs yet, because no agent has run; `dos up` starts the fleet."
        if with_logs:
            hint = f"Lanes with logs: {with_logs}."
        raise BadInput(f"no lane and no log is called {quote(given)}", hint=hint) from error


def _find_agent(world: World, log: Log) -> str:
    """Return the agent that wrote a log: the n-th start of an iteration wrote its n-th log."""
    events = world.journal.load(run_state.stream(log.run_id))
    agents = []
    for _, started in select(events, AgentStarted):
        if started.iteration == log.iteration:
            agents.append(started.agent)
    if not agents:
        return world.config.workers.agent
    return agents[min(log.attempt, len(agents)) - 1]


def _adapter_name(world: World, agent: str) -> str:
    """Return the adapter that reads the output of an agent: as dos.toml says, or of its name."""
    configured = world.config.agents.get(agent)
    if configured and configured.adapter:
        return configured.adapter
    return agent
