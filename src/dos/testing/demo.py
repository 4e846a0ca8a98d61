"""The fleet of `dos demo`: its scripted agents lie, stray, crash, hang and hit a limit.

All but the agents' decisions is real: processes, git, worktrees, leases, journal and receipts.
"""

import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from msgspec import Struct, json

LANES = ("api", "guide", "web")
UNITS = (
    # lane, unit, title, the file that it adds, what the file holds
    ("api", "API1", "say hello", "api/hello.py", "def greet():\n    return 'hello'\n"),
    ("api", "API2", "say goodbye", "api/goodbye.py", "def part():\n    return 'goodbye'\n"),
    ("api", "API3", "count the guests", "api/guests.py", "def count(all):\n    return len(all)\n"),
    ("guide", "DOC1", "explain the greeting", "guide/greeting.md", "# Hello\n"),
    ("guide", "DOC2", "explain the goodbye", "guide/goodbye.md", "# Goodbye\n"),
    ("guide", "DOC3", "list the words", "guide/words.md", "hello, goodbye\n"),
    ("web", "WEB1", "a page that greets", "web/index.html", "<h1>hello</h1>\n"),
    ("web", "WEB2", "make it blue", "web/style.css", "h1 { color: blue }\n"),
)
CONFIG = """[lanes]
concurrent = ["api", "guide", "web"]
autopick = ["api"]

[lanes.trees]
api = ["api/**"]
guide = ["guide/**"]
web = ["web/**"]

[supervise]
target = 3

[leases]
ttl_seconds = 8

[quota]
jitter_seconds = 1

[workers]
agent = "scripted"
command = ["{script}"]
silence_seconds = 4
"""
FIRST_COMMIT = (
    ("init", "--quiet", "--initial-branch", "main"),
    ("config", "user.name", "Demo"),
    ("config", "user.email", "demo@example.invalid"),
    ("add", "--all"),
    ("commit", "--quiet", "-m", "Add a sample project"),
)
INTRODUCTION = """\
A sample repository with three lanes and eight units of work, and three workers for it.
The agents are scripted. On their first attempt one lies, one leaves its lane, one crashes halfway,
one hits a provider's limit and one hangs. A worker and the supervisor are killed as well.
"""
OTHERS = ("DISPATCH_", "DOS_", "GIT_")  # variables of another workspace or repository
UP = ("up", "--until-idle", "--plain", "--tick", "0.5")
FLEET_SECONDS = 120
KILL_PAUSE_SECONDS = 1.5  # long enough that people see what goes on between two kills

Step = dict[str, object]
PAUSE: Step = {"sleep": 0.7}
USED: Step = {
    "usage": {"model": "scripted", "input_tokens": 1200, "output_tokens": 300, "cost_usd": 0.02}
}
# What goes wrong on the first attempt; the second one does the work.
FIRST_ATTEMPTS: dict[str, list[Step]] = {
    # A lie: there is no commit behind it.
    "API1": [PAUSE, {"say": "API1 is done, all tests pass!"}],
    # Half a file, then a crash.
    "API2": [{"write": "api/goodbye.py", "text": "def part("}, PAUSE, {"crash": True}],
    # A commit in a lane of another worker.
    "DOC2": [
        {"write": "api/hello.py", "text": "mine = True\n"},
        {"commit": "Tidy up"},
        {"say": "done"},
    ],
    # The provider has no capacity for four seconds: no agent is started meanwhile.
    "DOC3": [PAUSE, {"limit": 4}],
    "WEB1": [{"write": "web/index.html", "text": "<h1>"}, {"hang": True}],
}


class Result(Struct, frozen=True, kw_only=True):
    """What a demonstration came to."""

    landed: int
    units: int
    seconds: float
    report: str  # the page, which stays after the repository is gone
    exit_code: int  # of the first command that failed; 0: none did

    @property
    def is_complete(self) -> bool:
        """Whether no command failed and every unit landed."""
        return self.exit_code == 0 and self.landed == self.units


def build(home: Path) -> Path:
    """Create the sample repository below `home` and return its path."""
    repository = home / "greeter"
    for folder in (*LANES, "docs"):
        (repository / folder).mkdir(parents=True)
        (repository / folder / ".gitkeep").touch()
    (repository / "docs" / "greeter-plan.md").write_text(_plan(), encoding="utf-8")
    script = home / "script.json"
    script.write_bytes(json.encode(_script()))
    (repository / "dos.toml").write_text(CONFIG.format(script=script), encoding="utf-8")
    environment = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    for words in FIRST_COMMIT:
        subprocess.run(["git", *words], cwd=repository, env=environment, check=True)
    return repository


