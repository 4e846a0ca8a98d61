"""A real repository with two lanes and a scripted agent, small enough to be made anew for every
test."""

import subprocess
from pathlib import Path

from msgspec import json

from dos import workspace
from dos.testing.scripted_agent import starts

PLAN = """# A plan

## DEMO A1: first
- lane: one
- paths: one/**
- acceptance: `test -s one/a.txt`

## DEMO A2: second
- lane: one
- paths: one/**
- acceptance: `test -s one/b.txt`

## DEMO B1: third
- lane: two
- paths: two/**
"""

CONFIG = """[lanes]
concurrent = ["one", "two"]
autopick = ["one", "two"]

[lanes.trees]
one = ["one/**"]
two = ["two/**"]

[leases]
ttl_seconds = 30

[quota]
backoff_seconds = [0.1]
jitter_seconds = 0

[server]
off = true

# The agents and checks of tests leave marks beside the repository.
[sandbox]
writable = ["{home}"]

[workers]
agent = "scripted"
command = ["{script}"]
"""


def write(path: str, text: str = "x\n") -> dict[str, str]:
    return {"write": path, "text": text}


def commit(subject: str) -> dict[str, str]:
    return {"commit": subject}


WORKS = {
    "DEMO/A1": [[write("one/a.txt"), commit("Write a")]],
    "DEMO/A2": [[write("one/b.txt"), commit("Write b")]],
    "DEMO/B1": [[write("two/c.txt"), commit("Write c")]],
}


class Repository:
    def __init__(self, home: Path) -> None:
        self.home = home
        self.root = home / "repository"
        self.script = home / "script.json"
        for folder in ("one", "two", "docs"):
            (self.root / folder).mkdir(parents=True)
            (self.root / folder / "keep").touch()
        (self.root / "docs" / "demo-plan.md").write_text(PLAN)
        self.config.write_text(CONFIG.format(script=self.script, home=home))
        self.play(WORKS)
        self.git("init", "--quiet", "--initial-branch", "main")
        self.git("config", "user.name", "Tester")
        self.git("config", "user.email", "tester@example.invalid")
        self.commit_all("Begin")

    @property
    def config(self) -> Path:
        return self.root / "dos.toml"

    def set_walls(self, settings: str) -> None:
        """Write the lines of [sandbox] instead of those that let agents leave marks."""
        text = self.config.read_text()
        walls = f"[sandbox]\n{settings}\n"
        self.config.write_text(text.replace(f'[sandbox]\nwritable = ["{self.home}"]\n', walls))

    def play(self, script: dict[str, object]) -> None:
        self.script.write_bytes(json.encode(script))

    @property
    def waits(self) -> dict[str, str]:
        """What an agent does until it is let go."""
        return {"run": f"until test -e {self.home}/go; do sleep 0.05; done"}

    def let_go(self) -> None:
        (self.home / "go").touch()

    def starts(self) -> list[str]:
        """The units that an agent was started for, in order."""
        return starts(self.script, workspace.find(self.root).homes)

    def git(self, *words: str) -> str:
        return subprocess.run(
            ["git", *words], cwd=self.root, check=True, capture_output=True, text=True
        ).stdout.strip()

    def commit_all(self, subject: str) -> None:
        self.git("add", "--all")
        self.git("commit", "--quiet", "--allow-empty", "-m", subject)

    def subjects(self) -> list[str]:
        return self.git("log", "--format=%s", "main").splitlines()


def set_level(repository: Repository, level: str) -> None:
    """Let the walls of agents and checks be those of a level; beside the repository they write."""
    repository.set_walls(f'level = "{level}"\nwritable = ["{repository.home}"]')
    repository.commit_all(f"Let the sandbox be {level}")
