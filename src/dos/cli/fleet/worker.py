"""Run one worker on a lane (`dos up` starts workers).

A worker takes the lane's lease, runs the agent on one unit after another, lands what git and the acceptance command
prove, and ends with a typed reason. After a crash it goes on with what the run before it had counted. `dos up` starts
workers; start one by hand to watch a single lane.
"""

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
from dos.approval.io import approve as approving
from dos.cli.lanes import caller
from dos.config.load import parse
from dos.config.schema import Config
from dos.fleet.io import startup
from dos.fleet.io.drive import AWAY, StoreRetry, drive
from dos.fleet.io.worker_effects import WorkerEffects
from dos.fleet.state.fleet import FleetState
from dos.fleet.worker import start_state
from dos.fleet.worker.pick import Stop
from dos.fleet.worker.worker import Worker
from dos.journal import streams
from dos.loop import tokens
from dos.loop.types import LoopState, WorkerStop
from dos.machine import process
from dos.verbs.args import Option
from dos.verbs.context import Context, Reply, actor

EXITS = {"stopped": 0, "lane-held": 1, "contract_error": 2, "lease-lost": 3, "journal-away": 4}


class Args(Struct, kw_only=True):
    lane: Annotated[str, Option(help="the lane to work on", metavar="LANE")]
    run_id: Annotated[str, Option(help="the run's id; made up when not given", metavar="RID")] = ""
    target_branch: Annotated[
        str, Option(help="where to land; as configured when not given", metavar="BRANCH")
    ] = ""
    settings_from_stdin: Annotated[
        bool, Option(help="read the settings from stdin, not from dos.toml")
    ] = False


def run(args: Args, context: Context) -> Reply:
    run_id = args.run_id
    if run_id:
        run_ids.validated_run_id(run_id)
    else:
        now_ms = time.time_ns() // 1_000_000
        run_id = run_ids.mint(now_ms, randbits(run_ids.ENTROPY_BITS), f"worker-{args.lane}").run_id
    if args.settings_from_stdin:
        _take_settings(context, sys.stdin.buffer.read())
    config = context.policy
    caller.known_lane(context.policy_world, args.lane)  # before anything is made for it
    for number in (signal.SIGTERM, signal.SIGHUP):
        if (
            signal.getsignal(number) is not signal.SIG_IGN
        ):  # whoever started us with nohup wants us to go on
            signal.signal(number, _break_off)
    startup.load()
    orphans.become_subreaper()
    try:
        stop = _work(args, context, config, run_id)
    except AWAY as error:
        # Not a worker that died: whoever started it learns by the exit code what it could not write down.
        stop = Stop(WorkerStop.JOURNAL_AWAY, str(error))
    data = {
        "run_id": run_id, "lane": args.lane, "stop_reason": stop.reason, "needs": stop.needs, "reason": stop.detail
    }  # fmt: skip
    return Reply(
        code=EXITS.get(stop.reason, 0),
        text=f"{tokens.words(stop.reason)}: {stop.detail}",
        data=data,
    )


def _take_settings(context: Context, text: bytes) -> None:
    """What the supervisor handed over counts, also when dos.toml is another by now, or is gone."""
    context.world.workspace = workspace.with_root(context.start_directory)
    context.world.loaded_config = parse(text.decode(), context.world.workspace.config)


def _work(args: Args, context: Context, config: Config, run_id: str) -> Stop:
    workspace = context.world.workspace
    patience = StoreRetry(config.leases.ttl_seconds, prove=lambda doubtful: None, pause=time.sleep)
    effects = patience.retry_until(
        lambda: WorkerEffects(workspace, config, actor=run_id, target_branch=args.target_branch)
    )
    if not args.run_id:  # by hand: a person starts it on what lies there now
        approve = partial(
            approving.approve, workspace, context.world.loaded_config, effects.store, by=actor()
        )
        patience.retry_until(approve)
    try:
        state = effects.store_retry.retry_until(lambda: _begin(effects, args.lane))
        worker = Worker(lane=args.lane, run_id=run_id, state=state)
        performers = effects.performers()
        if "DOS_FAULT_LOG" in os.environ:  # a test kills us between two effects
            performers = import_module("dos.testing.kill_points").with_kill_points(
                "worker", performers
            )
        return drive(worker.work(), performers)
    finally:
        effects.close()


def _begin(effects: WorkerEffects, lane: str) -> LoopState:
    """Where the run that died here before us had come to, if one did."""
    live, config = effects.watch.refresh(), effects.config
    fleet, name = effects.watch.state(FleetState), config.canonical_lane(lane) or lane
    dead = start_state.dead_run(fleet, live, name, process.holder_has_exited)
    first = start_state.new_state(config)
    return start_state.state_after(effects.store.load(streams.run(dead)), first) if dead else first


def _break_off(number: int, frame: object) -> None:
    """As Ctrl-C does: what was started is ended on the way out, and not left to run alone."""
    raise KeyboardInterrupt
