"""Show the log of the agent on a lane.

It is the newest log of the lane. With -f it goes on until Ctrl-C, also with the agents that are started after this one.
Logs are read on the machine on which the agent runs.
"""

import sys
import time
from typing import Annotated, Any

from msgspec import Struct, json, to_builtins

from dos import run_ids
from dos.agents import registry
from dos.agents.adapter import StreamState
from dos.agents.io import logs
from dos.agents.io.logs import Log
from dos.cli.lanes import caller
from dos.cli.terminal.tail import Tail
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
    quote,
    replace_undecodable,
    slug,
    validated_name,
)
from dos.verbs.args import Option
from dos.verbs.context import Context, Reply
from dos.world import World

EXITS = {"reported": 0, "no-log": 1, "contract_error": 2}
LOOK_SECONDS = 0.2
MOST_LINES = 1_000_000


class Args(Struct, kw_only=True):
    lane: Annotated[str, Option(help="the lane", positional=True, metavar="LANE")]
    follow: Annotated[bool, Option(help="and then what is new, as it comes", flags=("-f",))] = False
    run: Annotated[str, Option(help="only of this run", metavar="RID")] = ""
    raw: Annotated[bool, Option(help="as the agent printed it, not as a person reads it")] = False
    lines: Annotated[int, Option(help="how many of the last ones", metavar="N")] = 50


def run(args: Args, context: Context) -> Reply:
    if not 0 <= args.lines <= MOST_LINES:
        raise BadInput(
            f"--lines {args.lines} is no number of lines", hint=f"Give 0 to {MOST_LINES}."
        )
    if args.raw and context.as_json:
        raise BadInput("--raw and --json are two ways to show a log", hint="Leave one of them out.")
    run_id = run_ids.validated_run_id(args.run) if args.run else ""
    world = context.journal_world
    lane = _lane(world, validated_name(args.lane, "lane name"))
    found = logs.lane_logs(world.workspace.state, lane, run_id)
    if args.follow:
        return _followed(args, context, lane, run_id)
    if not found:
        whose = f"{run_id} on {lane}" if run_id else lane
        return Reply(
            code=1, text=f"there is no log of {whose} here: {_why_none(world, lane)}",
            data={"lane": lane, "run_id": run_id, "log": None, "lines": []},
        )  # fmt: skip
    reader = _Reader(world, found[-1], raw=args.raw)
    last = (
        [*reader.tail.last(args.lines, reader.read), *reader.ended()][-args.lines :]
        if args.lines
        else []
    )
    if args.raw:
        for said in last:
            _print_raw(said.text)
        return Reply()
    data = reader.about(lane) | {"lines": to_builtins(last)}
    return Reply(
        text="\n".join([reader.title(), *(_one_line(said.text) for said in last)]), data=data
    )


def _why_none(world: World, lane: str) -> str:
    held = [
        lease
        for lease in world.journal.leases()
        if comparison_key(lease.lane) == comparison_key(lane)
    ]
    if held and not process.is_local(held[-1]):
        return f"its worker is on {held[-1].host}"
    return "no agent was started there, or its log was removed"


def _followed(args: Args, context: Context, lane: str, run_id: str) -> Reply:
    world, reader = context.journal_world, None
    try:
        while True:
            logs_now = logs.lane_logs(world.workspace.state, lane, run_id)
            newer = [log for log in logs_now if reader and log > reader.log]
            if reader:
                _say(
                    context,
                    reader,
                    [said for line in reader.tail.read_new_lines() for said in reader.read(line)],
                )
            if reader and newer:
                _say(context, reader, reader.ended())
            if newer or (logs_now and not reader):
                first = reader is None
                reader = _Reader(world, newer[0] if newer else logs_now[-1], raw=args.raw)
                if not (args.raw or context.as_json):
                    context.print_line(reader.title())
                _say(
                    context,
                    reader,
                    reader.tail.last(args.lines if first else MOST_LINES, reader.read),
                )
                continue
            time.sleep(LOOK_SECONDS)
    except KeyboardInterrupt:
        return Reply()


class _Reader:
    """One log, and how its agent speaks."""

    def __init__(self, world: World, log: Log, *, raw: bool) -> None:
        self.log = log
        self.tail = Tail(log.path)
        self.raw = raw
        self.agent = _agent(world, log)
        name = _adapter(world, self.agent)
        # There is none for an agent that nobody knows any more.
        self._adapter = registry.find(name) if not raw and name in registry.names() else None
        self._state = self._adapter.begin() if self._adapter else StreamState()

    def read(self, line: bytes) -> list[AgentLine]:
        text = line.decode("utf-8", "surrogateescape" if self.raw else "replace")
        if self.raw:
            return [AgentLine("line", text)]
        if self._adapter:
            self._state = self._adapter.on_line(self._state, text)
        return event_lines.agent_lines(text, self._state.heard)

    def ended(self) -> list[AgentLine]:
        return [said for line in self.tail.take_partial_line() for said in self.read(line)]

    def title(self) -> str:
        who = f", {self.agent}" if self.agent else ""
        return (
            f"== {self.log.run_id}, iteration {self.log.iteration}, attempt {self.log.attempt}{who}"
        )

    def about(self, lane: str) -> dict[str, Any]:
        log = self.log
        return {
            "lane": lane, "run_id": log.run_id, "iteration": log.iteration, "attempt": log.attempt,
            "agent": self.agent, "log": str(log.path),
        }  # fmt: skip


def _say(context: Context, reader: _Reader, told: list[AgentLine]) -> None:
    for said in told:
        if reader.raw:
            _print_raw(said.text)
        elif context.as_json:
            log = reader.log
            row = {
                "run_id": log.run_id,
                "iteration": log.iteration,
                "attempt": log.attempt,
                **to_builtins(said),
            }
            context.print_line(json.encode(row).decode())
        else:
            context.print_line(_one_line(said.text))
    sys.stdout.flush()


def _print_raw(line: str) -> None:
    """To a file or a program byte for byte; a terminal is shown what would act on it."""
    raw = getattr(sys.stdout, "buffer", None)
    if raw is None or sys.stdout.isatty():
        text = replace_undecodable(line)
        sys.stdout.write(escape_invisible(text) + "\n")
    else:
        sys.stdout.flush()
        raw.write(line.encode("utf-8", "surrogateescape") + b"\n")
        raw.flush()


def _one_line(text: str) -> str:
    return escape_invisible(text).replace("\n", "\\n")


def _lane(world: World, given: str) -> str:
    """The lane, provided that there is one or that logs of one are left."""
    lane = world.config.canonical_lane(given) or given
    folders = logs.lanes_with_logs(world.workspace.state)
    if slug(lane) in folders:
        return lane
    try:
        return caller.known_lane(world, lane)
    except BadInput as error:
        spelled = {slug(name): name for name in world.config.known_lanes()}
        have = join_some([spelled.get(folder, folder) for folder in folders])
        hint = (
            f"Lanes that have logs: {have}."
            if have
            else "No lane has logs yet; `dos up` starts agents."
        )
        raise BadInput(f"there is no lane {quote(given)}, and no log of one", hint=hint) from error


def _agent(world: World, log: Log) -> str:
    """Who was started, by the journal: the n-th start of this iteration is the n-th log."""
    starts = select(world.journal.load(run_state.stream(log.run_id)), AgentStarted)
    started = [fact.agent for _, fact in starts if fact.iteration == log.iteration]
    return started[min(log.attempt, len(started)) - 1] if started else world.config.workers.agent


def _adapter(world: World, agent: str) -> str:
    configured = world.config.agents.get(agent)
    return (configured.adapter if configured else "") or agent
