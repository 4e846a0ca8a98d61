"""Auditing a long history: the whole verb in one process, beside what git alone takes to list the
same changes."""

import subprocess
import sys
import tempfile
import time
from pathlib import Path

from dos.audit import audit
from dos.audit.io.gather import Auditor
from dos.git import changes
from dos.git.objects import Objects
from dos.git.repository import Writer
from table import median, show

COMMITS = 20_000
ROUNDS = 3
SUBJECTS = (
    "fix: resolve race {n}",
    "feat: login {n}",
    "add tests for {n}",
    "docs: explain {n}",
    "AUTH{n}: a form",
    "tidy {n}",
)
SOURCE_LINES = 150
TEST_LINES = 60


def source(number: int) -> str:
    lines = [
        f'def act_{at}(value):\n    """What it does."""\n    return value + {at}  # why\n'
        for at in range(SOURCE_LINES // 3)
    ]
    lines[number % len(lines)] = f"def act(value):\n    return value * {number}\n"
    return "".join(lines)


def test(number: int) -> str:
    lines = [
        f"def test_{at}():\n    assert act_{at}(1) == {at + 1}\n" for at in range(TEST_LINES // 2)
    ]
    lines[number % len(lines)] = f"def test_act_{number}():\n    assert act({number}) == {number}\n"
    return "".join(lines)


def history(count: int) -> str:
    """A stream for `git fast-import`: each commit changes a source file, each third also a test."""
    written = ["feature done\n"]
    for number in range(count):
        message = SUBJECTS[number % len(SUBJECTS)].format(n=number)
        written.append(
            f"commit refs/heads/main\ncommitter a <a@b> {number + 1} +0000\n"
            f"data {len(message)}\n{message}\n"
        )
        files = {f"src/part{number % 50}.py": source(number)}
        if number % 3 == 2:
            files[f"tests/test_part{number % 50}.py"] = test(number)
        for path, text in files.items():
            written.append(f"M 100644 inline {path}\ndata {len(text)}\n{text}\n")
    return "".join([*written, "done\n"])


def audited(root: Path) -> int:
    git = Writer(root)
    wanted = changes.CommitRange(words=("main",), is_range=True, short=9)
    with Objects(git) as objects:
        auditor = Auditor(git, objects, short=wanted.short)
        return sum(
            bool(audit.judge(seen))
            for seen in auditor.gather_all(changes.read_commits(git, wanted))
        )


def listed(root: Path) -> None:
    words = ("git", "log", "-z", "--raw", "--numstat", "--no-renames", "--format=%H%x00%B", "main")
    subprocess.run(words, cwd=root, stdout=subprocess.DEVNULL, check=True)


def main() -> None:
    count = int(sys.argv[1]) if sys.argv[1:] else COMMITS
    with tempfile.TemporaryDirectory() as home:
        root = Path(home)
        subprocess.run(["git", "init", "--quiet", "."], cwd=root, check=True)
        subprocess.run(
            ["git", "fast-import", "--quiet"], cwd=root, input=history(count), text=True, check=True
        )
        taken: dict[str, list[float]] = {"git log --raw --numstat": [], "audit": []}
        for _ in range(ROUNDS):
            for name, act in (("git log --raw --numstat", listed), ("audit", audited)):
                began = time.perf_counter()
                act(root)
                taken[name].append(time.perf_counter() - began)
    floor = median(taken["git log --raw --numstat"])
    rows = [
        (name, median(times) / count * 1000, median(times) / floor) for name, times in taken.items()
    ]
    show(f"{count:,} commits (aim: under 0.3 ms each)", ("what", "ms a commit", "ratio"), rows)


if __name__ == "__main__":
    main()
