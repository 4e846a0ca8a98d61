"""An agent that does what its script says, as a real process: it edits, commits, lies, strays, crashes, hangs.

    python -m dos.testing.scripted_agent SCRIPT.json < prompt

The script maps a unit's name to its tries; the n-th start on a unit plays the n-th try, the last one repeats. A try is
a list of steps: {"write": PATH, "text": T}, {"commit": SUBJECT}, {"say": T}, {"run": COMMAND}, {"sleep": SECONDS},
{"crash": true}, {"exit": CODE}, {"hang": true}, {"usage": {"model": M, "input_tokens": N, "cost_usd": X}},
{"limit": SECONDS} (its window is used up for so long), {"overloaded": true}, {"waiting": SECONDS} (it is silent and
tries again), {"ending": NAME} (any other end, such as auth).
"""

import json  # of the standard library: fleets start this by the hundred, and it is imported faster
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
    try:
        script = json.loads(Path(arguments[0]).read_bytes())
    except (IndexError, OSError, ValueError) as error:
        why = (
            "no script is named"
            if isinstance(error, IndexError)
            else f"{arguments[0]} cannot be played: {error}"
        )
        sys.stderr.write(
            f'scripted agent: {why}; [workers] command = ["script.json"] in dos.toml names one\n'
        )
        return 2
    unit = os.environ["DOS_UNIT"]
    sys.stdin.read()
    tries = (
        script.get(unit)
        or script.get("*")
        or [[{"say": f"There is nothing in my script for {unit}."}]]
    )
    for step in tries[min(_count_start(Path(arguments[0]), unit), len(tries)) - 1]:
        code = play(step, unit)
        if code is not None:
            return code
    return 0


def play(step: dict[str, Any], unit: str) -> int | None:
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
            subprocess.run(command, shell=True, check=False)
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
            known = {} if seconds is True else {"retry_after": seconds}
            _tell(type="limit", text="usage limit reached", **known)
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
    sys.stdout.write(json.dumps(line, separators=(",", ":"), ensure_ascii=False) + "\n")
    sys.stdout.flush()


def _count_start(script: Path, unit: str) -> int:
    """How often this unit was started, this time included."""
    counter = starts_file(script, os.environ)
    counter.parent.mkdir(parents=True, exist_ok=True)
    with counter.open("a", encoding="utf-8") as file:
        file.write(f"{unit}\n")
    return counter.read_text(encoding="utf-8").splitlines().count(unit)


def starts_file(script: Path, environment: Mapping[str, str]) -> Path:
    """Where the starts of a script's units are counted: in the user's state folder, one file for each script.

    Not beside the script, which may lie in the user's work tree.
    """
    home = environment.get("XDG_STATE_HOME") or str(Path.home() / ".local" / "state")
    name = sha256(os.fsencode(script.resolve())).hexdigest()[:16]
    return Path(home) / "dos" / "scripted-agent" / f"{name}.starts"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
