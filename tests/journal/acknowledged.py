"""What a writer said it had done, line by line, and whether a store still has all of it and nothing
by halves."""

import sys
from collections import Counter
from collections.abc import Iterable
from pathlib import Path

from msgspec import DecodeError, Struct, json

from dos.journal import fold, streams
from dos.journal.backends.open import open_store
from dos.journal.check import check
from dos.journal.events.envelope import Event
from dos.journal.events.lanes import LeaseGranted
from dos.journal.lease_state import Leases
from dos.journal.lines import Line
from dos.journal.store import Store
from dos.lanes import admission
from dos.lease import Lease, Request
from dos.regions import region


class Opened(Struct, frozen=True, tag=True):
    pid: int


class Appended(Struct, frozen=True, tag=True):
    pos: int
    stream: str
    ver: int
    key: str | None
    number: str


class Granted(Struct, frozen=True, tag=True):
    fence: int
    lane: str


class Renewed(Struct, frozen=True, tag=True):
    fence: int
    version: int


class Releasing(Struct, frozen=True, tag=True):
    """Said before it is tried: from here on the lease may be gone."""

    fence: int


class Released(Struct, frozen=True, tag=True):
    fence: int


class Kept(Struct, frozen=True, tag=True):
    pos: int


class Pruned(Struct, frozen=True, tag=True):
    gone: list[int]


class Failed(Struct, frozen=True, tag=True):
    """An error that the writer saw; it promised nothing."""

    error: str
    hint: str
    message: str


Ack = Opened | Appended | Granted | Renewed | Releasing | Released | Kept | Pruned | Failed
_ack: json.Decoder[Ack] = json.Decoder(Ack)
_line = json.Decoder(Line)


def decode(line: str | bytes) -> Ack:
    return _ack.decode(line)


def appended(event: Event) -> Appended:
    return Appended(event.pos, event.stream, event.ver, event.key, event.body["number"])


class Ledger:
    """Everything that was acknowledged so far."""

    def __init__(self, acks: Iterable[Ack] = ()) -> None:
        self.events: dict[int, Appended] = {}
        self.granted: dict[int, str] = {}
        self.versions: dict[int, int] = {}
        self.maybe_ended: set[int] = set()
        self.ended: set[int] = set()
        self.gone: set[int] = set()
        self.kept = 0
        self.counts: Counter[str] = Counter()
        for ack in acks:
            self.note(ack)

    def note(self, ack: Ack) -> None:
        self.counts[type(ack).__name__] += 1
        match ack:
            case Appended():
                self.events[ack.pos] = ack
            case Granted():
                self.granted[ack.fence] = ack.lane
            case Renewed():
                self.versions[ack.fence] = ack.version
            case Releasing():
                self.maybe_ended.add(ack.fence)
            case Released():
                self.ended.add(ack.fence)
            case Kept():
                self.kept = ack.pos
            case Pruned():
                self.gone.update(ack.gone)

    @property
    def highest(self) -> int:
        return max((*self.events, *self.granted), default=0)

    def missing(self, store: Store, archive: Path) -> list[str]:
        """What was acknowledged and is not there, in words."""
        found = {event.pos: event for event in store.events()}
        archived = _archived(archive)
        problems = [
            f"{ack} is not there"
            for pos, ack in self.events.items()
            if not _same(found.get(pos), ack)
        ]
        problems += [f"event {pos} was removed and is back" for pos in self.gone & found.keys()]
        for fence, lane in self.granted.items():
            kind = found[fence].kind if fence in found else archived.get(fence)
            if kind != LeaseGranted.kind:
                problems.append(f"the grant of fence {fence} on {lane} is not there: {kind}")
        return problems + self._missing_leases(store) + self._missing_snapshot(store)

    def _missing_leases(self, store: Store) -> list[str]:
        live = {lease.fence: lease for lease in store.leases()}
        lost = [
            fence for fence in self.granted if fence not in live and fence not in self.maybe_ended
        ]
        back = [fence for fence in self.ended if fence in live]
        late = [
            fence
            for fence, version in self.versions.items()
            if fence in live and live[fence].version < version
        ]
        return (
            [f"fences lost {lost}, back {back}, renewals undone {late}"]
            if lost or back or late
            else []
        )

    def _missing_snapshot(self, store: Store) -> list[str]:
        with store.backend.read() as view:
            snapshot = view.snapshot(Leases.name, fold.code_hash(Leases))
        if self.kept and (snapshot is None or snapshot[0] < self.kept):
            return [f"the snapshot at {self.kept} is not there: {snapshot and snapshot[0]}"]
        return []


