"""The demonstration: a real fleet on a sample repository; its scripted agents lie, stray and crash.

Everything is real but the agents' minds: processes, git, worktrees, leases, the journal.
"""

import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from msgspec import json

PLAN = """# Greeter plan

## GREET GREET1: say hello
Add `api/hello.py`, which says hello.
- lane: api
- acceptance: `grep -q hello api/hello.py`

## GREET GREET2: say goodbye
Add `api/goodbye.py`.
- lane: api
- acceptance: `grep -q goodbye api/goodbye.py`

## DOCS DOCS1: explain the greeting
Write `guide/greeting.md`.
- lane: guide
- paths: guide/**
- acceptance: `test -s guide/greeting.md`

## DOCS DOCS2: explain the goodbye
Write `guide/goodbye.md`.
- lane: guide
- paths: guide/**
- acceptance: `test -s guide/goodbye.md`
"""

CONFIG = """[lanes]
concurrent = ["api", "guide"]
exclusive = ["global"]
autopick = ["api", "guide"]

[lanes.trees]
api = ["api/**"]
guide = ["guide/**"]
global = ["**/*"]

[supervise]
target = 2

[leases]
ttl_seconds = 8

[workers]
agent = "scripted"
command = ["{script}"]
"""

PAUSE = {"sleep": 0.7}
GOODBYE = "def part():\n    return 'goodbye'\n"
SCRIPT = {
    "GREET/GREET1": [
        [PAUSE, {"say": "GREET1 is done, all tests pass!"}],  # a lie: no commit stands behind it
        [
            PAUSE,
            {"write": "api/hello.py", "text": "def greet():\n    return 'hello'\n"},
            {"commit": "Say hello"},
            {"say": "done"},
        ],
    ],
    "GREET/GREET2": [
        [{"write": "api/goodbye.py", "text": "def part("}, PAUSE, {"crash": True}],  # half a file, then gone
        [PAUSE, {"write": "api/goodbye.py", "text": GOODBYE}, {"commit": "Say goodbye"}, {"say": "done"}],
    ],
    "DOCS/DOCS1": [
        [PAUSE, {"write": "guide/greeting.md", "text": "# Hello\n"}, {"commit": "Explain hello"}, {"say": "done"}],
    ],
    "DOCS/DOCS2": [
        [{"write": "api/hello.py", "text": "mine = True\n"}, {"commit": "Tidy up"}, {"say": "done"}],  # not its lane
        [PAUSE, {"write": "guide/goodbye.md", "text": "# Goodbye\n"}, {"commit": "Explain goodbye"}, {"say": "done"}],
    ],
}


def main() -> int:
    keep = "--keep" in sys.argv
    home = Path(tempfile.mkdtemp(prefix="dos-demo-"))
    try:
        return play(home)
    finally:
        if keep:
            _say(f"\nkept: {home}")
        else:
            shutil.rmtree(home, ignore_errors=True)


def play(home: Path) -> int:
    repository = build(home)
    _say("a sample repository with two lanes, four units and scripted agents; two workers wanted\n")
    _say("$ dos up --until-idle")
    began = time.monotonic()
    fleet = _start(repository)
    if _kill_a_worker(repository):
        _say("          *** a worker is killed with SIGKILL, in the middle of its work ***")
    code = fleet.wait(timeout=120)
    _say("\n$ git log --oneline")
    subprocess.run(["git", "--no-pager", "log", "--oneline", "--no-decorate"], cwd=repository, check=True)
    _say("\n$ dos verify --all")
    proven = subprocess.run(
        [sys.executable, "-m", "dos", "verify", "--all"], cwd=repository, env=_environment(repository)
    )
    shown = subprocess.run(
        [sys.executable, "-m", "dos", "status", "--json"], cwd=repository, check=True, capture_output=True
    )
    units = json.decode(shown.stdout)["units"]
    done = sum(unit["state"] == "landed" for unit in units)
    _say(f"\n{done} of {len(units)} units landed, in {time.monotonic() - began:.0f} s.")
    return code or proven.returncode or int(done != len(units))


def build(home: Path) -> Path:
    repository = home / "greeter"
    for folder in ("api", "guide", "docs"):
        (repository / folder).mkdir(parents=True)
        (repository / folder / ".gitkeep").touch()
    (repository / "docs" / "greeter-plan.md").write_text(PLAN, encoding="utf-8")
    script = home / "script.json"
    script.write_bytes(json.encode(SCRIPT))
    (repository / "dos.toml").write_text(CONFIG.format(script=script), encoding="utf-8")
    for words in (
        ["init", "--quiet", "--initial-branch", "main"],
        ["add", "--all"],
        ["-c", "user.name=Demo", "-c", "user.email=demo@example.invalid", "commit", "--quiet", "-m", "A sample"],
    ):
        subprocess.run(["git", *words], cwd=repository, check=True)
    return repository


def _start(repository: Path) -> "subprocess.Popen[bytes]":
    words = [sys.executable, "-m", "dos", "up", "--until-idle", "--tick", "0.5"]
    return subprocess.Popen(words, cwd=repository, env=_environment(repository))


def _environment(repository: Path) -> dict[str, str]:
    """The key that signs receipts is gone with the rest of it."""
    return {**os.environ, "DOS_RECEIPT_KEY": str(repository.parent / "receipt-key")}


def _kill_a_worker(repository: Path) -> bool:
    """Once the guide lane's worker is at its unit, take it away as the system would when memory runs out."""
    for _ in range(100):
        shown = subprocess.run(
            [sys.executable, "-m", "dos", "status", "--json"], cwd=repository, capture_output=True, check=True
        )
        for worker in json.decode(shown.stdout)["workers"]:
            if worker["lane"] == "guide" and worker["unit"]:
                os.kill(int(worker["holder"].rpartition(":")[2]), signal.SIGKILL)
                return True
        time.sleep(0.1)
    return False


def _say(line: str) -> None:
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())
