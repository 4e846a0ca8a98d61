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
from typing import Any

from msgspec import json

LANES = ("api", "guide", "web")
UNITS = (
    # lane, unit, title, the file that it adds, what the file holds
    ("api", "API1", "say hello", "api/hello.py", "def greet():\n    return 'hello'\n"),
    ("api", "API2", "say goodbye", "api/goodbye.py", "def part():\n    return 'goodbye'\n"),
    (
        "api",
        "API3",
        "count the guests",
        "api/guests.py",
        "def count(guests):\n    return len(guests)\n",
    ),
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

PAUSE: dict[str, object] = {"sleep": 0.7}
USED: dict[str, object] = {
    "usage": {"model": "scripted", "input_tokens": 1200, "output_tokens": 300, "cost_usd": 0.02}
}
# What goes wrong at the first try; the second one does as it was told.
FIRST_TRIES: dict[str, list[dict[str, object]]] = {
    "API1": [PAUSE, {"say": "API1 is done, all tests pass!"}],  # a lie: no commit stands behind it
    "API2": [
        {"write": "api/goodbye.py", "text": "def part("},
        PAUSE,
        {"crash": True},
    ],  # half a file, then gone
    "DOC2": [
        {"write": "api/hello.py", "text": "mine = True\n"},
        {"commit": "Tidy up"},
        {"say": "done"},
    ],  # not its lane
    "DOC3": [
        PAUSE,
        {"limit": 4},
    ],  # its provider has no room for four seconds: nobody starts anything
    "WEB1": [{"write": "web/index.html", "text": "<h1>"}, {"hang": True}],
}


def _plan() -> str:
    parts = ["# Greeter plan"]
    for lane, unit, title, path, text in UNITS:
        word = text.split()[-1].strip("'")
        parts.append(
            f"## GREET {unit}: {title}\nAdd `{path}`.\n- lane: {lane}\n- paths: {path}\n"
            f"- acceptance: `grep -q '{word}' {path}`"
        )
    return "\n\n".join(parts) + "\n"


def _script() -> dict[str, object]:
    script: dict[str, object] = {}
    for _, unit, title, path, text in UNITS:
        works = [
            PAUSE,
            {"write": path, "text": text},
            {"commit": title.capitalize()},
            USED,
            {"say": "done"},
        ]
        first = FIRST_TRIES.get(unit)
        script[f"GREET/{unit}"] = [[*first[:-1], USED, first[-1]], works] if first else [works]
    return script


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
    _say("a sample repository: three lanes, eight units, scripted agents; three workers wanted")
    _say(
        "one agent lies, one strays out of its lane, one crashes halfway, one hits a limit, one hangs\n"
    )
    _say("$ dos up --until-idle")
    began = time.monotonic()
    fleet = _start(repository)
    if _kill_a_worker(repository):
        _say("          *** a worker is killed with SIGKILL, in the middle of its work ***")
    time.sleep(1.5)
    os.kill(fleet.pid, signal.SIGKILL)
    fleet.wait()
    _say("          *** the supervisor is killed with SIGKILL; the workers go on without it ***")
    time.sleep(1.5)
    _say("$ dos up --until-idle")
    code = _start(repository).wait(timeout=120)
    _say("\n$ dos verify --all")
    proven = _dos(repository, "verify", "--all")
    page = Path(tempfile.gettempdir()) / f"dos-demo-{os.getpid()}.html"
    _say(f"\n$ dos report --html {page}")
    _dos(repository, "report", "--html", str(page))
    shown = _dos(repository, "status", "--json", quiet=True)
    units = json.decode(shown.stdout)["units"]
    done = sum(unit["state"] == "landed" for unit in units)
    _say(f"\n{done} of {len(units)} units landed, in {time.monotonic() - began:.0f} s.")
    return code or proven.returncode or int(done != len(units))


def _dos(
    repository: Path, *words: str, quiet: bool = False
) -> "subprocess.CompletedProcess[bytes]":
    return subprocess.run(
        [sys.executable, "-m", "dos", *words],
        cwd=repository,
        env=_environment(repository),
        stdout=subprocess.PIPE if quiet else None,
    )


def build(home: Path) -> Path:
    repository = home / "greeter"
    for folder in (*LANES, "docs"):
        (repository / folder).mkdir(parents=True)
        (repository / folder / ".gitkeep").touch()
    (repository / "docs" / "greeter-plan.md").write_text(_plan(), encoding="utf-8")
    script = home / "script.json"
    script.write_bytes(json.encode(_script()))
    (repository / "dos.toml").write_text(CONFIG.format(script=script), encoding="utf-8")
    for words in (
        ["init", "--quiet", "--initial-branch", "main"],
        ["add", "--all"],
        [
            "-c",
            "user.name=Demo",
            "-c",
            "user.email=demo@example.invalid",
            "commit",
            "--quiet",
            "-m",
            "A sample",
        ],
    ):
        subprocess.run(["git", *words], cwd=repository, check=True)
    return repository


def _start(repository: Path) -> "subprocess.Popen[bytes]":
    words = [sys.executable, "-m", "dos", "up", "--until-idle", "--plain", "--tick", "0.5"]
    return subprocess.Popen(words, cwd=repository, env=_environment(repository))


def _environment(repository: Path) -> dict[str, str]:
    """The key that signs receipts, and the lanes' worktrees, are gone with the rest of it."""
    home = repository.parent
    return {
        **os.environ,
        "DOS_RECEIPT_KEY": str(home / "receipt-key"),
        "XDG_STATE_HOME": str(home / "state"),
    }


def _shown(repository: Path, *verb: str) -> Any:
    command = [sys.executable, "-m", "dos", *verb, "--json"]
    return json.decode(
        subprocess.run(command, cwd=repository, capture_output=True, check=True).stdout
    )


def _kill_a_worker(repository: Path) -> bool:
    """Once the guide lane's worker is at its unit, take it away as the system would when memory runs out."""
    for _ in range(100):
        at_work = {
            worker["lane"] for worker in _shown(repository, "status")["workers"] if worker["unit"]
        }
        for lease in _shown(repository, "lease-lane", "live"):
            if lease["lane"] == "guide" and "guide" in at_work:
                os.kill(lease["pid"], signal.SIGKILL)
                return True
        time.sleep(0.1)
    return False


def _say(line: str) -> None:
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())