def halves(store: Store) -> list[str]:
    """What is there in part: a batch, a stream with a gap, leases or a snapshot that the events do
    not bear out."""
    parts: Counter[str] = Counter()
    sizes: dict[str, int] = {}
    happened = list(store.events())
    for event in happened:
        if isinstance(event.body, dict) and "batch" in event.body:
            parts[event.body["batch"]] += 1
            sizes[event.body["batch"]] = event.body["of"]
    problems = [
        f"{parts[batch]} of {size} of batch {batch}"
        for batch, size in sizes.items()
        if parts[batch] != size
    ]
    if fold.current(store, Leases)[0] != fold.fold(Leases(), happened):
        problems.append("the snapshot of the leases is not what their events say")
    return problems + [problem.what for problem in check(store).problems]


def problems(directory: Path, ledger: Ledger) -> list[str]:
    """As the next process finds it: what is missing, what is half there, what keeps it from going
    on."""
    with opened(directory) as store:
        return [
            *ledger.missing(store, directory / "archive"),
            *halves(store),
            *goes_on(store, ledger),
        ]


def goes_on(store: Store, ledger: Ledger, name: str = "after") -> list[str]:
    """A retry finds its first try, and what is new comes after everything that was promised."""
    problems = []
    keyed = [ack for ack in ledger.events.values() if ack.key is not None]
    for ack in keyed[-3:]:
        again = store.append(ack.stream, "written", {"number": "again"}, key=ack.key)
        if again.pos != ack.pos:
            problems.append(f"{ack} was written again at {again.pos}")
    event = store.append(streams.run(name), "written", {"number": "after"})
    lease = store.acquire(asked(name, "next"), admission.judge)
    if not isinstance(lease, Lease):
        return [*problems, f"nothing can be leased: {lease.detail}"]
    if not ledger.highest < event.pos < lease.fence:
        problems.append(
            f"event {event.pos} and fence {lease.fence} do not come after {ledger.highest}"
        )
    store.release(lease.fence)
    return problems


def opened(directory: Path, *, reading: bool = False) -> Store:
    return open_store(
        "", state_directory=directory, workspace_id="", actor="test", read_only=reading
    )


def write(store: Store, number: str, size: int = 0) -> Appended:
    return appended(
        store.append("run/a", "written", {"number": number, "filler": "x" * size}, key=number)
    )


def writer_command(
    directory: Path, acknowledgements: Path | str, seed: str, steps: int | str
) -> list[str]:
    program = Path(__file__).with_name("writer.py")
    return [sys.executable, str(program), str(directory), str(acknowledgements), seed, str(steps)]


def asked(lane: str, holder: str) -> Request:
    return Request(
        lane=lane, holder=holder, host="here", ttl_ms=3_600_000, region=region([f"{lane}/**"])
    )


def first_version(directory: Path) -> list[Ack]:
    """A store of the first version of its tables, with events and leases."""
    import pytest  # not by the writer, which is started hundreds of times

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr("dos.journal.backends.sqlite_open.VERSION", 1)
        with opened(directory) as store:
            said: list[Ack] = [
                appended(
                    store.append(
                        streams.run(at % 3), "written", {"number": f"old-{at}"}, key=f"old-{at}"
                    )
                )
                for at in range(20)
            ]
            for lane in ("old", "older"):
                lease = store.acquire(asked(lane, "predecessor"), admission.judge)
                assert isinstance(lease, Lease)
                said.append(Granted(lease.fence, lane))
            return said


def _same(event: Event | None, ack: Appended) -> bool:
    return event is not None and appended(event) == ack


def _archived(directory: Path) -> dict[int, str]:
    """A power cut may leave the newest archive torn; what was removed from the journal must be in a
    whole line."""
    found = {}
    for file in directory.glob("*.jsonl"):
        for text in file.read_bytes().split(b"\n"):
            try:
                line = _line.decode(text)
            except DecodeError:
                continue
            found[line.pos] = line.kind
    return found
