"""The start of a lane and the cost of a unit, beside an earlier version, as ratios.

A real worker with a scripted agent that makes one commit for each unit. The start of a lane is the
time from the claim of its first unit to the start of the agent; the cost of a unit is the time from
the end of its agent to its landing, and the processor time of everything between two units. With
`--before`, the folder of a checkout of an earlier version with its own `.venv`, all ratios are to
that version; without it, to this version with the sandbox off. All are measured in turns.
"""

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from msgspec import Struct, field

from table import median, show

FURTHER_UNITS = 3  # in the run after the first unit, of which one unit's cost is taken
LANE = "one"
WORK = [{"run": f'echo x > "{LANE}/${{DOS_UNIT#*/}}.txt"'}, {"commit": "Work"}]
CONFIG = """[lanes]
concurrent = ["{lane}"]
autopick = ["{lane}"]

[lanes.trees]
{lane} = ["{lane}/**"]

[workers]
agent = "scripted"
command = ["{script}"]
"""
SANDBOX = '\n[sandbox]\nlevel = "{level}"\nreadable = ["{script}"]\n'
EVENTS = """
from pathlib import Path
from dos.world import World
with World(Path(".")) as world:
    for event in world.journal.events():
        print(event.at_ms, event.kind)
"""


class Version(Struct, frozen=True, kw_only=True):
    """One of the ways that are compared."""

    name: str
    python: Path
    level: str  # of the sandbox; empty: the version has none


class Measures(Struct, kw_only=True):
    """What was measured of one version, in milliseconds."""

    start: list[float] = field(default_factory=list)  # of a lane
    next_start: list[float] = field(default_factory=list)  # on a lane that exists
    first: list[float] = field(default_factory=list)  # unit's cost: trees for checks are made
    cost: list[float] = field(default_factory=list)
    cpu: list[float] = field(default_factory=list)
    apparent: int = 0  # bytes of the lane
    blocks: int = 0  # bytes that the lane takes on the disk
    check_blocks: int = 0  # of the trees for checks, which the lanes of a host share
    processes: int | None = None  # that were started for a unit


def main() -> None:
    words = argparse.ArgumentParser(description=__doc__)
    words.add_argument("--before", type=Path, help="folder of an earlier version, with its .venv")
    words.add_argument("--files", type=int, nargs="+", default=[100, 10_000])
    words.add_argument("--rounds", type=int, default=3)
    words.add_argument("--folder", type=Path, default=Path.home(), help="for the repositories")
    words.add_argument("--processes", action="store_true", help="count them too, by strace: slow")
    args = words.parse_args()
    own = Path(sys.executable)
    versions = [Version(name=f"sandbox {level}", python=own, level=level) for level in
                ("off", "auto")]  # fmt: skip
    if args.before:
        python = args.before / ".venv" / "bin" / "python"
        versions.insert(0, Version(name="before", python=python, level=""))
    for count in args.files:
        with tempfile.TemporaryDirectory(prefix=".dos-bench-", dir=args.folder) as home:
            workspaces = [
                Workspace(Path(home, f"v{number}"), version, count)
                for number, version in enumerate(versions)
            ]
            measure(workspaces, args.rounds)
            if args.processes:
                for workspace in workspaces:
                    workspace.count_processes()
            measured = {workspace.version.name: workspace.measures for workspace in workspaces}
        show_all(count, measured)


def show_all(count: int, measured: dict[str, Measures]) -> None:
    first = next(iter(measured.values()))
    rows = []
    for name, values in measured.items():
        row: list[object] = [name]
        for part in ("start", "next_start", "first", "cost", "cpu"):
            value, base = (median(getattr(item, part)) for item in (values, first))
            row += [round(value), value / base]
        rows.append(row)
    header = ["version", "lane start ms", "ratio", "next start ms", "ratio", "first unit ms",
              "ratio", "unit ms", "ratio", "unit CPU ms", "ratio"]  # fmt: skip
    show(f"{count:,} files: a lane's start and a unit's cost", header, rows)
    megabytes = 1_000_000
    disk = [
        [
            name,
            values.apparent / megabytes,
            values.blocks / megabytes,
            values.blocks / first.blocks,
            values.check_blocks / megabytes,
            "-" if values.processes is None else values.processes,
        ]
        for name, values in measured.items()
    ]
    header = ["version", "lane MB", "on disk MB", "ratio", "check trees MB", "processes of a unit"]
    show(f"{count:,} files: disk of a lane", header, disk)


def measure(workspaces: "list[Workspace]", rounds: int) -> None:
    for _ in range(rounds):
        for workspace in workspaces:
            workspace.measure()
    for workspace in workspaces:
        workspace.measure_disk()


