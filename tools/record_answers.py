#!/usr/bin/env python3
"""Records what every verb answers with --json on a set of sample workspaces, and compares two
recordings.

    record_answers.py build WORKSPACES [--python PYTHON]             build the sample workspaces
    record_answers.py record WORKSPACES ANSWERS.json [--python ...]  ask every verb in each of them
    record_answers.py compare BEFORE.json AFTER.json     exit 1, and a line for each difference

PYTHON is an interpreter that has `dos` installed: this one unless another is named. So the answers
of two versions can be compared on workspaces that one of them built (which also shows that the
newer one reads the state of the older), or on workspaces that each built for itself. Record within
hours of building: limits and budgets of a day do not last.

Every verb finds the workspace as it was built: it is put back after each call. What differs from
one call to the next (times, ids, hashes, places) is masked by the rules of `Masks`, and by nothing
else.
"""

import argparse
import json
import os
import re
import shlex
import shutil
import socket
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from sample_workspaces import LANES, RUN, SCENES, UNITS, SampleWorkspace, build

# What is typed after a verb that wants more than its name; {unit}, {lane}, {run}, {question} stand
# for each that there
# is. A verb that is not here is asked with its name alone, so a new verb is recorded without a
# change of this table.
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
    "up": (
        "it acts for as long as there is work; what it leaves behind is what the workspaces are "
        "made of"
    ),
    "version": "it is another one each time",
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


