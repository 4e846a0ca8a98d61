"""The calls that record_answers.py makes in each sample workspace, and what they need.

A line of CALLS is repeated for each unit, lane, run or question of the workspace. SKIPPED verbs are
never called, each for the reason beside it.
"""

import json
import shlex
import subprocess
from collections.abc import Iterator, Mapping

from sample_workspaces import LANES, RUN, UNITS, SampleWorkspace

# The calls of verbs that need more than their name; {unit}, {lane}, {run} and {question} stand for
# each that the workspace has. A verb that is not here is called by its name alone, so a new verb is
# recorded without a change of this table.
CALLS = """
answer-shape --text "It is done."
arbitrate --lane {lane}
arg-provenance --tool edit --args '{"id": "AB-1234"}' --prior "AB-1234 is open"
attempt SAMPLE/API1 --outcome drained --lane api
attest --claim tests --accept-cmd true
breaker --consecutive 3
claims --transcript {home}/transcript.jsonl
commit-audit HEAD~1..HEAD
complete --run-id {run}
completion lanes
config get supervise.target
config set supervise.target 2
config show --origin
config unset supervise.restart_backoff_seconds
convergence --residuals 5,4,4,4,4
convergence --run {run}
cooldown {unit}
costs --by unit
costs --by lane
coverage --declared 2 --transcript {home}/transcript.jsonl
decide --outcome '{"kind": "LAUNCH_FAILED", "retry_after_seconds": 60}'
decide-for {question} retry
decide-for {question} raise
decisions
decisions --all
decisions add --kind FLAG --lane api --text "Look at this."
decisions answer {question} leave
decisions answer {question} stop
decisions show {question}
doctor
doctor --fix --dry-run
down --timeout 0
efficiency --work 10 --tokens 5000
enumerate docs/sample-plan.md
exit-codes
gate --picks-json '[]'
halt {run} --timeout 0 --reason "a test"
health --lane {lane}
hook marker
hook posttool
hook pretool
hook session
hook stop
hooks git status
id-alloc allocate tickets
id-alloc peek tickets
improve --suite-passed --truth-clean --work 2 --baseline-work 1
init --dry-run
journal export
journal import {home}/nothing.jsonl
journal prune --dry-run
journal compact --dry-run
journal show 1
journal tail 0
judge "the tests pass" --judge abstain
judge-eval --cases {home}/cases.jsonl
lease acquire sam --retries 0
lease release sam
lease-lane acquire --owner ann --lane {lane}
lease-lane adopt --lane api --owner ann
lease-lane heartbeat --lane api --owner sam
lease-lane reap --dry-run
lease-lane release --lane api --owner sam
lease-lane spawn --lane {lane} --owner sam --loop-ts stamp
lease-lane wait --lane {lane} --timeout 0
liveness --run-id {run}
logs {lane}
loop
loop --target 3
man lane {lane}
man wedge COOLDOWN
packet
pick-priority {unit}
pickable {unit}
plan --once
productivity --deltas 900,400,100
receipt {unit}
reconcile SAMPLE/API1 --claimed-done --plan SAMPLE --phase API1
replay {run}
resume --run-id {run} --no-record
resume {lane}
resume
rewind --run-id {run}
reward --witness confirm
run begin --goal one --step s1 --run-id RID-0MC0FFEE00000AC
run claim {run} s2
run end {run} --result failed
run suspend {run}
run verify {run} s1
run-id mint dispatch
salvage apply 1 --dry-run
salvage drop 1 --dry-run
salvage show 1
scope-gate --lane api --file api/first.py --file web/first.py
service install --dry-run --kind systemd
service remove --dry-run --kind systemd
simulate --seeds 2 --seed 1 --jobs 1
status
status {run}
supervise --batch
test-witness --baseline fail --candidate pass
test-witness run --cmd true
timeline {run}
top --once
trace {run}
verify --all
verify-receipt --receipt {home}/nothing.jsonl --offline
verify-result --transcript {home}/transcript.jsonl
watch --discover
why {run}
witness tests
"""
SKIPPED = {
    "demo": "it has a workspace of its own",
    "quickstart": "as demo",
    "receipt-key make": "the key is another one each time",
    "service status": "it tells of the machine, and of no workspace",
    "serve": "it serves until it is told to end",
    "up": (
        "it acts for as long as there is work; what it leaves behind is what the workspaces are "
        "made of"
    ),
    "version": "it is another one each time",
    "web": "its port and its token are others each time",
    "worker": "as up",
}
EVENT = {
    "session_id": "s",
    "hook_event_name": "PreToolUse",
    "tool_name": "Bash",
    "tool_input": {"command": "ls"},
}
INPUTS = {
    "hook": json.dumps(EVENT),
    "supervise": json.dumps(
        {"evidence": {"target": 1, "lanes": [{"lane": "api", "tree": ["api/**"]}]}}
    ),
}
FILES = {
    "transcript.jsonl": json.dumps(
        {"type": "assistant", "message": {"role": "assistant", "content": "It is done."}}
    ),
    "cases.jsonl": json.dumps({"claim": "the tests pass", "truth": True}),
    "nothing.jsonl": "",
}


def calls(workspace: SampleWorkspace, names: list[str]) -> Iterator[tuple[str, list[str]]]:
    """Every call in a workspace: how it is named in the recording, and its words."""
    known = subjects(workspace)
    lines: dict[str, list[str]] = {name: [] for name in names if name not in SKIPPED}
    for line in CALLS.split("\n"):
        verb = max(
            (name for name in names if f"{line} ".startswith(f"{name} ")), key=len, default=""
        )
        if verb:
            lines[verb].append(line)
    for verb, own in lines.items():
        for line in own or [verb]:
            yield from each_subject(line, known)


def each_subject(line: str, known: Mapping[str, list[str]]) -> Iterator[tuple[str, list[str]]]:
    """The line once for each of its subjects; ids that differ between builds are numbered."""
    kind = next((kind for kind in known if f"{{{kind}}}" in line), "")
    if not kind:
        yield line, shlex.split(line)
        return
    for number, subject in enumerate(known[kind], 1):
        stable = subject if kind in ("unit", "lane", "home") else f"{kind} {number}"
        typed = line if kind == "home" else line.replace(f"{{{kind}}}", stable)
        yield typed, [word.replace(f"{{{kind}}}", subject) for word in shlex.split(line)]


def subjects(workspace: SampleWorkspace) -> dict[str, list[str]]:
    """What the calls can be about in a workspace, by kind.

    Where there is no run or no question, an unknown one stands in.
    """
    events = [json.loads(line) for line in workspace.dos("journal", "export").stdout.splitlines()]
    runs = [event["body"]["run_id"] for event in events if event.get("body", {}).get("run_id")]
    listed = workspace.dos("decisions", "--json")
    questions = []
    if listed.returncode == 0:
        questions = [question["id"] for question in json.loads(listed.stdout)]
    return {
        "unit": [f"SAMPLE/{unit}" for unit in UNITS],
        "lane": list(LANES),
        "run": list(dict.fromkeys(runs)) or [RUN],
        "question": questions or ["lane-stopped-nowhere-1"],
        "home": [str(workspace.home)],
    }


def verbs(python: str) -> list[str]:
    """The names of all verbs that this interpreter's `dos` has."""
    command = [python, "-c", "from dos.verbs.listing.table import VERBS; print('\\n'.join(VERBS))"]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.splitlines()
