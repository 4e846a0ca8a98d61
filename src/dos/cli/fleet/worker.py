"""Run one worker on a lane (`dos up` starts workers).

A worker takes the lease of the lane, runs the agent on one unit after another, lands what git and
the acceptance command prove, and ends with a stop reason. After a crash it continues with the
counters of the run before it. Start one yourself to watch a single lane.
"""

import json
import os
import signal
import sys
import time
from functools import partial
from importlib import import_module
from secrets import randbits
from typing import Annotated

from msgspec import Struct

from dos import run_ids, workspace
from dos.agents.io import orphans
from dos.approval.io import approve
from dos.cli.lanes import caller
from dos.config.load import parse
from dos.config.schema import Config
from dos.fleet.io.drive import AWAY, StoreRetry, drive, preload_modules
from dos.fleet.io.worker_effects import WorkerEffects
from dos.fleet.state.fleet import FleetState
from dos.fleet.worker import start_state
from dos.fleet.worker.iteration import Stop
from dos.fleet.worker.worker import Worker
from dos.journal import streams
from dos.loop import tokens
from dos.loop.types import LoopState, WorkerStop
from dos.machine import process
from dos.verbs.args import Option
from dos.verbs.context import Context, Reply, actor

EXITS = {"stopped": 0, "lane-held": 1, "contract_error": 2, "lease-lost": 3, "journal-away": 4}


class Args(Struct, kw_only=True):
    """The lane to work on, and what a supervisor passes to its workers."""

    lane: Annotated[str, Option(help="the lane to work on", metavar="LANE")]
    run_id: Annotated[str, Option(help="run id (default: a new one)", metavar="RID")] = ""
    target_branch: Annotated[
        str, Option(help="branch to land on (default: as configured)", metavar="BRANCH")
    ] = ""
    settings_from_stdin: Annotated[
        bool, Option(help="read the settings from stdin, not from dos.toml")
    ] = False
    secrets_from_stdin: Annotated[
        bool, Option(help="read variables from the first line of stdin")
    ] = False


def run(args: Args, context: Context) -> Reply:
    """Work on the lane until there is a reason to stop, and reply with that reason.

    All modules that the worker can need are loaded before it takes its lease, so that an upgrade
    under a running worker cannot break it. Processes that its agents leave behind become its
    children, so that it can end them.
    """
    run_id = args.run_id
    if run_id:
        run_ids.validated_run_id(run_id)
    else:
        now_ms = time.time_ns() // 1_000_000
        run_id = run_ids.mint(now_ms, randbits(run_ids.ENTROPY_BITS), f"worker-{args.lane}").run_id
    if args.secrets_from_stdin:
        _use_secrets(sys.stdin.buffer.readline())
    if args.settings_from_stdin:
        _use_settings(context, sys.stdin.buffer.read())
    config = context.policy
    # Before anything is created for it. Only approved plans say whether it is a part of a lane.
    caller.known_lane(context.policy_world, config.lanes.whole_of(args.lane) or args.lane)
    for number in (signal.SIGTERM, signal.SIGHUP):
        # A signal that is ignored, as by nohup, stays ignored.
        if signal.getsignal(number) is not signal.SIG_IGN:
            signal.signal(number, _interrupt)
    preload_modules()
    orphans.become_subreaper()
    process.hide_memory(context.world.workspace.state)
    try:
        stop = _work(args, context, config, run_id)
    except AWAY as error:
        # The supervisor learns by the exit code what the worker could not record.
        stop = Stop(WorkerStop.JOURNAL_AWAY, str(error))
    data = {
        "run_id": run_id,
        "lane": args.lane,
        "stop_reason": stop.reason,
        "needs": stop.needs,
        "reason": stop.detail,
    }
    return Reply(
        code=EXITS.get(stop.reason, 0),
        text=f"{tokens.words(stop.reason)}: {stop.detail}",
        data=data,
    )


def _use_secrets(line: bytes) -> None:
    """Set the variables that the supervisor keeps out of the environment of its workers.

    What a process sets later is in its memory alone, and not in `/proc/PID/environ`.
    """
    os.environ.update(json.loads(line))  # msgspec refuses what is not UTF-8


def _use_settings(context: Context, text: bytes) -> None:
    """Use the settings of the supervisor, also where dos.toml was changed or removed meanwhile."""
    context.world.workspace = workspace.with_root(context.start_directory)
    context.world.loaded_config = parse(text.decode(), context.world.workspace.config)


def _work(args: Args, context: Context, config: Config, run_id: str) -> Stop:
    """Open the journal, take up where a dead run left off, and drive the worker to its stop.

    A worker that a person starts approves the plans and settings on disk; one that a supervisor
    starts gets a run id, and approves nothing.
    """
    workspace = context.world.workspace
    retry = StoreRetry(config.leases.ttl_seconds, prove=lambda _doubtful: None, pause=time.sleep)
    effects = retry.retry_until(
        lambda: WorkerEffects(workspace, config, actor=run_id, target_branch=args.target_branch)
    )
    if not args.run_id:  # a person starts it, and so approves the files as they are
        loaded = context.world.loaded_config
        retry.retry_until(partial(approve.approve, workspace, loaded, effects.store, by=actor()))
    try:
        state = effects.store_retry.retry_until(lambda: _first_state(effects, args.lane))
        worker = Worker(lane=args.lane, run_id=run_id, state=state)
        performers = effects.performers()
        if "DOS_FAULT_LOG" in os.environ:  # a test kills the worker between two effects
            kill_points = import_module("dos.testing.kill_points")
            performers = kill_points.with_kill_points("worker", performers)
        return drive(worker.work(), performers)
    finally:
        effects.close()


def _first_state(effects: WorkerEffects, lane: str) -> LoopState:
    """Return the state that a dead run on this lane had reached; a new one without such a run."""
    leases = effects.watch.refresh()
    fleet = effects.watch.state(FleetState)
    name = effects.config.canonical_lane(lane) or lane
    new_state = start_state.new_state(effects.config)
    dead_run = start_state.dead_run(fleet, leases, name, process.holder_has_exited)
    if not dead_run:
        return new_state
    return start_state.state_after(effects.store.load(streams.run(dead_run)), new_state)


def _interrupt(_number: int, _frame: object) -> None:
    """Act as Ctrl-C does: the agent is ended on the way out, and not left running alone."""
    raise KeyboardInterrupt
