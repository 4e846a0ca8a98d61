"""Long histories in a moment, through fast-import."""

import subprocess
from collections.abc import Callable
from pathlib import Path

FILES = 200


def subject(number: int) -> str:
    return (
        f"PART{number % 97}: change number {number} of the {'parser' if number % 2 else 'planner'}"
    )


def make(
    home: Path,
    commits: int,
    named: dict[int, str] | None = None,
    *,
    text: Callable[[int], str] = subject,
    place: Callable[[int], str] = "src/unit{}.py".format,
) -> Path:
    """A repository of that many commits; `named` has the subjects of some, each of which adds a
    file of its own."""
    root = home / f"history-{commits}"
    subprocess.run(["git", "init", "--quiet", "--initial-branch=main", str(root)], check=True)
    process = subprocess.Popen(["git", "fast-import", "--quiet"], cwd=root, stdin=subprocess.PIPE)
    assert process.stdin
    for number in range(commits):
        own = (named or {}).get(number)
        message = (own or text(number)).encode()
        path = place(number) if own else f"src/part{number % FILES}.py"
        content = f"def part_{number}():\n    return {number}\n".encode()
        process.stdin.write(
            b"commit refs/heads/main\ncommitter A <a@b> %d +0000\ndata %d\n%s\n"
            b"M 644 inline %s\ndata %d\n%s\n"
            % (1_600_000_000 + number, len(message), message, path.encode(), len(content), content)
        )
    process.stdin.close()
    assert process.wait() == 0
    subprocess.run(["git", "reset", "--hard", "--quiet"], cwd=root, check=True)
    return root
