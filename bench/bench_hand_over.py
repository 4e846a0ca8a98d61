"""Taking over the commits of a lane, as a ratio to a plain `git fetch` of the same commits.

A fetch opens the lane's repository, checks little and judges nothing. Both are measured in turn, on
repositories of 10², 10⁴ and, with `--large`, 10⁵ files; a unit is three commits of five files each.
"""

import argparse
import subprocess
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import table
from dos.git.repository import Writer
from dos.handover.io.receive import Received, receive
from dos.handover.limits import Limits

FILES_IN_A_FOLDER = 40


def main() -> None:
    words = argparse.ArgumentParser(description=__doc__)
    words.add_argument("--rounds", type=int, default=7)
    words.add_argument("--large", action="store_true", help="also a repository of 10⁵ files")
    words.add_argument("--flat", action="store_true", help="all files in one folder")
    args = words.parse_args()
    sizes = [100, 10_000]
    if args.large:
        sizes.append(100_000)
    rows = []
    for files in sizes:
        with tempfile.TemporaryDirectory(prefix="dos-bench-") as home:
            rows.append(measured(Path(home), files, args.rounds, args.flat))
    table.show(
        "handing over a unit against git fetch (1.00: as long as the fetch)",
        ("files", "fetch ms", "hand-over", "send alone"),
        rows,
    )


def measured(home: Path, files: int, rounds: int, flat: bool) -> tuple[int, float, float, float]:
    user, lane = home / "user", home / "lane"
    base = make_user(user, files, flat)
    make_lane(lane, user, base)
    fetches, takes, sends = [], [], []
    for number in range(rounds):
        head = work(lane, base, number, files, flat)
        copy = home / "copy"
        # Both begin with a repository that has the base and nothing of the lane.
        fetches.append(timed(fetch(fresh(copy, user), lane, head)))
        takes.append(timed(take(fresh(copy, user), lane, head, base)))
        sends.append(timed(only_send(lane, head, base)))
    alone = table.median(fetches)
    return (
        files,
        1000 * alone,
        table.median(takes) / alone,
        table.median(sends) / alone,
    )


def timed(act: Callable[[], None]) -> float:
    began = time.perf_counter()
    act()
    return time.perf_counter() - began


def fetch(user: Path, lane: Path, head: str) -> Callable[[], None]:
    return lambda: git_quiet(user, "fetch", "--quiet", "--no-tags", str(lane), head)


def take(user: Path, lane: Path, head: str, base: str) -> Callable[[], None]:
    def run() -> None:
        command = pack_command(head, base)
        with subprocess.Popen(command, cwd=lane, stdout=subprocess.PIPE, bufsize=0) as program:
            assert program.stdout
            answer = receive(
                Writer(user),
                program.stdout,
                head=head,
                base=base,
                limits=Limits(),
                exit_status=program.wait,
            )
            assert isinstance(answer, Received), answer
            with answer:
                answer.move_in()

    return run


def pack_command(head: str, base: str) -> list[str]:
    pack = "git pack-objects --revs --stdout --quiet --delta-base-offset"
    return ["sh", "-c", f'printf "%s\\n" "$@" | exec {pack}', "sh", head, f"^{base}"]


def only_send(lane: Path, head: str, base: str) -> Callable[[], None]:
    def run() -> None:
        command = pack_command(head, base)
        subprocess.run(command, cwd=lane, stdout=subprocess.DEVNULL, check=True)

    return run


def fresh(copy: Path, user: Path) -> Path:
    subprocess.run(["rm", "-rf", str(copy)], check=True)
    subprocess.run(["cp", "-r", str(user), str(copy)], check=True)
    return copy


def path_of(number: int, flat: bool) -> str:
    if flat:
        return f"file{number}.py"
    return f"part{number // FILES_IN_A_FOLDER**2}/sub{number // FILES_IN_A_FOLDER}/file{number}.py"


def make_user(root: Path, files: int, flat: bool) -> str:
    """A repository of that many files without a checkout, made through fast-import."""
    git_quiet(root.parent, "init", "--quiet", "--initial-branch=main", str(root))
    process = subprocess.Popen(["git", "fast-import", "--quiet"], cwd=root, stdin=subprocess.PIPE)
    assert process.stdin
    process.stdin.write(
        b"commit refs/heads/main\ncommitter A <a@b> 1600000000 +0000\ndata 5\nBegin"
    )
    for number in range(files):
        content = f"part = {number}\n".encode()
        path = path_of(number, flat).encode()
        process.stdin.write(b"\nM 644 inline %s\ndata %d\n%s" % (path, len(content), content))
    process.stdin.write(b"\n")
    process.stdin.close()
    assert process.wait() == 0
    return git(root, "rev-parse", "main").strip()


def make_lane(lane: Path, user: Path, base: str) -> None:
    git_quiet(lane.parent, "init", "--quiet", str(lane))
    (lane / ".git/objects/info/alternates").write_text(f"{user}/.git/objects\n")
    git_quiet(lane, "update-ref", "--no-deref", "HEAD", base)


def work(lane: Path, base: str, round_number: int, files: int, flat: bool) -> str:
    """Three commits of five changed files each on the base, without a checkout."""
    git_quiet(lane, "read-tree", base)
    parent = base
    for commit in range(3):
        for number in range(5):
            text = f"changed = {round_number}, {commit}, {number}\n"
            blob = git(lane, "hash-object", "-w", "--stdin", feed=text).strip()
            place = path_of((commit * 31 + number * 977) % files, flat)
            git_quiet(lane, "update-index", "--add", "--cacheinfo", f"100644,{blob},{place}")
        tree = git(lane, "write-tree").strip()
        words = ("-c", "user.name=A", "-c", "user.email=a@b", "commit-tree", "-m", "Work")
        parent = git(lane, *words, "-p", parent, tree).strip()
    git_quiet(lane, "update-ref", "--no-deref", "HEAD", parent)
    return parent


def git(root: Path, *words: str, feed: str = "") -> str:
    return subprocess.run(
        ["git", *words], cwd=root, check=True, input=feed, capture_output=True, text=True
    ).stdout


def git_quiet(root: Path, *words: str) -> None:
    git(root, *words)


if __name__ == "__main__":
    main()
