"""A fleet of agents that work, lie and leave things behind, and are killed at random."""

import json
import os
import random
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

import psutil
from engine_fleet import COMMIT, DONE, EDIT, WORK, EngineFleet
from msgspec import Struct

from dos.machine.process import dos_processes
from dos.workspace import find

LANES = 8
BLACKOUT_EVERY_SECONDS = 60.0  # everything dies at once
MEAN_PAUSE_SECONDS = 0.4  # between two kills
LOOK_SECONDS = 1.0  # for a process of the chosen kind
DELAY_SECONDS = 0.01  # so that a process is killed in the middle of what it does
WORK_LEFT = 3  # the exit code of `dos up` that waits for a person
MOST_ROUNDS = 40  # of `dos up --until-idle` until everything has landed

# How often each kind of process is chosen, where there is one.
WEIGHTS = {
    "supervisor": 1,
    "worker": 3,
    "launcher": 3,
    "agent": 3,
    "lane program": 3,
    "git": 4,
    "check": 3,
    "other": 1,
}

WALLS = """level = "auto"
writable = ["{words}"]
readable = ["{script}"]
"""
TABLES = """[cooldown]
window_hours = 0
error_window_minutes = 0
"""


class Behaviour(Struct, frozen=True, kw_only=True):
    """What the agents of a unit do before one of them delivers it."""

    name: str
    attempts: tuple[list[dict[str, object]], ...]


def behaviours(mark: str) -> list[Behaviour]:
    """`mark` is in the command line of every process that they leave behind."""
    # Two forks, a session of its own, no environment and another folder: a daemon.
    daemon = {
        "run": f"(setsid env -i sh -c 'cd /; exec sh -c \"while :; do sleep 7; done\" {mark}' &) &"
    }
    junk = {
        "run": 'mkdir -p "$TMPDIR/junk/$$" && echo junk > "$TMPDIR/junk/$$/file" && '
        'mkfifo "$TMPDIR/pipe.$$" && chmod 0 "$TMPDIR/junk/$$" && '
        'mkdir -p "$HOME/junk" && echo junk > "$HOME/junk/file" && chmod 500 "$HOME/junk"'
    }
    work = [EDIT, {"sleep": 0.3}, COMMIT, DONE]
    rows: dict[str, tuple[list[dict[str, object]], ...]] = {
        "works": (work,),
        "lies": ([{"sleep": 0.2}, DONE], work),
        "leaves a daemon": ([daemon, *work],),
        "removes .git": ([EDIT, COMMIT, {"run": "rm -rf .git"}, DONE], work),
        "leaves junk": ([junk, *work],),
        "does not commit": ([EDIT, DONE], work),
        "strays": ([{"run": "echo x > elsewhere.txt"}, *work], WORK),
        "crashes": ([EDIT, daemon, {"crash": True}], work),
    }
    return [Behaviour(name=name, attempts=attempts) for name, attempts in rows.items()]


