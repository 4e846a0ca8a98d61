"""A repository of a few files whose tests are run for real."""

import os
import shlex
import subprocess
import sys
from pathlib import Path

from dos.git.repository import Writer
from dos.testwitness.io.run import WitnessRequest, WitnessResult, witness_tests

SAFE = ("-c", "user.name=T", "-c", "user.email=t@example.com", "-c", "commit.gpgsign=false")
UNITTEST = f"{shlex.quote(sys.executable)} -m unittest"
SHELL = "for each in tests/test_*.sh; do sh $each || exit 1; done"


class Toy:
    def __init__(self, root: Path) -> None:
        self.root = root
        root.mkdir()
        self.git("init", "--quiet", "--initial-branch", "main", ".")

    def git(self, *words: str, feed: bytes | None = None) -> str:
        done = subprocess.run(
            ["git", *SAFE, *words], cwd=self.root, input=feed, check=True, capture_output=True
        )
        return done.stdout.decode().strip()

    def commit(self, files: dict[str, str | None], subject: str = "change") -> str:
        """Files by their names; None takes one away."""
        for name, text in files.items():
            path = self.root / name
            if text is None:
                path.unlink()
            else:
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(text)
        self.git("add", "--all")
        self.git("commit", "--quiet", "--allow-empty", "--message", subject)
        return self.git("rev-parse", "HEAD")

    def witness(self, command: str, **asked) -> WitnessResult:
        """Once each, in a fixed order, unless the test is about that."""
        order = asked.pop("choose", lambda left: left[0])
        sha = asked.pop("commit", "") or self.git("rev-parse", "HEAD")
        values = {"repeat": 1, "timeout_seconds": 60.0, "commit": sha} | asked
        return witness_tests(
            Writer(self.root), WitnessRequest(command=command, **values), choose=order
        )


def fingerprint(root: Path) -> dict[str, tuple[int, bytes]]:
    """All that is in a folder, the git directory included."""
    found = {}
    for folder, folders, files in os.walk(root):
        for name in (*folders, *files):
            path = Path(folder, name)
            content = (
                b""
                if path.is_dir()
                else os.readlink(path).encode()
                if path.is_symlink()
                else path.read_bytes()
            )
            found[str(path)] = (path.lstat().st_mode, content)
    return found


def cells(seen: WitnessResult) -> list[list[str]]:
    """Old tests on old and new code, new tests on old and new code."""
    matrix = seen.matrix
    rows = (
        matrix.old_tests_old_code,
        matrix.old_tests_new_code,
        matrix.new_tests_old_code,
        matrix.new_tests_new_code,
    )
    return [[run.outcome.value for run in runs] for runs in rows]
