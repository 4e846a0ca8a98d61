"""A repository whose commits are made at chosen times, and a journal whose clock is set by hand."""

import os
import subprocess
from pathlib import Path

from dos import workspace
from dos.journal.backends.memory import MemoryBackend
from dos.journal.store import Store
from dos.lease import Lease, Request
from dos.regions import region
from dos.workspace import Workspace

SECOND, MINUTE, HOUR = 1000, 60_000, 3_600_000
START = 1_700_000_000_000
RUN = "RID-1MZZ00000ABCDEF"


class Clock:
    def __init__(self) -> None:
        self.now_ms = START
        self.start = "first start"
        self._zero_ms = START - 1_000_000

    def wall_ms(self) -> int:
        return self.now_ms

    def lease_ms(self) -> int:
        return self.now_ms - self._zero_ms

    def boot(self) -> str:
        return self.start

    def restart(self) -> None:
        self.start, self._zero_ms = "second start", self.now_ms


class Repository:
    def __init__(self, home: Path) -> None:
        self.root = home / "repository"
        self.root.mkdir()
        self.clock = Clock()
        self.journal = Store(MemoryBackend(clock=self.clock), actor="test")
        self.git("init", "--quiet", "--initial-branch", "main")
        self.start = self.commit("README.md")

    @property
    def place(self) -> Workspace:
        return workspace.find(self.root)

    def git(self, *words: str, at_ms: int | None = None, cwd: Path | None = None) -> str:
        when = f"{(self.clock.now_ms if at_ms is None else at_ms) // 1000} +0000"
        who = {
            "GIT_AUTHOR_NAME": "T",
            "GIT_AUTHOR_EMAIL": "t@t",
            "GIT_COMMITTER_NAME": "T",
            "GIT_COMMITTER_EMAIL": "t@t",
        }
        environment = (
            os.environ
            | who
            | {"GIT_COMMITTER_DATE": when, "GIT_AUTHOR_DATE": "2001-01-01T00:00:00Z"}
        )
        done = subprocess.run(
            ["git", *words],
            cwd=cwd or self.root,
            env=environment,
            check=True,
            capture_output=True,
            text=True,
        )
        return done.stdout.strip()

    def commit(self, *paths: str, at_ms: int | None = None, cwd: Path | None = None) -> str:
        for path in paths:
            target = (cwd or self.root) / path
            target.parent.mkdir(parents=True, exist_ok=True)
            with target.open("a") as file:
                file.write("more\n")
            self.git("add", "--", path, cwd=cwd)
        self.git("commit", "--quiet", "--allow-empty", "-m", "Work", at_ms=at_ms, cwd=cwd)
        return self.git("rev-parse", "HEAD", cwd=cwd)

    def lease(self, lane: str = "api", *globs: str, ttl_ms: int = HOUR, **more: object) -> Lease:
        asked = Request(
            **{
                "lane": lane,
                "holder": f"holder of {lane}",
                "host": "elsewhere",
                "ttl_ms": ttl_ms,
                "region": region(globs or (f"{lane}/**",)),
                "start_sha": self.git("rev-parse", "HEAD"),
                **more,
            }
        )
        taken = self.journal.acquire(asked, lambda asked, live: None)
        assert isinstance(taken, Lease)
        return taken

    def pass_time(self, ms: int) -> None:
        self.clock.now_ms += ms
