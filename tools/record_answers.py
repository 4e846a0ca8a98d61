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
import shutil
import socket
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from recorded_calls import FILES, INPUTS, SKIPPED, calls, verbs
from sample_workspaces import SCENES, SampleWorkspace, build


class Masks:
    """The rules for what differs from call to call; equal values get equal masks in an answer."""

    # Lengths of time that pass by themselves; settings have other names.
    AGES = re.compile(
        r"(^|_)(age|idle|heard|took|waited|expires_in|since_start|wall|agent)_(m?s|seconds)$|"
        r"^seconds$"
    )
    WHOLE = re.compile(
        r"^(pid|pid_started|expires_ms|signature|sig|keyid|key_id|fingerprint|system|boot|"
        r"free_bytes)$"
    )
    # Seconds since 1970 from 2020 to 2071; a time may be in milliseconds.
    EPOCH = range(1_600_000_000, 3_200_000_000)

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


class Command:
    """The `dos` of one interpreter, started once; each call is a fork of it."""

    SERVER = """
import importlib, json, os, sys
from dos.verbs.listing.table import VERBS
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
    """What a verb printed: a document, a document on each line, or text; else its error."""
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
    changed = list(differences(before, after))
    print("\n".join(changed) or "no difference")
    return int(bool(changed))


if __name__ == "__main__":
    os.umask(0o022)
    sys.exit(main())
