"""Real repositories for the oracle, made by a few words each."""

import os
import subprocess
import sys
from pathlib import Path

from dos.verify.io import verifier
from dos.verify.io.verifier import Ask
from dos.verify.shipped import Verdict
from dos.world import World

SOURCE = "src/x.py"


class Repository:
    def __init__(self, root: Path) -> None:
        self.root = root
        root.mkdir(parents=True, exist_ok=True)
        self.git("init", "--quiet", "--initial-branch=main")
        self._count = 0

    def git(self, *words: str, **environment: str) -> str:
        kept = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
        own = {
            "GIT_AUTHOR_NAME": "A", "GIT_AUTHOR_EMAIL": "a@example.org",
            "GIT_COMMITTER_NAME": "A", "GIT_COMMITTER_EMAIL": "a@example.org",
            "GIT_CONFIG_GLOBAL": "/dev/null", "GIT_CONFIG_SYSTEM": "/dev/null",
        }  # fmt: skip
        done = subprocess.run(
            ["git", *words],
            cwd=self.root,
            capture_output=True,
            text=True,
            env={**kept, **own, **environment},
        )
        assert done.returncode == 0, (words, done.stdout, done.stderr)
        return done.stdout.strip()

    def write(self, path: str, text: str) -> None:
        file = self.root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8", newline="")

    def commit(
        self, message: str, files: dict[str, str | None] | None = None, *, empty: bool = False
    ) -> str:
        """One commit. Without files it adds a function to the source file; None deletes a file."""
        self._count += 1
        if files is None and not empty:
            old = (self.root / SOURCE).read_text() if (self.root / SOURCE).exists() else ""
            files = {SOURCE: f"{old}def step_{self._count}():\n    return {self._count}\n"}
        for path, text in (files or {}).items():
            if text is None:
                (self.root / path).unlink()
            else:
                self.write(path, text)
        self.git("add", "--all")
        self.git("commit", "--quiet", "--allow-empty", "--cleanup=verbatim", "-m", message)
        return self.head

    @property
    def head(self) -> str:
        return self.git("rev-parse", "HEAD")

    def dos(self, *words: str, **environment: str) -> tuple[int, str, str]:
        done = subprocess.run(
            [sys.executable, "-m", "dos", *words], cwd=self.root, capture_output=True, text=True,
            env={**os.environ, **environment},
        )  # fmt: skip
        return done.returncode, done.stdout, done.stderr

    def verify(self, plan: str, phase: str, **ask: object) -> Verdict:
        return verifier.verify(World(self.root, lenient=True), [(plan, phase)], Ask(**ask))[0]