class KillStorm:
    """Keeps a fleet going while its processes are killed; counts what was killed and started."""

    def __init__(self, home: Path, temporary: Path, *, units_per_lane: int, seed: int) -> None:
        self.mark = f"left-by-{home.name}"
        self.chance = random.Random(seed)
        self.killed: Counter[str] = Counter()
        self._bag: list[str] = []  # the kinds of the next kills
        self.temporary = temporary
        lanes = {f"l{number}": units_per_lane for number in range(1, LANES + 1)}
        words = home / "words"
        walls = WALLS.format(words=words, script=home / "script.json")
        self.fleet = EngineFleet(home, lanes, tables=TABLES, ttl=20.0, walls=walls)
        words.touch()
        del self.fleet.environment["DOS_FAULT_LOG"]
        self.fleet.environment["TMPDIR"] = str(temporary)
        self._set_up()
        self.state = find(self.fleet.root).state

    def _set_up(self) -> None:
        fleet = self.fleet
        config = fleet.root / "dos.toml"
        text = config.read_text()
        text = text.replace("[supervise]", "[supervise]\nrestart_intensity = 1000")
        config.write_text(text)
        plan = fleet.root / "docs" / "work-plan.md"
        # A check takes a moment, leaves a process, and says by its words that it is one.
        daemon = f"setsid sh -c 'sleep 999; :' {self.mark}"
        check = f"`: storm-check; ({daemon} &); sleep 0.2; test"
        plan.write_text(plan.read_text().replace("`test", check))
        fleet.git("add", "--all")
        fleet.git("commit", "--quiet", "--amend", "--no-edit")
        ways = behaviours(self.mark)
        order = [ways[at % len(ways)] for at in range(len(fleet.units))]
        self.chance.shuffle(order)
        fleet.play({unit: list(way.attempts) for unit, way in zip(fleet.units, order, strict=True)})

    # The storm

    @property
    def starts(self) -> int:
        """How many supervisors were started."""
        return len(self.fleet.started)

    def start(self) -> None:
        self.fleet.up("--target", str(LANES))

    def rage(self, seconds: float) -> None:
        """Kill at random for so long; start the supervisor again whenever it has ended."""
        ends = time.monotonic() + seconds
        blackout = time.monotonic() + BLACKOUT_EVERY_SECONDS
        while time.monotonic() < ends:
            time.sleep(self.chance.expovariate(1 / MEAN_PAUSE_SECONDS))
            if time.monotonic() > blackout:
                blackout = time.monotonic() + BLACKOUT_EVERY_SECONDS
                self.kill_all()
            else:
                self._kill_one()
            if self.fleet.started[-1].poll() is not None:
                self.start()

    def _kill_one(self) -> None:
        """Choose a kind, wait a moment for such a process, and kill it a moment later."""
        if not self._bag:
            self._bag = [kind for kind, weight in WEIGHTS.items() for _ in range(weight)]
            self.chance.shuffle(self._bag)
        kind = self._bag.pop()
        gives_up = time.monotonic() + LOOK_SECONDS
        while time.monotonic() < gives_up:
            candidates = [process for name, process in self.processes() if name == kind]
            if candidates:
                time.sleep(self.chance.uniform(0, DELAY_SECONDS))
                self._kill(kind, self.chance.choice(candidates))
                return

    def kill_all(self) -> None:
        """Kill everything that runs, as a machine does that loses its power."""
        for kind, process in self.processes():
            self._kill(kind, process)

    def _kill(self, kind: str, process: psutil.Process) -> None:
        try:
            process.kill()
            self.killed[kind] += 1
        except psutil.NoSuchProcess:
            return  # it was done
        if kind == "supervisor":
            self.fleet.started[-1].wait()

    def processes(self) -> Iterator[tuple[str, psutil.Process]]:
        """Every process of the fleet: supervisors, workers, and what descends from them."""
        children: dict[int, list[int]] = {}
        for pid, parent in _parents():
            children.setdefault(parent, []).append(pid)
        family = []
        for process in dos_processes(self.state):
            kind = "supervisor" if process.verb == "up" else "worker"
            yield from _as_process(process.identity.pid, kind)
            family.append(process.identity.pid)
        for parent in family:
            for pid in children.get(parent, []):
                if pid not in family:
                    family.append(pid)
                    yield from _as_process(pid)

    # Afterwards

    def drain(self) -> int:
        """Let the fleet finish in peace, answering what it asks; return how often it started."""
        fleet = self.fleet
        for number in range(1, MOST_ROUNDS + 1):
            code = fleet.until_idle("--target", str(LANES))
            assert code in (0, WORK_LEFT), fleet.story()
            questions = self._answer_all()
            if not questions and self.all_landed():
                return number
        raise AssertionError(f"not everything landed in {MOST_ROUNDS} rounds: {fleet.story()}")

    def all_landed(self) -> bool:
        landed = {fact["unit"] for fact in self.fleet.facts("unit_landed")}
        return landed >= set(self.fleet.units)

    def _answer_all(self) -> int:
        """Answer `retry` to every question about a lane."""
        rows = json.loads(self.fleet.dos("decisions", "--json").stdout)
        for row in rows:
            answered = self.fleet.dos("decisions", "answer", row["id"], "retry")
            assert answered.returncode == 0, (row, answered.stdout, answered.stderr)
        return len(rows)


def _parents() -> Iterator[tuple[int, int]]:
    """Every process with its parent; by hand, since a git ends while psutil looks around."""
    for name in os.listdir("/proc"):
        if name.isdigit():
            with suppress(OSError):
                fields = Path(f"/proc/{name}/stat").read_bytes().rpartition(b")")[2].split()
                yield int(name), int(fields[1])


def _as_process(pid: int, kind: str = "") -> Iterator[tuple[str, psutil.Process]]:
    with suppress(psutil.NoSuchProcess, psutil.AccessDenied):
        process = psutil.Process(pid)
        if process.status() != psutil.STATUS_ZOMBIE:
            yield kind or _kind(process.name(), process.cmdline()), process


def _kind(name: str, words: list[str]) -> str:
    tests: dict[str, Callable[[], bool]] = {
        "launcher": lambda: words[1:4] == ["-I", "-S", "-c"] and "marshal.load" in words[4],
        "agent": lambda: "dos.testing.scripted_agent" in words,
        "git": lambda: name.startswith("git"),
        "check": lambda: any("storm-check" in word for word in words),
        "lane program": lambda: name.startswith("python"),
    }
    return next((kind for kind, holds in tests.items() if holds()), "other")
