"""The command, in this process or as one of its own, and what it answered."""

import subprocess
import sys
from contextlib import redirect_stderr, redirect_stdout
from io import StringIO
from pathlib import Path
from typing import Any

from msgspec import Struct, json
from patience import PATIENCE

from dos.cli.main import run


class Answer(Struct, frozen=True):
    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.decode(self.out)

    @property
    def lines(self) -> list[Any]:
        return [json.decode(line) for line in self.out.splitlines()]


def in_process(*words: str) -> Answer:
    out, err = StringIO(), StringIO()
    with redirect_stdout(out), redirect_stderr(err):
        code = run(list(words))
    return Answer(code, out.getvalue(), err.getvalue())


def command(*words: str) -> list[str]:
    return [sys.executable, "-m", "dos", *words]


def in_its_own_process(*words: str, cwd: Path) -> Answer:
    done = subprocess.run(
        command(*words), cwd=cwd, capture_output=True, text=True, timeout=PATIENCE, encoding="utf-8"
    )
    return Answer(done.returncode, done.stdout, done.stderr)


def git(*words: str, cwd: Path) -> str:
    safe = ["-c", "user.name=T", "-c", "user.email=t@example.com", "-c", "commit.gpgsign=false"]
    return subprocess.run(
        ["git", *safe, *words], cwd=cwd, check=True, capture_output=True, text=True
    ).stdout
