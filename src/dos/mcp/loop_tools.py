"""The tools of judges and of loops that do without a fleet, by the names of dos-kernel."""

import os
from typing import Any

from msgspec import json

from dos.mcp.tool import Argument, Call, Effect, Given, Tool

UNIT = Argument(name="unit", about="the unit, as PLAN/UNIT", required=True)
LONGEST_LEASE_WAIT = 50.0  # as long as a client waits for an answer
# What each action of `lease` passes on; the others take no run and no paths.
LEASE_FIELDS = {
    "acquire": ("lane", "owner", "run_id", "tree"),
    "heartbeat": ("lane", "owner", "fence"),
    "release": ("lane", "owner", "fence"),
    "wait": ("lane",),
}
INIT = 1  # the parent of whatever has lost its own
DOCTOR_KEYS = ("dos_version", "workspace", "git", "paths", "lanes", "stamp", "findings")


def _text(value: Any) -> str:
    """Return JSON as the text that a verb takes."""
    return json.encode(value).decode()


def _arbitrate(given: Given) -> Call:
    own = dict(given)
    live = own.pop("live_leases", None)
    if live is not None:
        own["leases"] = _text(live)
    return Call("arbitrate", own)


def _status(given: Given) -> Call:
    return Call("status", given)


def _lease(given: Given) -> Call:
    action = given["action"]
    own = {name: given[name] for name in LEASE_FIELDS[action] if name in given}
    if action == "wait":
        own["timeout"] = LONGEST_LEASE_WAIT
    client = os.getppid()
    if action == "acquire" and client > INIT:
        # The lease is the client's: a call that is repeated keeps it, it can be reaped when the
        # client has exited, and the client's hooks know it.
        own |= {"pid": client, "again": True}
    return Call(f"lease-lane {action}", own)


def _decide(given: Given) -> Call:
    own: Given = {"run": given["run_id"], "outcome": _text(given["outcome"])}
    if "evidence" in given:
        own["evidence"] = _text(given["evidence"])
    for name in ("iteration", "attempt", "unit", "lane"):
        if name in given:
            own[name] = given[name]
    return Call("decide", own)


def _audits(data: Any, _given: Given) -> Any:
    """Return the one audit of a commit, or all those of a range."""
    if isinstance(data, list) and len(data) == 1:
        return data[0]
    return {"commits": data}


def _reason(data: Any, given: Given) -> Any:
    """Say whether the reason is known, beside what is known of it."""
    return {**data, "reason_class": given["reason_class"], "known": "summary" in data}


def _doctor(data: Any, given: Given) -> Any:
    if given.get("full"):
        return data
    return {key: data[key] for key in DOCTOR_KEYS if key in data}


