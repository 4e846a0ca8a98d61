"""A scripted agent, as a real process: it edits, commits, lies, strays, crashes and hangs.

    python -m dos.testing.scripted_agent SCRIPT.json < prompt

The script maps a unit's name to its attempts; the n-th start on a unit plays the n-th attempt, and
the last one repeats. An attempt is a list of steps:

    {"write": PATH, "text": T}  {"commit": SUBJECT}  {"say": T}  {"run": COMMAND}
    {"sleep": SECONDS}  {"crash": true}  {"exit": CODE}  {"hang": true}
    {"usage": {"model": M, "input_tokens": N, "cost_usd": X}}
    {"limit": SECONDS}     its usage window is exhausted for that long
    {"overloaded": true}   the provider is overloaded
    {"waiting": SECONDS}   it is silent and then tries again
    {"ending": NAME}       any other ending, such as auth
"""

import json  # of the standard library: it imports faster, and fleets start hundreds of these
import os
import signal
import subprocess
import sys
import time
from collections.abc import Mapping
from hashlib import sha256
from pathlib import Path
from typing import Any


def main(arguments: list[str]) -> int:
    """Play the attempt of the unit in DOS_UNIT and return the exit code.

    Without a readable script it writes to stderr how to name one, and returns 2.
    """
    try:
        script = json.loads(Path(arguments[0]).read_bytes())
    except (IndexError, OSError, ValueError) as error:
        why = "no script is named"
        if arguments:
            why = f"{arguments[0]} cannot be read: {error}"
        sys.stderr.write(
            f'scripted agent: {why}; [workers] command = ["script.json"] in dos.toml names one\n'
        )
        return 2
    unit = os.environ["DOS_UNIT"]
    sys.stdin.read()
    default = [[{"say": f"There is nothing in my script for {unit}."}]]
    attempts = script.get(unit) or script.get("*") or default
    number = _count_start(Path(arguments[0]), unit)
    for step in attempts[min(number, len(attempts)) - 1]:
        code = play(step, unit)
        if code is not None:
            return code
    return 0


def play(step: dict[str, Any], unit: str) -> int | None:  # noqa: C901
    """Do one step; an exit code ends the process."""
    match step:
        case {"write": path, "text": text}:
            target = Path(path)
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_text(text, encoding="utf-8")
            _tell(type="write", path=path)
        case {"commit": subject}:
            _git("add", "--all")
            _git("commit", "--quiet", "--allow-empty", "-m", f"{subject}\n\nUnit: {unit}")
            _tell(type="commit", subject=subject)
        case {"say": text}:
            _tell(type="say", text=text)
        case {"run": command}:
            done = subprocess.run(command, shell=True, check=False)
            _tell(type="run", command=command, exit_code=done.returncode)
        case {"sleep": seconds}:
            time.sleep(seconds)
        case {"crash": _}:
            os.kill(os.getpid(), signal.SIGKILL)
        case {"exit": code}:
            return int(code)
        case {"hang": _}:
            while True:
                time.sleep(3600)
        case {"usage": used}:
            _tell(type="usage", **used)
        case {"waiting": seconds}:
            _tell(
                type="waiting",
                ending="overloaded",
                seconds=seconds,
                text="overloaded; trying again",
            )
            time.sleep(seconds)
        case {"limit": seconds}:
            retry = {} if seconds is True else {"retry_after": seconds}
            _tell(type="limit", text="usage limit reached", **retry)
            return 1
        case {"overloaded": _}:
            _tell(type="overloaded", text="overloaded")
            return 1
        case {"ending": name}:
            _tell(type="ending", ending=name)
            return 1
        case _:
            sys.stderr.write(f"scripted agent: unknown step {step!r}\n")
            return 2
    return None


def _git(*arguments: str) -> None:
    """Run git as the agent's own author; raises CalledProcessError if it fails."""
    subprocess.run(
        [
            "git",
            "-c",
            "user.name=Scripted Agent",
            "-c",
            "user.email=agent@example.invalid",
            *arguments,
        ],
        check=True,
    )


def _tell(**line: Any) -> None:
    """Print a line of JSON at once: the worker reads while the agent runs."""
    sys.stdout.write(json.dumps(line, separators=(",", ":"), ensure_ascii=False) + "\n")
    sys.stdout.flush()


def _count_start(script: Path, unit: str) -> int:
    """Return how often this unit was started on its lane, this time included."""
    counter = starts_folder(os.environ) / _starts_name(script)
    counter.parent.mkdir(parents=True, exist_ok=True)
    with counter.open("a", encoding="utf-8") as file:
        file.write(f"{time.time_ns()} {unit}\n")
    return [started for _, started in _read_starts(counter)].count(unit)


def starts_folder(environment: Mapping[str, str]) -> Path:
    """Return the folder of the files that count starts, in the state folder of this home.

    They are not beside the script, which may be in the user's work tree.
    """
    home = environment.get("XDG_STATE_HOME") or str(Path.home() / ".local" / "state")
    return Path(home) / "dos" / "scripted-agent"


def starts(script: Path, homes: Path) -> list[str]:
    """Return the units that a script was started for on all lanes, in order.

    `homes` is the folder of the lanes' private homes: each lane counts for itself.
    """
    pattern = f"*/agent/cache/kept/.local/state/dos/scripted-agent/{_starts_name(script)}"
    lines = [line for counter in homes.glob(pattern) for line in _read_starts(counter)]
    return [unit for _, unit in sorted(lines)]


def _starts_name(script: Path) -> str:
    return f"{sha256(os.fsencode(script.resolve())).hexdigest()[:16]}.starts"


def _read_starts(counter: Path) -> list[tuple[int, str]]:
    """Return when each start was, and its unit."""
    lines = counter.read_text(encoding="utf-8").splitlines()
    parts = [line.partition(" ") for line in lines]
    return [(int(moment), unit) for moment, _, unit in parts]


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
