"""What an agent waits for at each tool call, beside an interpreter that does nothing: the hook over
HTTP, the fast command with a server, `dos hook` without one, and the first answer of `dos mcp`.

At a thousand and at a million events in the journal: a hook must not grow with history. With
`--events N` the larger journal has N events."""

import argparse
import http.client
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from resource import RUSAGE_CHILDREN, getrusage

from dos.agenthooks.io import shim
from dos.server.io.location import Location
from journals import fill, open_at
from table import show

ROUNDS = 30
SMALL = 1_000
LARGE = 1_000_000
CONFIG = """[lanes]
concurrent = ["api", "docs"]
[lanes.trees]
api = ["api/**"]
docs = ["docs/**"]
"""
SHIM = str(Path(shim.__file__).resolve())
INITIALIZE = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {
        "protocolVersion": "2025-11-25",
        "capabilities": {},
        "clientInfo": {"name": "bench", "version": "1"},
    },
}
Cost = tuple[float, float]  # milliseconds of wall time and of CPU


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--events", type=int, default=LARGE)
    large = parser.parse_args().events
    with tempfile.TemporaryDirectory() as home:
        root = Path(home) / "repository"
        make_repository(root)
        nothing = cost_of_program([sys.executable, "-c", "pass"], b"", root)
        columns = [measured(root, events) for events in (SMALL, large)]
    small, grown = columns
    rows = [("python -c pass", "", nothing[0], nothing[1], nothing[0], nothing[1], 1.0)]
    for name, aim in AIMS.items():
        (wall, work), (late_wall, late_work) = small[name], grown[name]
        rows.append((name, aim, wall, work, late_wall, late_work, late_wall / nothing[0]))
    header = (
        "hook before a write",
        "aim",
        f"ms at {SMALL}",
        "cpu ms",
        f"ms at {large}",
        "cpu ms",
        "/ pass",
    )
    show("Hooks and the first answer of MCP (the quickest of each)", header, rows)


AIMS = {
    "HTTP, with a server": "3 ms",
    "fast command, with a server": "25 ms",
    "fast command, without one": "",
    "dos hook pretool": "",
    "dos mcp, first answer": "100 ms",
}


def measured(root: Path, events: int) -> dict[str, Cost]:
    """Every row, with this many events in the journal."""
    with open_at(root / ".git" / "dos") as store:
        fill(store, events)
    event = json.dumps(
        {
            "session_id": "bench",
            "cwd": str(root),
            "hook_event_name": "PreToolUse",
            "tool_name": "Write",
            "tool_input": {"file_path": str(root / "api" / "new.txt"), "content": "x" * 2000},
        }
    ).encode()
    fast = [sys.executable, "-I", "-S", SHIM, "pretool"]
    dos = str(Path(sys.executable).with_name("dos"))
    found = {
        "fast command, without one": cost_of_program(fast, event, root),
        "dos hook pretool": cost_of_program([dos, "hook", "pretool"], event, root),
        "dos mcp, first answer": cost_of_first_answer([dos, "mcp"], root),
    }
    server = subprocess.Popen([dos, "serve", "--json"], cwd=root, stdout=subprocess.PIPE)
    try:
        assert server.stdout is not None
        server.stdout.readline()
        found["HTTP, with a server"] = cost_of_request(root, server.pid, event)
        found["fast command, with a server"] = cost_of_program(fast, event, root)
    finally:
        server.terminate()
        server.wait()
    return found


def cost_of_program(words: list[str], given: bytes, root: Path) -> Cost:
    """The quickest run of a program."""

    def run() -> None:
        subprocess.run(words, input=given, cwd=root, check=True, capture_output=True)

    return quickest(run, lambda: spent_by_children())


def cost_of_first_answer(words: list[str], root: Path) -> Cost:
    """The quickest start of a server until its first answer."""
    line = json.dumps(INITIALIZE).encode() + b"\n"
    wall: list[float] = []
    work: list[float] = []
    for _ in range(ROUNDS):
        before = spent_by_children()
        began = time.perf_counter()
        with subprocess.Popen(
            words, cwd=root, stdin=subprocess.PIPE, stdout=subprocess.PIPE
        ) as server:
            assert server.stdin is not None and server.stdout is not None
            server.stdin.write(line)
            server.stdin.flush()
            server.stdout.readline()
            wall.append(time.perf_counter() - began)
            server.stdin.close()
        work.append(spent_by_children() - before)
    return min(wall) * 1000, min(work) * 1000


def cost_of_request(root: Path, pid: int, event: bytes) -> Cost:
    """The quickest request on a connection that stays, and the CPU of the server for each."""
    location = Location(root / ".git" / "dos")
    address = location.address()
    assert address is not None
    client = http.client.HTTPConnection("127.0.0.1", address.port)
    headers = {"Authorization": f"Bearer {location.token()}", "Content-Type": "application/json"}

    def ask() -> None:
        client.request("POST", "/hook/pretool", body=event, headers=headers)
        answer = client.getresponse()
        assert answer.status == 200, answer.read()
        answer.read()

    for _ in range(5):
        ask()
    before = spent_by(pid)
    wall, _ = quickest(ask, lambda: 0.0, rounds=200)
    return wall, (spent_by(pid) - before) * 1000 / 200


def quickest(run: Callable[[], None], spent: Callable[[], float], rounds: int = ROUNDS) -> Cost:
    """The least wall time and the least CPU, in milliseconds: the rest is a busy machine."""
    wall: list[float] = []
    work: list[float] = []
    for _ in range(rounds):
        before = spent()
        began = time.perf_counter()
        run()
        wall.append(time.perf_counter() - began)
        work.append(spent() - before)
    return min(wall) * 1000, min(work) * 1000


def spent_by_children() -> float:
    """The CPU seconds of all children that have ended."""
    used = getrusage(RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def spent_by(pid: int) -> float:
    """The CPU seconds of a process."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def make_repository(root: Path) -> None:
    for folder in ("api", "docs"):
        (root / folder).mkdir(parents=True)
        (root / folder / "a.txt").write_text("x\n")
    (root / "dos.toml").write_text(CONFIG)
    for words in (
        ["git", "init", "-q"],
        ["git", "add", "-A"],
        ["git", "-c", "user.name=b", "-c", "user.email=b@b", "commit", "-qm", "x"],
    ):
        subprocess.run(words, cwd=root, check=True, capture_output=True)


if __name__ == "__main__":
    main()
