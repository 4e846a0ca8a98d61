"""A sample repository whose fleet runs real agent programs behind walls, with nothing of this
machine's own in their environment."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import psutil
import tomlkit
from installing import START_SECONDS, command_of, path_of
from model_server import ModelServer
from patience import PATIENCE, wait_for
from programs import Program, Step

UP_SECONDS = 240
IDENTITY = {"NAME": "Tester", "EMAIL": "tester@example.invalid"}


class AgentFleet:
    def __init__(self, home: Path, lanes: dict[str, list[str]]) -> None:
        """`lanes`: each lane's units; each of them is done when its file is there."""
        self.home = home
        self.root = home / "repository"
        self.lanes = lanes
        self._models: list[ModelServer] = []
        self._up: subprocess.Popen[str] | None = None
        self._config: dict[str, Any] = {
            "lanes": {
                "concurrent": list(lanes),
                "autopick": list(lanes),
                "trees": {lane: [f"{lane}/**"] for lane in lanes},
            },
            "supervise": {"target": len(lanes)},
            "quota": {"backoff_seconds": [2], "jitter_seconds": 0},
            "workers": {"silence_seconds": 60, "wall_seconds": 120},
            "sandbox": {"level": "auto", "readable": [str(home / "signals")]},
            "agents": {},
        }
        self.environment = {
            "PATH": os.environ["PATH"],
            "HOME": str(home / "home"),
            "LANG": "C.UTF-8",
        }
        (home / "home").mkdir(parents=True)
        (home / "signals").mkdir()
        # Where people have it, and not every agent's shell looks.
        text = "".join(f"\t{what.lower()} = {value}\n" for what, value in IDENTITY.items())
        (home / "home" / ".gitconfig").write_text(f"[user]\n{text}")

    def staff(
        self, program: Program, script: object, *, lane: str = "", arguments: tuple[str, ...] = ()
    ) -> ModelServer:
        """For one lane; otherwise the first is the fleet's agent and the others are fallbacks."""
        model = ModelServer(self.home / f"model-{program.name}", script)
        self._models.append(model)
        first, workers = not self._config["agents"], self._config["workers"]
        self._config["agents"][program.name] = {
            "command": command_of(program),
            **program.settings(model.url),
        }
        if lane:
            self._config["lanes"].setdefault("agents", {})[lane] = program.name
        elif first:
            workers["agent"] = program.name
        else:
            workers.setdefault("fallback", []).append(program.name)
        for name, text in program.files(model.url).items():
            path = self.home / "home" / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        if program.first:
            words = [path_of(program), *program.first]
            subprocess.run(
                words, env=self.environment, check=True, capture_output=True, timeout=START_SECONDS
            )
        return model

    def configure(self, table: str, **values: object) -> None:
        self._config.setdefault(table, {}).update(values)

    def up(self) -> None:
        """Until nothing is left to do."""
        self.start()
        self.finish()

    def start(self) -> None:
        if not self.root.exists():
            self.begin()
        self._up = subprocess.Popen(
            [sys.executable, "-m", "dos", "up", "--until-idle", "--tick", "0.5"],
            cwd=self.root,
            env=self.environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            start_new_session=True,
        )

    def finish(self, seconds: float = UP_SECONDS) -> None:
        assert self._up
        self.story, _ = self._up.communicate(timeout=seconds)
        assert self._up.returncode in (0, 3), self.story  # a unit may be left

    def await_row(self, **wanted: str) -> dict[str, Any]:
        """Look at the fleet as a person does, until a lane is as wanted."""
        deadline = time.monotonic() + UP_SECONDS
        while time.monotonic() < deadline:
            rows = json.loads(self.dos("top", "--once", "--json").stdout)["rows"]
            for row in rows:
                if row.items() >= wanted.items():
                    return row
            time.sleep(0.5)
        raise AssertionError(f"no lane was {wanted}; in the end: {rows}")

    def until(self, signal_name: str) -> str:
        """A shell command that waits for `signal`, within bounds: agents see nothing else of the
        fleet around them."""
        path = self.home / "signals" / signal_name
        # Gemini CLI runs no command with a substitution in it.
        return f"timeout 60 sh -c 'until test -e {path}; do sleep 0.1; done'"

    def signal(self, name: str) -> None:
        (self.home / "signals" / name).touch()

    def await_event(self, kind: str) -> None:
        wait_for(lambda: self.events(kind), f"the journal has {kind}")

    def worker(self) -> psutil.Process:
        """The one worker that runs now."""
        assert self._up
        found = psutil.Process(self._up.pid).children()
        alive = [each for each in found if each.status() != psutil.STATUS_ZOMBIE]
        (worker,) = [each for each in alive if "worker" in each.cmdline()]
        return worker

    def work_tree(self, lane: str) -> Path:
        """Where the agents of a lane work."""
        (tree,) = [
            path.parent
            for path in self.home.rglob(lane)
            if (path.parent / ".git").is_dir() and path.parent != self.root
        ]
        return tree

    def dos(self, *words: str) -> subprocess.CompletedProcess[str]:
        words = (sys.executable, "-m", "dos", *words)
        return subprocess.run(
            words,
            cwd=self.root,
            env=self.environment,
            capture_output=True,
            text=True,
            timeout=PATIENCE,
        )

    def events(self, *kinds: str) -> list[dict[str, Any]]:
        """The journal's, oldest first: position, kind and what is in it."""
        shown = map(json.loads, self.dos("journal", "tail", "0").stdout.splitlines())
        return [event for event in shown if not kinds or event["kind"] in kinds]

    def receipt(self, unit: str) -> dict[str, Any]:
        """The receipt of a landing, which has to hold."""
        path = self.home / "receipt.json"
        assert self.dos("receipt", unit, "--out", str(path)).returncode == 0
        words = ("verify-receipt", "--receipt", str(path), "--unit", unit)
        assert self.dos(*words).returncode == 0
        return json.loads(path.read_text())

    def landed(self) -> list[str]:
        units = json.loads(self.dos("status", "--json").stdout)["units"]
        return sorted(unit["unit"] for unit in units if unit["state"] == "landed")

    def units(self) -> list[str]:
        return sorted(unit for units in self.lanes.values() for unit in units)

    def tree(self, lane: str) -> Path:
        """Where the agents of a lane work; the repository is made, if it is not there yet."""
        if not self.root.exists():
            self.begin()
        ask = "from dos import workspace; print(workspace.find('.').worktrees)"
        words = [sys.executable, "-c", ask]
        told = subprocess.run(
            words, cwd=self.root, env=self.environment, check=True, capture_output=True, text=True
        )
        return Path(told.stdout.strip(), lane)

    def write(self, program: Program, lane: str, path: str, text: str) -> Step:
        """A step that writes a file with the program's own tool."""
        if program.absolute_paths:
            path = str(self.tree(lane) / path)
        return program.write(path, text)

    def git(self, *words: str) -> str:
        done = subprocess.run(
            ["git", *words],
            cwd=self.root,
            env=self.environment,
            check=True,
            capture_output=True,
            text=True,
        )
        return done.stdout.strip()

    def stop(self) -> None:
        """Whatever is left of it: by id, those that work in this very repository."""
        if self._up and self._up.poll() is None:
            self._up.send_signal(signal.SIGKILL)
            self._up.communicate()
        for process in psutil.process_iter(["cwd"]):
            if (process.info["cwd"] or "").startswith(str(self.home)):
                process.kill()
        for model in self._models:
            model.stop()

    def write_settings(self) -> None:
        (self.root / "dos.toml").write_text(tomlkit.dumps(self._config))

    def begin(self) -> None:
        """Make the repository; `start` does, unless somebody has."""
        for lane in self.lanes:
            (self.root / lane).mkdir(parents=True)
            (self.root / lane / "keep").touch()
        (self.root / "docs").mkdir(exist_ok=True)
        (self.root / "docs" / "sample-plan.md").write_text(plan(self.lanes))
        self.write_settings()
        self.git("init", "--quiet", "--initial-branch", "main")
        self.git("add", "--all")
        self.git("commit", "--quiet", "-m", "Begin")


