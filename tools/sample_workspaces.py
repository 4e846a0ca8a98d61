"""Builds sample workspaces with the `dos` of any interpreter, by nothing but its command line, git
and files.

Each scene is a function of a new workspace; its docstring says what the workspace is an example of.
What a scene needs to last (a cooldown, a limit, a lease) lasts for hours at least, so that it can
be looked at later.
"""

import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

LANES = ("api", "docs", "web")
PATIENCE_SECONDS = 300.0
RUN = "RID-0MC0FFEE00000AB"
UNITS = {
    # unit -> its lane, and what its plan says besides
    "API1": ("api", ""),
    "API2": ("api", "- depends: API1"),
    "API3": ("api", "- class: draft"),
    "DOC1": ("docs", ""),
    "DOC2": ("docs", "- gated: the operator picks a vendor"),
    "WEB1": ("web", "- depends: API2, DOC1"),
    "WEB2": ("web", "- soak until: 2099-01-01"),
    "WEB3": ("web", ""),
}
CONFIG = """[lanes]
concurrent = ["api", "docs", "web"]
autopick = ["api", "docs", "web"]

[lanes.trees]
api = ["api/**"]
docs = ["docs/**"]
web = ["web/**"]

[supervise]
restart_backoff_seconds = 1

[leases]
ttl_seconds = 86400

[liveness]
grace_minutes = 100000
spin_minutes = 100000
window_minutes = 100000

[cooldown]
window_hours = 9000

[quota]
jitter_seconds = 0

[workers]
agent = "scripted"
command = ["{script}"]
"""
SAY_DONE = [{"say": "It is done, and all tests pass."}]
USAGE = {
    "usage": {"model": "scripted", "input_tokens": 1200, "output_tokens": 300, "cost_usd": 0.02}
}


def work(unit: str) -> list[dict[str, Any]]:
    """What a good agent does with a unit."""
    lane = UNITS[unit][0]
    text = f"def {unit.lower()}():\n    return 1\n"
    return [
        {"write": f"{lane}/{unit.lower()}.py", "text": text},
        {"commit": f"Write {unit}"},
        USAGE,
        {"say": "done"},
    ]


class SampleWorkspace:
    """A repository with everything that belongs to it in one folder, also what `dos` keeps for its
    user."""

    def __init__(self, home: Path, python: str) -> None:
        self.home = home
        self.root = home / "repository"
        self.python = python

    @property
    def environment(self) -> dict[str, str]:
        """All that a command sees: nothing of the caller but where programs are found."""
        day = "2026-01-01T12:00:00Z"
        return {
            "PATH": os.environ["PATH"],
            "HOME": str(self.home / "user"),
            "XDG_STATE_HOME": str(self.home / "user" / "state"),
            "XDG_CONFIG_HOME": str(self.home / "user" / "config"),
            "XDG_CACHE_HOME": str(self.home / "user" / "cache"),
            "USER": "sam",
            "LOGNAME": "sam",
            "LANG": "C.UTF-8",
            "TZ": "UTC",
            "COLUMNS": "120",
            "GIT_CONFIG_GLOBAL": os.devnull,
            "GIT_CONFIG_SYSTEM": os.devnull,
            "GIT_TEMPLATE_DIR": "",
            "GIT_AUTHOR_DATE": day,
            "GIT_COMMITTER_DATE": day,
        }

    def run(
        self, *words: str, stdin: str = "", **environment: str
    ) -> "subprocess.CompletedProcess[str]":
        return subprocess.run(
            words, cwd=self.root, env=self.environment | environment, input=stdin,
            capture_output=True, text=True, timeout=PATIENCE_SECONDS,
        )  # fmt: skip

    def dos(
        self, *words: str, stdin: str = "", **environment: str
    ) -> "subprocess.CompletedProcess[str]":
        return self.run(self.python, "-m", "dos", *words, stdin=stdin, **environment)

    def asked(self, *words: str) -> Any:
        return json.loads(self.dos(*words, "--json").stdout)

    def git(self, *words: str) -> None:
        self.run("git", *words).check_returncode()

    def commit_all(self, subject: str) -> None:
        self.git("add", "--all")
        self.git("commit", "--quiet", "--allow-empty", "--message", subject)

    def play(self, script: dict[str, Any]) -> None:
        """What the agents will do; see dos.testing.scripted_agent."""
        (self.home / "script.json").write_text(json.dumps(script))

    def up(self, *words: str, **environment: str) -> None:
        self.dos(
            "up", "--until-idle", "--plain", "--target", "1", "--tick", "0.2", *words, **environment
        )

    def make(self, config: str | None = CONFIG) -> None:
        for lane in LANES:
            (self.root / lane).mkdir(parents=True)
            (self.root / lane / "first.py").write_text("def first():\n    return 0\n")
        (self.home / "user").mkdir()
        if config is not None:
            (self.root / "docs" / "sample-plan.md").write_text(plan())
            (self.root / "dos.toml").write_text(config.format(script=self.home / "script.json"))
            self.play({f"SAMPLE/{unit}": [work(unit)] for unit in UNITS})
        self.git("init", "--quiet", "--initial-branch", "main")
        self.git("config", "user.name", "Sam")
        self.git("config", "user.email", "sam@example.invalid")
        self.commit_all("Begin")


