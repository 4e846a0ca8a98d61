"""A writer to be crashed: does a seeded mixture of all that a store can do, and acknowledges each
thing once done.

python writer.py STATE_DIRECTORY ACKNOWLEDGEMENTS SEED STEPS

Acknowledgements go to a file, or with `-` to standard output. The steps are a number, 0 for "until
killed", or names. The leases belong to the seed up to its first dot: a successor goes on with them.
In the environment, WRITER_PRAGMA is run on each connection (a short checkpoint interval, or a
planted bug), and WRITER_STUBBORN goes on after an error.
"""

import os
import random
import sqlite3
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import acknowledged
from acknowledged import Ack, asked
from msgspec import json

from dos.errors import DosError
from dos.journal import fold, prune
from dos.journal.backend import Entry
from dos.journal.backends import sqlite, sqlite_open
from dos.journal.backends.open import open_store
from dos.journal.lease_state import Leases
from dos.journal.store import Store
from dos.lanes import admission
from dos.lease import Lease

LANES = ("api", "docs", "web", "worker")
WEEK_MS = 7 * 24 * 3_600_000
Say = Callable[[Ack], None]


class Writer:
    def __init__(self, directory: Path, say: Say, seed: str) -> None:
        self.directory = directory
        self.say = say
        self.seed = seed
        self.name = seed.partition(".")[0]
        self.dice = random.Random(seed)
        self.number = 0
        self.store = self._open()

    def take_steps(self, steps: int) -> None:
        """Rounds that hold each kind of step, in any order: a short run does them all too."""
        while steps > 0:
            turn = self._round()[:steps]
            for step in turn:
                step()
            steps -= len(turn)

    def _round(self) -> list[Callable[[], None]]:
        steps = [
            self.append, self.append_keyed, self.append_keyed, self.append_batch, self.acquire,
            self.acquire, self.acquire, self.append_fenced, self.renew, self.release, self.release,
            self.keep_snapshot, self.prune, self.reopen,
        ]  # fmt: skip
        self.dice.shuffle(steps)
        return steps

    def append(self) -> None:
        self.say(acknowledged.appended(self.store.append(self._stream(), "written", self._body())))

    def append_keyed(self) -> None:
        event = self.store.append(
            self._stream(), "written", self._body(), key=f"key-{self.seed}-{self.number}"
        )
        self.say(acknowledged.appended(event))

    def append_fenced(self) -> None:
        if lease := self._own():
            event = self.store.append(
                f"work/{lease.lane}", "written", self._body(), fence=lease.fence
            )
            self.say(acknowledged.appended(event))

    def append_batch(self) -> None:
        count = self.dice.randrange(2, 7)
        batch = {"batch": f"{self.seed}-{self.number}", "of": count}
        entries = [
            Entry(stream=self._stream(), kind="written", body=self._body() | batch)
            for _ in range(count)
        ]
        for event in self.store.append_all(entries):
            self.say(acknowledged.appended(event))

    def acquire(self) -> None:
        lease = self.store.acquire(
            asked(f"{self.dice.choice(LANES)}-{self.name}", self.name), admission.judge
        )
        if isinstance(lease, Lease):
            self.say(acknowledged.Granted(lease.fence, lease.lane))

    def renew(self) -> None:
        if lease := self._own():
            for kept in self.store.renew([lease.fence]).kept:
                self.say(acknowledged.Renewed(kept.fence, kept.version))

    def release(self) -> None:
        if lease := self._own():
            self.say(acknowledged.Releasing(lease.fence))
            self.store.release(lease.fence)
            self.say(acknowledged.Released(lease.fence))

    def keep_snapshot(self) -> None:
        state, pos = fold.current(self.store, Leases)
        fold.save_snapshot(self.store, state, pos)
        self.say(acknowledged.Kept(pos))

    def prune(self) -> None:
        """As if it were later: nothing of the last week could go."""
        before = {event.pos for event in self.store.events()}
        later_ms = time.time_ns() // 1_000_000 + 2 * WEEK_MS
        prune.prune(
            self.store, older_than_ms=WEEK_MS, archive=self.directory / "archive", now_ms=later_ms
        )
        self.say(acknowledged.Pruned(sorted(before - {event.pos for event in self.store.events()})))

    def reopen(self) -> None:
        """The last to close it writes the log back into the file and removes it."""
        self.store.close()
        self.store = self._open()

    def stand_by(self) -> None:
        """Another has the store open too, so that nobody is the last to close it."""
        self.bystander = open_store("", state_directory=self.directory, workspace_id="")

    def _open(self) -> Store:
        store = open_store("", state_directory=self.directory, workspace_id="", actor=self.seed)
        self.say(acknowledged.Opened(os.getpid()))
        return store

    def _own(self) -> Lease | None:
        leases = [lease for lease in self.store.leases() if lease.holder == self.name]
        return self.dice.choice(leases) if leases else None

    def _stream(self) -> str:
        return f"run/{self.dice.randrange(3)}"

    def _body(self) -> dict[str, object]:
        self.number += 1
        # Some go beyond a page, some fill most of one.
        filler = "x" * self.dice.choice((0, 10, 300, 3000, 9000))
        return {"number": f"{self.seed}-{self.number}", "filler": filler}


def run_pragma(pragma: str) -> None:
    """On every connection that writes, after the store has set it up."""
    opened = sqlite_open.open_writing

    def altered(path: Path, **options: Any) -> sqlite3.Connection:
        connection = opened(path, **options)
        connection.execute(f"PRAGMA {pragma}")
        return connection

    assert sqlite.sqlite_open is sqlite_open, "the backend opens through the altered module"
    vars(sqlite_open)["open_writing"] = altered


def write(directory: Path, say: Say, seed: str, steps: str) -> None:
    writer = Writer(directory, say, seed)
    if steps == "0":
        while True:
            writer.take_steps(1000)
    elif steps.isdigit():
        writer.take_steps(int(steps))
    else:
        for name in steps.split():
            getattr(writer, name)()
    writer.store.close()


def write_stubbornly(directory: Path, say: Say, seed: str, steps: str) -> None:
    """Each step is tried though the one before failed, on the same store; and the store is left as
    it lies."""
    writer: Writer | None = None
    for name in ["", *steps.split()]:
        try:
            writer = writer or Writer(directory, say, seed)
            if name:
                getattr(writer, name)()
        except DosError as error:
            say(acknowledged.Failed(type(error).__name__, error.hint, error.message))
    os._exit(0)


def main(directory: str, acknowledgements: str, seed: str, steps: str) -> None:
    if pragma := os.environ.get("WRITER_PRAGMA"):
        run_pragma(pragma)
    file = (
        1
        if acknowledgements == "-"
        else os.open(acknowledgements, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)
    )

    def say(ack: Ack) -> None:
        os.write(file, json.encode(ack) + b"\n")

    if os.environ.get("WRITER_STUBBORN"):
        write_stubbornly(Path(directory), say, seed, steps)
    write(Path(directory), say, seed, steps)


if __name__ == "__main__":
    main(*sys.argv[1:])