def _plan() -> str:
    """Return the plan; the acceptance command of a unit looks for a word of its file."""
    parts = ["# Greeter plan"]
    for lane, unit, title, path, text in UNITS:
        word = text.split()[-1].strip("'")
        parts.append(
            f"## GREET {unit}: {title}\nAdd `{path}`.\n- lane: {lane}\n- paths: {path}\n"
            f"- acceptance: `grep -q '{word}' {path}`"
        )
    return "\n\n".join(parts) + "\n"


def _script() -> dict[str, list[list[Step]]]:
    """The attempts of each unit, as the scripted agent plays them."""
    script = {}
    for _, unit, title, path, text in UNITS:
        work: list[Step] = [
            PAUSE,
            {"write": path, "text": text},
            {"commit": title.capitalize()},
            USED,
            {"say": "done"},
        ]
        attempts = [work]
        if unit in FIRST_ATTEMPTS:
            *before, last = FIRST_ATTEMPTS[unit]
            attempts.insert(0, [*before, USED, last])
        script[f"GREET/{unit}"] = attempts
    return script


class Demonstration:
    """Runs the fleet in a sample repository and kills two of its processes.

    `tell` gets each line for people. With `is_quiet` the commands print nothing either.
    """

    def __init__(self, home: Path, *, tell: Callable[[str], None], is_quiet: bool = False) -> None:
        self._home = home
        self._tell = tell
        self._output = subprocess.DEVNULL if is_quiet else None
        self._repository = Path()

    def play(self) -> Result:
        """Run the whole demonstration; on Ctrl-C stop the fleet first."""
        self._tell(INTRODUCTION)
        self._repository = build(self._home)
        try:
            return self._play()
        except KeyboardInterrupt:
            self._dos("down", "--now")
            raise

    def _play(self) -> Result:
        began = time.monotonic()
        fleet = self._start_fleet()
        if self._kill_worker("guide"):
            self._tell("          *** a worker is killed with SIGKILL while its agent works ***")
        time.sleep(KILL_PAUSE_SECONDS)
        if fleet.poll() is None:  # on a busy machine it may have finished its work by now
            fleet.kill()
            self._tell(
                "          *** the supervisor is killed with SIGKILL; its workers continue ***"
            )
            time.sleep(KILL_PAUSE_SECONDS)
        fleet.wait()
        fleet_code = self._start_fleet().wait(FLEET_SECONDS)
        self._tell("\n$ dos verify --all")
        verify_code = self._dos("verify", "--all")
        report = Path(tempfile.gettempdir()) / f"dos-demo-{os.getpid()}.html"
        # Of the whole journal: both starts of the fleet are one demonstration.
        self._tell(f"\n$ dos report --since 1 --html {report}")
        self._dos("report", "--since", "1", "--html", str(report))
        units = self._answer("status")["units"]
        landed = [unit for unit in units if unit["state"] == "landed"]
        return Result(
            landed=len(landed),
            units=len(units),
            seconds=round(time.monotonic() - began, 1),
            report=str(report),
            exit_code=fleet_code or verify_code,
        )

    def _start_fleet(self) -> "subprocess.Popen[bytes]":
        """Start `dos up` and return at once; it ends when no work is left."""
        self._tell("$ dos up --until-idle")
        return subprocess.Popen(
            [sys.executable, "-m", "dos", *UP],
            cwd=self._repository,
            env=self._environment(),
            stdout=self._output,
        )

    def _kill_worker(self, lane: str) -> bool:
        """Kill the lane's worker while it is at a unit, as the system does when memory runs out."""
        for _ in range(100):
            workers = self._answer("status")["workers"]
            is_at_work = any(worker["lane"] == lane and worker["unit"] for worker in workers)
            for lease in self._answer("lease-lane", "live"):
                if lease["lane"] == lane and is_at_work:
                    os.kill(lease["pid"], signal.SIGKILL)
                    return True
            time.sleep(0.1)
        return False

    def _dos(self, *words: str) -> int:
        """Run a verb in the sample repository and return its exit code."""
        return subprocess.run(
            [sys.executable, "-m", "dos", *words],
            cwd=self._repository,
            env=self._environment(),
            stdout=self._output,
        ).returncode

    def _answer(self, *words: str) -> Any:
        """Return the JSON answer of a verb; raises CalledProcessError if it fails."""
        command = [sys.executable, "-m", "dos", *words, "--json"]
        answer = subprocess.run(
            command,
            cwd=self._repository,
            env=self._environment(),
            stdout=subprocess.PIPE,
            check=True,
        )
        return json.decode(answer.stdout)

    def _environment(self) -> dict[str, str]:
        """Keep the receipt key and the worktrees beside the repository, so that they go with it.

        Variables that name another workspace or repository are dropped: two processes get killed.
        """
        inherited = {
            name: value for name, value in os.environ.items() if not name.startswith(OTHERS)
        }
        return {
            **inherited,
            "DOS_RECEIPT_KEY": str(self._home / "receipt-key"),
            "XDG_STATE_HOME": str(self._home / "state"),
        }
