#!/usr/bin/env python3
"""Counts the files and folders of `dos` that one job runs through: how far apart the code of it
lies.

    measure_walks.py [--list]    a line for each walk: files, folders, calls between folders

Each walk is a command line, run in this process with a profiler, once to import everything and once
to count. What happens in child processes (the agent, a worker that `dos up` starts) is not seen.
"""

import argparse
import json
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable
from contextlib import redirect_stderr, redirect_stdout
from io import StringIO
from pathlib import Path
from types import FrameType

import dos
from dos.cli.main import run as run_command

ROOT = Path(dos.__file__).parent
CONFIG = """[lanes]
concurrent = ["api"]
autopick = ["api"]

[lanes.trees]
api = ["api/**"]

[supervise]
target = 1

[workers]
agent = "scripted"
command = ["{script}"]
"""
RUN = "RID-0MC0FFEE00000AB"
PLAN = "# Auth\n\n## AUTH AUTH1: Log in\n- lane: api\n"
WORKS = [
    {"write": "api/auth1.py", "text": "def log_in():\n    return 1\n"},
    {"commit": "Write AUTH1"},
    {"say": "done"},
]
IDLES = [{"say": "It is done, and all tests pass."}]


class Site:
    """A new workspace with one unit, and an agent that does what it is told to."""

    def __init__(self, root: Path, script: list[dict[str, str]]) -> None:
        self.root = root / "repository"
        self.root.mkdir(parents=True)
        agent = root / "agent.json"
        agent.write_text(json.dumps({"*": [script]}))
        (self.root / "dos.toml").write_text(CONFIG.format(script=agent))
        (self.root / "api").mkdir()
        (self.root / "api" / "a.py").write_text("A = 1\n")
        (self.root / "docs").mkdir()
        (self.root / "docs" / "auth-plan.md").write_text(PLAN)
        self.git("init", "--quiet", "--initial-branch", "main")
        self.git("config", "user.name", "T")
        self.git("config", "user.email", "t@example.invalid")
        self.git("add", "--all")
        self.git("commit", "--quiet", "--message", "Begin")

    def git(self, *words: str) -> None:
        subprocess.run(["git", *words], cwd=self.root, check=True)

    def dos(self, *words: str) -> str:
        """What a command prints; it runs in this process."""
        out = StringIO()
        with redirect_stdout(out), redirect_stderr(StringIO()):
            run_command([*words, "--workspace", str(self.root)])
        return out.getvalue()

    def worker(self) -> None:
        self.dos("worker", "--lane", "api")

    def question(self) -> str:
        return str(json.loads(self.dos("decisions", "--json"))[0]["id"])


class Walk:
    """The files that calls run through, and how often they go from one folder to another."""

    def __init__(self) -> None:
        self.files: set[str] = set()
        self.crossings = 0
        self._folder = ""

    def profile(self, frame: FrameType, event: str, _: object) -> None:
        name = frame.f_code.co_filename
        if event != "call" or not name.startswith(str(ROOT)):
            return
        self.files.add(name)
        folder = str(Path(name).parent)
        if folder != self._folder:
            self.crossings += 1
        self._folder = folder

    def measure(self, job: Callable[[], object]) -> None:
        threading.setprofile(self.profile)
        sys.setprofile(self.profile)
        try:
            job()
        finally:
            sys.setprofile(None)
            threading.setprofile(None)

    @property
    def folders(self) -> set[str]:
        return {str(Path(name).parent) for name in self.files}


def landing(site: Site) -> Callable[[], object]:
    return site.worker


def verify(site: Site) -> Callable[[], object]:
    site.worker()
    return lambda: site.dos("verify", "AUTH", "AUTH1")


def tick(site: Site) -> Callable[[], object]:
    return lambda: site.dos("up", "--until-idle", "--plain")


def decide(site: Site) -> Callable[[], object]:
    site.dos("run", "begin", "--goal", "one", "--step", "s1", "--run-id", RUN)
    return lambda: site.dos(
        "decide", "--run", RUN, "--iteration", "1", "--outcome", '{"kind": "SHIPPED"}'
    )


def answer(site: Site) -> Callable[[], object]:
    site.worker()
    question = site.question()
    return lambda: site.dos("decide-for", question, "retry")


WALKS = {
    "an agent's line to a landed commit": (landing, WORKS),
    "verify": (verify, WORKS),
    "a supervisor's ticks": (tick, WORKS),
    "decide --run": (decide, WORKS),
    "an answer": (answer, IDLES),
}


def count(prepare: Callable[[Site], Callable[[], object]], script: list[dict[str, str]]) -> Walk:
    walk = Walk()
    with tempfile.TemporaryDirectory() as folder:
        prepare(Site(Path(folder, "first"), script))()
        walk.measure(prepare(Site(Path(folder, "second"), script)))
    return walk


def run() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--list", action="store_true", help="name the files")
    args = parser.parse_args()
    for name, (prepare, script) in WALKS.items():
        walk = count(prepare, script)
        print(
            f"{name:<36} {len(walk.files):4} files {len(walk.folders):4} folders "
            f"{walk.crossings:7} crossings"
        )
        if args.list:
            print("\n".join(f"  {Path(file).relative_to(ROOT)}" for file in sorted(walk.files)))


if __name__ == "__main__":
    run()