class Workspace:
    """The repository and the state folder of one version."""

    def __init__(self, home: Path, version: Version, count: int) -> None:
        self.version = version
        self.measures = Measures()
        self.home = home
        self.root = home / "repository"
        self.state = home / "state"
        self.script = home / "script.json"
        self.root.mkdir(parents=True)
        self.script.write_text(json.dumps({"*": [WORK]}))
        text = CONFIG.format(lane=LANE, script=self.script)
        if version.level:
            text += SANDBOX.format(level=version.level, script=self.script)
        self.git("init", "--quiet", "--initial-branch", "main")
        self.git("config", "user.name", "Bench")
        self.git("config", "user.email", "bench@example.invalid")
        self.git("config", "gc.auto", "0")
        stream = "".join(_stream(count, text))
        self.git("fast-import", "--quiet", stdin=stream)
        self.git("reset", "--quiet", "--hard", "main")
        self.begin = self.git("rev-parse", "HEAD").strip()

    def measure(self) -> None:
        """One unit on a new lane, then more units on another new lane."""
        measures = self.measures
        alone = self.run(1)
        several = self.run(1 + FURTHER_UNITS)
        measures.start += [run.starts[0] for run in (alone, several)]
        measures.first += [run.costs[0] for run in (alone, several)]
        measures.next_start += several.starts[1:]
        measures.cost += several.costs[1:]
        measures.cpu.append((several.cpu - alone.cpu) / FURTHER_UNITS)

    def run(self, units: int, prefix: tuple[str, ...] = ()) -> "Run":
        """Have a worker land so many units on a lane that does not exist yet."""
        self.clear(units)
        words = [*prefix, str(self.version.python), "-m", "dos", "worker", "--lane", LANE]
        log = self.home / "log"
        with log.open("wb") as output:
            worker = subprocess.Popen(
                words, cwd=self.root, env=self.environment, stdout=output, stderr=output
            )
            _, status, used = os.wait4(worker.pid, 0)
        worker.returncode = os.waitstatus_to_exitcode(status)
        assert worker.returncode == 0, log.read_text()
        listed = subprocess.run(
            [self.version.python, "-c", EVENTS],
            cwd=self.root, env=self.environment, check=True, capture_output=True, text=True,
        )  # fmt: skip
        run = Run(cpu=1000 * (used.ru_utime + used.ru_stime))
        run.read(listed.stdout)
        assert len(run.costs) == units, listed.stdout
        return run

    def clear(self, units: int) -> None:
        """Forget all lanes and all that landed, and plan so many units."""
        for folder in (self.state, self.root / ".git" / "dos", self.root / ".git" / "worktrees"):
            shutil.rmtree(folder, ignore_errors=True)
        refs = self.git("for-each-ref", "--format=delete %(refname)", "refs/dos", "refs/notes")
        self.git("update-ref", "--stdin", stdin=refs)
        self.git("reset", "--quiet", "--hard", self.begin)
        plan = "# A plan\n"
        for number in range(units):
            plan += f"\n## BENCH U{number}: x\n- lane: {LANE}\n- paths: {LANE}/**\n"
            plan += f"- acceptance: `test -s {LANE}/U{number}.txt`\n"
        (self.root / "docs").mkdir(exist_ok=True)
        (self.root / "docs" / "bench-plan.md").write_text(plan)
        self.git("add", "docs")
        self.git("commit", "--quiet", "-m", "Plan")

    def measure_disk(self) -> None:
        measures = self.measures
        lanes = [*self.state.glob(f"dos/*/worktrees/{LANE}"), self.root / ".git" / "worktrees"]
        for folder in lanes:
            apparent, blocks = _disk(folder)
            measures.apparent += apparent
            measures.blocks += blocks
        for folder in self.state.glob("dos/*/checks"):
            measures.check_blocks += _disk(folder)[1]

    def count_processes(self) -> None:
        """Count the programs that are executed from the start of one agent to that of the next."""
        trace = self.home / "trace"
        options = ("-f", "-qq", "-e", "trace=execve", "-e", "signal=none", "-o", str(trace))
        self.run(3, ("strace", *options))
        lines = trace.read_text(errors="replace").splitlines()
        executed = [line for line in lines if line.endswith(" = 0")]
        starts = '"-m", "dos.testing.scripted_agent"'
        # A launcher that becomes the agent is started with the agent's words too.
        agents = [at for at, line in enumerate(executed) if starts in line and '"-S"' not in line]
        self.measures.processes = agents[2] - agents[1]

    @property
    def environment(self) -> dict[str, str]:
        return {**os.environ, "XDG_STATE_HOME": str(self.state)}

    def git(self, *words: str, stdin: str = "") -> str:
        return subprocess.run(
            ["git", *words], cwd=self.root, check=True, capture_output=True, text=True, input=stdin
        ).stdout


class Run(Struct, kw_only=True):
    """What the journal says of one worker, in milliseconds."""

    cpu: float
    starts: list[float] = field(default_factory=list)
    costs: list[float] = field(default_factory=list)

    def read(self, text: str) -> None:
        moments: dict[str, int] = {}
        for line in text.splitlines():
            moment, kind = line.split()
            moments[kind] = int(moment)
            if kind == "agent_started":
                self.starts.append(moments[kind] - moments["unit_claimed"])
            if kind == "unit_landed":
                self.costs.append(moments[kind] - moments["agent_ended"])


def _stream(count: int, settings: str) -> Iterator[str]:
    """A repository with so many files, as `git fast-import` reads it."""
    yield "commit refs/heads/main\ncommitter Bench <bench@example.invalid> 0 +0000\n"
    yield "data 5\nBegin\n"
    yield from _file("dos.toml", settings)
    yield from _file(f"{LANE}/keep", "")
    for number in range(count):
        text = f"{number}\n" * 40
        yield from _file(f"d{number % 100}/e{number // 1_000}/f{number}", text)


def _file(path: str, text: str) -> Iterator[str]:
    yield f"M 100644 inline {path}\ndata {len(text)}\n{text}\n"


def _disk(folder: Path) -> tuple[int, int]:
    """The bytes of all files of a folder, and those that they take on the disk."""
    apparent = 0
    blocks = 0
    for above, folders, files in os.walk(folder):
        for name in (*folders, *files):
            status = Path(above, name).lstat()
            apparent += status.st_size
            blocks += status.st_blocks * 512
    return apparent, blocks


if __name__ == "__main__":
    main()
