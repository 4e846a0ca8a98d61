"""A whole fleet in a folder of its own: real git, SQLite and processes, agents that write down what
they edited.
"""

import json
import os
import subprocess
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import psutil
from patience import PATIENCE, wait_until_ended

from dos.journal.events.envelope import Event
from dos.testing.scripted_agent import starts
from dos.world import World

CONFIG = """[lanes]
concurrent = {lanes}
autopick = {lanes}

[lanes.trees]
{trees}

[leases]
ttl_seconds = {ttl}

[supervise]
restart_backoff_seconds = 1

[workers]
agent = "scripted"
command = ["{script}"]
pass_environment = ["TEST_*"]

[sandbox]
{walls}

{tables}
"""

# Every edit is a word that nobody else writes; it is told to the test only when it stands in the
# file.
EDIT = {
    "run": "word=$(cat /proc/sys/kernel/random/uuid) && unit=${DOS_UNIT#*/} && "
    'mkdir -p "$DOS_LANE" && '
    'echo "$word" >> "$DOS_LANE/$unit.txt" && echo "$word $DOS_UNIT" >> "$TEST_WORDS"'
}
COMMIT = {"commit": "Work"}
DONE = {"say": "done"}
WORK = [EDIT, COMMIT, DONE]
CRASH = {"crash": True}
# The worker is the parent of the launcher, which is the parent of the agent.
_LAUNCHER = "$(cut -d' ' -f4 /proc/$PPID/stat)"
NO_WALLS = 'level = "off"'  # inside of them a worker cannot be seen
KILL_THE_WORKER = {"run": f"kill -9 $(cut -d' ' -f4 /proc/{_LAUNCHER}/stat)"}


class EngineFleet:
    def __init__(
        self,
        home: Path,
        lanes: Mapping[str, int],
        *,
        tables: str = "",
        ttl: float = 30.0,
        walls: str = "",
    ) -> None:
        """`walls` are the lines of [sandbox]; by default agents may write to `home`."""
        self.home = home
        self.root = home / "repository"
        self.script = home / "script.json"
        self.words = home / "words"
        self.points = home / "points"
        self.lanes = list(lanes)
        self.units = [
            f"WORK/{lane.upper()}{number}"
            for lane, most in lanes.items()
            for number in range(1, most + 1)
        ]
        self.started: list[subprocess.Popen[bytes]] = []
        self.environment = {
            **os.environ,
            "XDG_STATE_HOME": str(home / "state"),
            "TEST_WORDS": str(self.words),
            "DOS_FAULT_LOG": str(self.points),
        }
        (self.root / "docs").mkdir(parents=True)
        (self.root / "docs" / "work-plan.md").write_text(_plan(lanes))
        (self.root / "dos.toml").write_text(
            CONFIG.format(
                lanes=json.dumps(list(lanes)),
                trees="\n".join(f'{lane} = ["{lane}/**"]' for lane in lanes),
                ttl=ttl,
                script=self.script,
                walls=walls or f'writable = ["{home}"]',
                tables=tables,
            )
        )
        self.play({"*": [WORK]})
        self.git("init", "--quiet", "--initial-branch", "main")
        self.git("config", "user.name", "Tester")
        self.git("config", "user.email", "tester@example.invalid")
        self.git("add", "--all")
        self.git("commit", "--quiet", "-m", "Begin")

    def __enter__(self) -> "EngineFleet":
        return self

    def __exit__(self, *_: object) -> None:
        self.kill_everything()

    def play(self, script: Mapping[str, Any]) -> None:
        self.script.write_text(json.dumps(script))

    def git(self, *words: str) -> str:
        return subprocess.run(
            ["git", *words], cwd=self.root, check=True, capture_output=True, text=True
        ).stdout.strip()

    def dos(self, *words: str, seconds: float = PATIENCE) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-m", "dos", *words],
            cwd=self.root,
            env=self.environment,
            capture_output=True,
            text=True,
            timeout=seconds,
        )

    def up(self, *words: str, point: str = "", **environment: str) -> subprocess.Popen[bytes]:
        with self._story(len(self.started)).open("wb") as story:
            process = subprocess.Popen(
                [sys.executable, "-m", "dos", "up", "--tick", "0.2", *words],
                cwd=self.root,
                env=self.environment | {"DOS_FAULT_POINT": point} | environment,
                stdout=story,
                stderr=subprocess.STDOUT,
                stdin=subprocess.DEVNULL,
            )
        self.started.append(process)
        return process

    def story(self) -> str:
        """What the last supervisor told."""
        return self._story(len(self.started) - 1).read_text()

    def until_idle(self, *words: str, seconds: float = PATIENCE, **environment: str) -> int:
        return self.up("--until-idle", *words, **environment).wait(timeout=seconds)

    def _story(self, number: int) -> Path:
        return self.home / f"story.{number}"

    def events(self) -> list[Event]:
        with World(self.root) as world:
            return list(world.journal.events())

    def facts(self, kind: str) -> list[dict[str, Any]]:
        return [event.body for event in self.events() if event.kind == kind]

    def edits(self) -> list[str]:
        return self.words.read_text().splitlines() if self.words.exists() else []

    def agent_starts(self) -> list[str]:
        """The units that an agent was started for, by its own word."""
        return [
            unit
            for homes in (self.home / "state" / "dos").glob("*/homes")
            for unit in starts(self.script, homes)
        ]

    def passed(self) -> list[str]:
        """The fault points that the fleet has passed, each with its number."""
        seen: dict[str, int] = {}
        found = []
        for line in self.points.read_text().splitlines() if self.points.exists() else []:
            point = line.split()[0]
            seen[point] = seen.get(point, 0) + 1
            found.append(f"{point}:{seen[point]}")
        return found

    def processes(self, **marks: str) -> list[psutil.Process]:
        """Whatever was started for this fleet and lives, however it detached: all inherit the
        name of its file.
        """
        marks["TEST_WORDS"] = str(self.words)
        found = []
        for process in psutil.process_iter():
            try:
                carried = marks.items() <= process.environ().items() and process.pid != os.getpid()
                if carried and process.status() != psutil.STATUS_ZOMBIE:
                    found.append(process)
            except (psutil.NoSuchProcess, psutil.AccessDenied):
                continue
        return found

    def kill(self, processes: Iterable[psutil.Process]) -> None:
        for process in (killed := list(processes)):
            try:
                process.kill()
            except psutil.NoSuchProcess:
                continue
        wait_until_ended(killed)

    def kill_everything(self) -> None:
        """As a machine that loses its power does."""
        while processes := self.processes():
            self.kill(processes)
        for child in self.started:
            child.wait(timeout=PATIENCE)


def _plan(lanes: Mapping[str, int]) -> str:
    lines = ["# What is to be done"]
    for lane, most in lanes.items():
        for number in range(1, most + 1):
            name = f"{lane.upper()}{number}"
            lines += [
                f"\n## WORK {name}: write {name}",
                f"- lane: {lane}",
                f"- paths: {lane}/**",
                f"- acceptance: `test -s {lane}/{name}.txt`",
            ]
    return "\n".join(lines) + "\n"