def plan(lanes: dict[str, list[str]]) -> str:
    parts = ["# A plan"]
    for lane, units in lanes.items():
        for unit in units:
            heading = f"## {unit.replace('/', ' ')}: write a file"
            parts.append(
                f"{heading}\nWrite `{made_by(lane, unit)}`.\n- lane: {lane}\n"
                f"- acceptance: `{check(lane, unit)}`"
            )
    return "\n\n".join(parts) + "\n"


def made_by(lane: str, unit: str) -> str:
    return f"{lane}/{unit.rpartition('/')[2].lower()}.py"


def check(lane: str, unit: str) -> str:
    return f"grep -q {unit} {made_by(lane, unit)}"


def told(unit: str) -> str:
    """What only the prompt for this unit holds; commits may bring the names of other units in."""
    return f"# Unit {unit}:"


def work(lane: str, unit: str, *, before: str = "true", also: str = "") -> list[Step]:
    """What a model does that does its work; `also` is a file that is none of its business.

    That is written by a program of its own, which no reader of commands can look into: what can be
    read is refused before it happens.
    """
    writes = [f"echo \"made_by = '{unit}'\" > {made_by(lane, unit)}"]
    if also:
        writes.append(f"python3 -c \"open('{also}', 'w').write('')\"")
    return [{"bash": " && ".join([before, *writes, committing(unit)])}, *say_done(unit)]


def work_with(program: Program, lane: str, unit: str) -> list[Step]:
    """The same, with the program's own tool for files."""
    write = program.write(made_by(lane, unit), f"made_by = '{unit}'\n")
    return [write, {"bash": committing(unit)}, *say_done(unit)]


def committing(unit: str) -> str:
    return f"git add -A && git commit -q -m 'Write a file for {unit}' -m 'Unit: {unit}'"


def say_done(unit: str) -> list[Step]:
    return [{"say": f"{unit} is done, all tests pass."}]