class Masks:
    """The one place that says what is another thing at each call; equal things stay equal within an
    answer."""

    # Of what passes while nobody does anything; a number that a setting holds has another name.
    AGES = re.compile(
        r"(^|_)(age|idle|heard|took|waited|expires_in|since_start|wall|agent)_(m?s|seconds)$|"
        r"^seconds$"
    )
    WHOLE = re.compile(
        r"^(pid|pid_started|expires_ms|signature|sig|keyid|key_id|fingerprint|system|boot|"
        r"free_bytes)$"
    )
    EPOCH = range(
        1_600_000_000, 3_200_000_000
    )  # the seconds since 1970 of our days; a time may be in milliseconds

    def __init__(self, workspace: SampleWorkspace) -> None:
        self._numbers: dict[str, dict[str, str]] = {}
        self._places = {
            str(workspace.home): "<home>",
            workspace.python: "<python>",
            socket.gethostname(): "<host>",
        }
        self._patterns = [
            (re.compile(r"RID-[0-9A-Z]{15}"), "run"),
            (re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}"), "id"),
            (re.compile(r"\b(?=[0-9a-f]*[0-9])[0-9a-f]{7,64}\b"), "hash"),
            (re.compile(r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:?\d\d)?"), ""),
            (re.compile(r"\b\d\d:\d\d(:\d\d(\.\d+)?)?Z?\b"), ""),
            (re.compile(r"\b\d+(\.\d+)? ?(ms|s|sec|seconds?|min|minutes?|h|hours?|d|days?)\b"), ""),
            (re.compile(r"(?<=<host>:)\d+|(?<=process )\d+|(?<=worker )\d+"), ""),
        ]

    def mask(self, value: Any, key: str = "") -> Any:
        match value:
            case dict():
                return {self._text(name): self.mask(each, name) for name, each in value.items()}
            case list():
                return [self.mask(each, key) for each in value]
            case str() | int() | float() if value and self.WHOLE.search(key):
                return "<masked>"
            case str():
                return self._text(value)
            case bool() | None:
                return value
            case _ if (
                int(value) in self.EPOCH
                or int(value) // 1000 in self.EPOCH
                or self.AGES.search(key)
            ):
                return "<time>"
        return value

    def _text(self, text: str) -> str:
        for place, name in self._places.items():
            text = text.replace(place, name)
        for pattern, kind in self._patterns:
            text = pattern.sub(lambda found, kind=kind: self._named(kind, found[0]), text)
        return text

    def _named(self, kind: str, found: str) -> str:
        if not kind:
            return "<time>"
        known = self._numbers.setdefault(kind, {})
        return known.setdefault(found, f"<{kind} {len(known) + 1}>")


def record(folder: Path, python: str) -> dict[str, Any]:
    """Workspace -> what was typed -> the exit code and the answer."""
    answers: dict[str, Any] = {"skipped": SKIPPED}
    names = verbs(python)
    for scene in SCENES:
        workspace = SampleWorkspace(folder / scene.__name__, python)
        for name, text in FILES.items():
            (workspace.home / name).write_text(text)
        print(f"recording {scene.__name__}", file=sys.stderr)
        with (
            tempfile.TemporaryDirectory(prefix="dos-record-") as kept,
            Command(workspace, Path(kept)) as command,
        ):
            shutil.copytree(workspace.home, Path(kept) / "home", symlinks=True)
            answers[scene.__name__] = {}
            for typed, words in calls(workspace, names):
                put_back(Path(kept) / "home", workspace.home)
                answers[scene.__name__][typed] = answer(workspace, command, words)
            put_back(Path(kept) / "home", workspace.home)
    return answers


def put_back(kept: Path, home: Path) -> None:
    shutil.rmtree(home)
    shutil.copytree(kept, home, symlinks=True)


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
    kind = next((kind for kind in known if f"{{{kind}}}" in line), "")
    if not kind:
        yield line, shlex.split(line)
        return
    for number, subject in enumerate(known[kind], 1):
        stable = subject if kind in ("unit", "lane", "home") else f"{kind} {number}"
        typed = line if kind == "home" else line.replace(f"{{{kind}}}", stable)
        yield typed, [word.replace(f"{{{kind}}}", subject) for word in shlex.split(line)]


def subjects(workspace: SampleWorkspace) -> dict[str, list[str]]:
    """What can be asked about in a workspace; a run and a question that nobody knows where there is
    none."""
    events = [json.loads(line) for line in workspace.dos("journal", "export").stdout.splitlines()]
    runs = [event["body"]["run_id"] for event in events if event.get("body", {}).get("run_id")]
    asked = workspace.dos("decisions", "--json")
    questions = [each["id"] for each in json.loads(asked.stdout)] if asked.returncode == 0 else []
    return {
        "unit": [f"SAMPLE/{unit}" for unit in UNITS],
        "lane": list(LANES),
        "run": list(dict.fromkeys(runs)) or [RUN],
        "question": questions or ["lane-stopped-nowhere-1"],
        "home": [str(workspace.home)],
    }


def verbs(python: str) -> list[str]:
    asked = [python, "-c", "from dos.verbs.table import VERBS; print('\\n'.join(VERBS))"]
    return subprocess.run(asked, check=True, capture_output=True, text=True).stdout.splitlines()


class Command:
    """The `dos` of one interpreter: it is started once, and each call is a fork of it that leaves
    nothing behind."""

    SERVER = """
import importlib, json, os, sys
from dos.verbs.table import VERBS
from dos.cli import main
for verb in VERBS.values():
    importlib.import_module(verb.module)
for line in sys.stdin:
    root, words, *files = json.loads(line)
    child = os.fork()
    if not child:
        os.chdir(root)
        for number, file in enumerate(files):
            os.dup2(os.open(file, os.O_RDWR), number)
        os._exit(main.run(words))
    print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)
"""

    def __init__(self, workspace: SampleWorkspace, folder: Path) -> None:
        self._root = workspace.root
        self._files = [folder / name for name in ("in", "out", "error")]
        self._server = subprocess.Popen(
            [workspace.python, "-c", self.SERVER], env=workspace.environment, cwd=folder, text=True,
            stdin=subprocess.PIPE, stdout=subprocess.PIPE,
        )  # fmt: skip

    def __enter__(self) -> "Command":
        return self

    def __exit__(self, *_: object) -> None:
        self._server.communicate()

    def run(self, words: list[str], given: str) -> tuple[int, str, str]:
        """The exit code, what went to stdout and what to stderr."""
        assert self._server.stdin and self._server.stdout
        for file, text in zip(self._files, (given, "", ""), strict=True):
            file.write_text(text)
        self._server.stdin.write(
            json.dumps([str(self._root), words, *map(str, self._files)]) + "\n"
        )
        self._server.stdin.flush()
        code = int(self._server.stdout.readline())
        return code, self._files[1].read_text(), self._files[2].read_text()


def answer(workspace: SampleWorkspace, command: Command, words: list[str]) -> dict[str, Any]:
    code, out, error = command.run([*words, "--json"], INPUTS.get(words[0], ""))
    return Masks(workspace).mask({"exit": code, **_read(out, error)})


def _read(out: str, error: str) -> dict[str, Any]:
    """What a verb printed: a document, a document on each line, or text; where there is nothing,
    what it complained."""
    if not out:
        return {"error": error}
    try:
        return {"json": json.loads(out)}
    except ValueError:
        pass
    try:
        return {"json": [json.loads(line) for line in out.splitlines()]}
    except ValueError:
        return {"text": out}


def differences(before: Any, after: Any, path: str = "") -> Iterator[str]:
    if isinstance(before, dict) and isinstance(after, dict):
        for key in dict.fromkeys((*before, *after)):
            yield from differences(
                before.get(key, "(absent)"), after.get(key, "(absent)"), f"{path}/{key}"
            )
    elif isinstance(before, list) and isinstance(after, list) and len(before) == len(after):
        for number, pair in enumerate(zip(before, after, strict=True)):
            yield from differences(*pair, f"{path}/{number}")
    elif before != after:
        yield f"{path}: {json.dumps(before)} -> {json.dumps(after)}"


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("action", choices=("build", "record", "compare"))
    parser.add_argument("paths", nargs="+", type=Path)
    parser.add_argument(
        "--python", default=sys.executable, help="an interpreter that has dos installed"
    )
    given = parser.parse_args()
    if given.action == "build":
        build(given.paths[0].resolve(), given.python)
        return 0
    if given.action == "record":
        answers = record(given.paths[0].resolve(), given.python)
        given.paths[1].write_text(json.dumps(answers, indent=1, sort_keys=True) + "\n")
        return 0
    before, after = (json.loads(path.read_text()) for path in given.paths)
    found = list(differences(before, after))
    print("\n".join(found) or "no difference")
    return int(bool(found))


if __name__ == "__main__":
    os.umask(0o022)
    sys.exit(main())