LOOP_TOOLS = (
    Tool(
        name="commit_audit",
        about="Does a commit do what its subject says? Judged by its diff alone.",
        verb="commit-audit",
        arguments=(Argument(name="ref", about="commit, or range A..B", default="HEAD"),),
        shape=_audits,
    ),
    Tool(
        name="arbitrate",
        about="Which lane could be granted now? It takes no lease; `lease` does.",
        verb="arbitrate",
        arguments=(
            Argument(name="lane", about="lane that is wanted (default: any)"),
            Argument(name="kind", about="kind of lane"),
            Argument(name="tree", kind="texts", about="paths, for a lane that declares none"),
            Argument(
                name="live_leases", kind="objects", about="leases to judge by (default: live ones)"
            ),
            Argument(
                name="force",
                kind="flag",
                about="overrule a refusal; this is recorded",
                effect=Effect.RECORD,
            ),
        ),
        prepare=_arbitrate,
    ),
    Tool(
        name="refuse_reasons",
        about="List every reason for a refusal, a hold or a stop, with its fix.",
        verb="man",
        prepare=lambda _given: Call("man", {"section": "wedge"}),
    ),
    Tool(
        name="check_reason",
        about="Explain one reason, and say whether it exists.",
        verb="man",
        arguments=(Argument(name="reason_class", about="its token", required=True),),
        prepare=lambda given: Call("man", {"section": "wedge", "entry": [given["reason_class"]]}),
        shape=_reason,
    ),
    Tool(
        name="recall",
        about="Does a memory still agree with the repository?",
        verb="memory recall",
        arguments=(
            Argument(name="name", about="name of the memory", required=True),
            Argument(name="store", about="folder of the memories"),
        ),
    ),
    Tool(
        name="doctor",
        about="Check the workspace; each finding has a command that fixes it.",
        verb="doctor",
        arguments=(Argument(name="full", kind="flag", about="everything that it knows"),),
        prepare=lambda _given: Call("doctor", {}),
        shape=_doctor,
    ),
    Tool(
        name="status",
        about="Does a run make progress? Judged by git, the journal and its process.",
        verb="status",
        arguments=(
            Argument(name="run_id", about="the run", required=True),
            Argument(name="start_sha", about="count commits from here"),
            Argument(name="lane", about="count only commits in this lane"),
            Argument(name="loop_ts", about="use the lease with this stamp"),
            Argument(name="stopped", kind="flag", about="assume that the run has stopped"),
            Argument(name="live", kind="flag", about="assume that the run is working"),
            Argument(name="now_ms", kind="integer", about="the current time"),
        ),
        prepare=_status,
    ),
    Tool(
        name="loop",
        about="Plan one tick of a supervisor: which workers to start, reap or flag.",
        verb="loop",
        arguments=(
            Argument(name="target", kind="integer", about="number of workers"),
            Argument(name="max_concurrency", kind="integer", about="most workers on a lane"),
        ),
    ),
    Tool(
        name="packet",
        about="Show the units that can be dispatched now, with their prompts.",
        verb="packet",
        arguments=(
            Argument(name="scope", kind="texts", about="lanes or plans"),
            Argument(name="limit", kind="integer", about="most picks", default=5),
        ),
    ),
    Tool(
        name="pickable",
        about="May a worker take this unit now? If not, why.",
        verb="pickable",
        arguments=(UNIT,),
    ),
    Tool(
        name="cooldown",
        about="Is the unit on cooldown after a failed attempt?",
        verb="cooldown",
        arguments=(UNIT,),
    ),
    Tool(
        name="reconcile",
        about='Compare a "done" claim with git.',
        verb="reconcile",
        arguments=(
            UNIT,
            Argument(name="claimed_done", kind="flag", about="what is claimed", required=True),
            Argument(name="plan", about="its plan (default: as in the unit)"),
            Argument(name="phase", about="its id in the plan (default: as in the unit)"),
        ),
    ),
    Tool(
        name="lease",
        about="Take, renew, release or wait for a lease on a lane. It answers with the fence.",
        verb="lease-lane acquire",
        arguments=(
            Argument(name="action", about="what to do", required=True, choices=tuple(LEASE_FIELDS)),
            Argument(name="lane", about="the lane", required=True),
            Argument(name="owner", about="holder's name, the same in every call", required=True),
            Argument(name="run_id", about="run id of the holder"),
            Argument(name="fence", kind="integer", about="only the lease with this fence"),
            Argument(name="tree", kind="texts", about="paths, for a lane that declares none"),
        ),
        effect=Effect.RECORD,
        idempotent=True,
        waits=True,
        waiting_action="wait",
        prepare=_lease,
    ),
    Tool(
        name="attempt",
        about="Record that an attempt on a unit ended, and how.",
        verb="attempt",
        arguments=(
            UNIT,
            Argument(
                name="outcome",
                about="how it ended",
                required=True,
                choices=("shipped", "drained", "blocked", "error", "unknown"),
            ),
            Argument(name="run_id", about="the run"),
            Argument(name="lane", about="the lane"),
        ),
        effect=Effect.RECORD,
    ),
    Tool(
        name="decide",
        about="Does a loop continue after this iteration? The state is kept under its run.",
        verb="decide",
        arguments=(
            Argument(name="run_id", about="the run", required=True),
            Argument(
                name="outcome",
                kind="object",
                about='how the iteration ended, such as {"kind": "SHIPPED"}',
                required=True,
            ),
            Argument(name="iteration", kind="integer", about="the iteration that ended"),
            Argument(name="attempt", kind="integer", about="attempt of it"),
            Argument(name="evidence", kind="object", about="evidence, as fields of a state"),
            Argument(name="unit", about="unit that was worked on"),
            Argument(name="lane", about="lane that was worked on"),
        ),
        effect=Effect.RECORD,
        idempotent=True,
        prepare=_decide,
    ),
)