def plan() -> str:
    parts = ["# A sample plan\n"]
    for unit, (lane, said) in UNITS.items():
        parts.append(
            f"## SAMPLE {unit}: write {unit}\n\n- lane: {lane}\n"
            f"- paths: {lane}/{unit.lower()}.py\n{said}\n"
        )
    return "\n".join(parts)


def empty(workspace: SampleWorkspace) -> None:
    """A repository that nobody set up."""
    workspace.make(config=None)


def planned(workspace: SampleWorkspace) -> None:
    """Plans, and nothing was run: a draft, a gated and a soaking unit, dependencies within a lane
    and on others."""
    workspace.make()


def landed(workspace: SampleWorkspace) -> None:
    """A fleet ran to its end, and all that could be done is done."""
    workspace.make()
    workspace.up()


def failed(workspace: SampleWorkspace) -> None:
    """Lanes stopped and units are on cooldown: agents lie, edit other lanes and end with errors;
    questions are open."""
    workspace.make()
    strays = [
        [
            {"write": "api/first.py", "text": f"stray = {number}\n"},
            {"commit": "Tidy"},
            {"say": "done"},
        ]
        for number in range(3)
    ]
    workspace.play(
        {
            "SAMPLE/API1": [SAY_DONE],
            "SAMPLE/DOC1": strays,
            "SAMPLE/WEB3": [[{"write": "web/web3.py", "text": "half = 1\n"}, {"exit": 1}]],
        }
    )
    workspace.up()
    workspace.dos("decisions", "add", "--kind", "FLAG", "--lane", "web", "--text", "Which vendor?")
    workspace.dos("attempt", "SAMPLE/API2", "--outcome", "blocked", "--lane", "api")


def limited(workspace: SampleWorkspace) -> None:
    """A provider's limit is in force for hours."""
    workspace.make()
    workspace.play({"*": [[{"limit": 14_000}]]})
    words = [workspace.python, "-m", "dos", "up", "--plain", "--target", "1", "--tick", "0.2"]
    with (workspace.home / "up.log").open("wb") as log:
        fleet = subprocess.Popen(
            words,
            cwd=workspace.root,
            env=workspace.environment,
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
        )
    deadline = time.monotonic() + PATIENCE_SECONDS
    while not workspace.asked("limits") and time.monotonic() < deadline:
        time.sleep(0.2)
    workspace.dos("down", "--now")
    fleet.wait(timeout=PATIENCE_SECONDS)


def spent(workspace: SampleWorkspace) -> None:
    """The run's budget is spent, and a person is asked."""
    workspace.make(CONFIG + "\n[budgets.run]\nusd = 0.01\n")
    workspace.up()


def held(workspace: SampleWorkspace) -> None:
    """A person holds one lane, another one is paused, and a run that a script keeps has one of its
    steps claimed."""
    workspace.make()
    workspace.dos(
        "run", "begin", "--run-id", RUN, "--goal", "two steps", "--step", "s1", "--step", "s2"
    )
    workspace.dos("run", "claim", RUN, "s1")
    workspace.dos(
        "lease-lane", "acquire", "--owner", "sam", "--lane", "api", "--ttl-minutes", "500000"
    )
    workspace.dos("pause", "docs", "--reason", "the docs are being moved")


def killed(workspace: SampleWorkspace) -> None:
    """Everything was killed in the middle of a landing; the leases of the dead are still there."""
    workspace.make()
    point = {
        "DOS_FAULT_LOG": str(workspace.home / "points"),
        "DOS_FAULT_POINT": "all:worker:MoveBranch:before:1",
    }
    workspace.up(**point)


def broken(workspace: SampleWorkspace) -> None:
    """A dos.toml with errors in it."""
    workspace.make(CONFIG + "\n[supervise]\ntarget = -1\n\n[breaker]\nmax_totl = 3\n")


SCENES: tuple[Callable[[SampleWorkspace], None], ...] = (
    empty, planned, landed, failed, limited, spent, held, killed, broken,
)  # fmt: skip


def build(folder: Path, python: str) -> None:
    """One folder for each scene, as it is named; what was there is gone."""
    for scene in SCENES:
        home = folder / scene.__name__
        shutil.rmtree(home, ignore_errors=True)
        home.mkdir(parents=True)
        print(f"building {scene.__name__}", file=sys.stderr)
        scene(SampleWorkspace(home, python))
