"""The journal as JSON lines: out of it, and into it from our own lines or from the logs of released versions."""

from collections.abc import Iterable, Iterator
from enum import StrEnum
from hashlib import sha256
from pathlib import Path
from typing import IO, Any

from msgspec import UNSET, Struct, convert, json

from dos.errors import BadInput, JournalCorrupt, JournalTooNew
from dos.journal import lease_state, lines, run_state, streams
from dos.journal.backend import Entry, Prefetch, WriteTransaction, encode_body
from dos.journal.events import envelope, fleet, lanes
from dos.journal.events.envelope import SCHEMA, Event
from dos.journal.events.reader import FactReader, decode, select
from dos.journal.events.runs import LedgerLineUnreadable, LineImported, LineUnreadable
from dos.journal.lines import Line
from dos.journal.store import Store
from dos.journal.transfer import intent_ledger
from dos.journal.transfer.lane_log import (
    CORRUPT,
    Readability,
    lane_log_lease,
    lane_records,
    readability,
    replay,
)
from dos.text import validated_name

PAGE = 2000
BATCH_LINES = 1000
BATCH_BYTES = 8 << 20
LONGEST_LINE = 4 << 20
LARGEST_FILE = 1 << 30
INTENT_LOG = "intent.jsonl"
DEEPEST = 100
# What speaks of positions in its own journal, and says nothing in another.
_Positional = lease_state.Handled | lanes.LeaseRefused | fleet.JournalPruned
_positional: FactReader[_Positional] = FactReader(
    _Positional,
    silent="""
        spawn_intended worker_spawned worker_reaped lane_failed drain_requested fleet_started
        fleet_stopped decision_forced run_minted run_begun unit_claimed unit_taken work_salvaged
        agent_started agent_ended work_measured landing_intended unit_landed landing_refused
        unit_attempted iteration_committed run_stopped id_allocated limit_hit limit_probed
        limit_lifted units_screened run_parked landing_queued landing_deferred run_unparked
        agent_waiting agent_went_on pause_requested pause_ended halt_requested spin_flagged
        decision_raised decision_answered plans_approved settings_approved lane_cleared
        unit_cleared budget_warned budget_spent budget_promised baseline_started baseline_checked
        work_committed fleet_found incident_found intent_declared extent_changed step_claimed
        step_verified run_suspended resume_proposed run_resumed run_ended halt_proposed
        ledger_line_unreadable hook_fault receipt_issued test_witnessed line_imported
        line_unreadable
    """,
)
_REFUSED = (Readability.WRONG_FAMILY, Readability.UNREADABLE_NEWER)


class Shape(StrEnum):
    DOS = "dos"
    LANE_JOURNAL = "lane-journal"


class ImportResult(Struct, frozen=True, kw_only=True):
    lines: int
    events: int  # written now; none when all of it had been imported before
    unreadable: int
    live: int  # leases that are live by the imported lines


class _Planned(Struct, frozen=True, kw_only=True):
    entry: Entry
    actor: str | None = None
    ours: Line | None = None  # set when the line is an event of a journal of ours


# Out


def export(
    store: Store,
    stream_to: IO[str],
    *,
    after: int = 0,
    stream: str | None = None,
    shape: str = Shape.DOS,
) -> int:
    """Write the events above a position, one a line; says how many lines that were."""
    if shape == Shape.LANE_JOURNAL:
        found = _lane_lines(store, after, stream)
    elif shape == Shape.DOS:
        found = (lines.format_line(event) for event in _events(store, stream) if event.pos > after)
    else:
        raise BadInput(
            f"there is no export shape {shape!r}", hint=f"Use one of: {', '.join(Shape)}."
        )
    count = 0
    for line in found:
        stream_to.write(f"{line}\n")
        count += 1
    return count


def _lane_lines(store: Store, after: int, stream: str | None) -> Iterator[str]:
    # Read from the start: what is renewed or ended was granted earlier.
    for event, record in lane_records(store.events()):
        if event.pos > after and stream in (None, event.stream):
            yield lines.escape_separators(json.encode(record, order="sorted"))


def _events(store: Store, stream: str | None) -> Iterator[Event]:
    if stream is None:
        yield from store.events()
        return
    version = 0
    while page := store.load(stream, version, PAGE):
        yield from page
        version = page[-1].ver


# In


def import_lines(store: Store, path: Path, *, name: str | None = None) -> ImportResult:
    """Read a file of lines into the journal; what was read before is not read again.

    The name tells files apart: a log that has grown goes on under it, and another log needs another name.
    """
    origin = validated_name(name or _name(path), "file name")
    ledger = (
        intent_ledger.valid_run_id(path.absolute().parent.name) if path.name == INTENT_LOG else ""
    )
    count = written = unreadable = size = 0
    batch: list[_Planned] = []
    for number, raw, last in _read(path):
        count += 1
        planned = _plan(origin, number, raw, last=last)
        if planned is None:
            continue
        unreadable += planned.entry.kind == LineUnreadable.kind
        batch.append(planned)
        ledger = _ledger(planned.entry, ledger)
        if ledger and (told := _told_of_run(planned.entry, ledger)):
            batch.append(_Planned(entry=told))
        size += len(raw)
        if len(batch) >= BATCH_LINES or size > BATCH_BYTES:
            written += _write(store, batch)
            batch, size = [], 0
    written += _write(store, batch)
    live = len(replay(imported_records(store, origin)))
    return ImportResult(lines=count, events=written, unreadable=unreadable, live=live)


def imported_records(store: Store, name: str) -> Iterator[dict[str, Any]]:
    """The records of an imported log, as its own reader would give them."""
    for _, fact in select(_events(store, streams.imported(name)), LineImported, LineUnreadable):
        if isinstance(fact, LineImported):
            yield fact.record
        else:
            yield {"op": CORRUPT, "_raw": fact.text, "_line": fact.line} | _refusal(fact.text)


def replay_live_leases(store: Store) -> list[dict[str, Any]]:
    """What is live: our own leases, and what imported logs say, which holds nothing here."""
    own = [lane_log_lease(lease) for lease in store.leases()]
    with store.backend.read() as view:
        names = [
            streams.imported.subject(stream) for stream in view.streams(streams.imported.prefix)
        ]
    return own + [
        {**lease, "imported": True}
        for name in names
        for lease in replay(imported_records(store, name))
    ]


def _refusal(text: str) -> dict[str, Any]:
    record = _parsed(text)
    refused = isinstance(record, dict) and readability(record) in _REFUSED
    return {"_unreadable": {"readability": readability(record)}} if refused else {}


def _name(path: Path) -> str:
    # Every run has its own folder with an intent log, all of one name.
    return f"{path.absolute().parent.name}/{path.name}" if path.name == INTENT_LOG else path.name


def _ledger(entry: Entry, before: str) -> str:
    """The run whose ledger this is, by what its own lines say."""
    return (
        intent_ledger.ledger_run_id(entry.body.record)
        if isinstance(entry.body, LineImported)
        else ""
    ) or before


def _told_of_run(entry: Entry, run_id: str) -> Entry | None:
    """What a line of a run's ledger says about the run; the line itself is kept beside it."""
    line, at_ms = entry.body, None
    told: envelope.Fact | None = None
    if isinstance(line, LineImported) and intent_ledger.is_ledger_record(line.record):
        told, at_ms = (
            intent_ledger.fact_from_record(line.record, run_id),
            intent_ledger.written_ms(line.record),
        )
    elif isinstance(line, LineImported | LineUnreadable):
        newer = isinstance(line, LineUnreadable) and _is_newer(line.text)
        told = LedgerLineUnreadable(run_id=run_id, file=line.file, line=line.line, newer=newer)
    if told is None:
        return None
    return Entry(
        stream=run_state.stream(run_id), kind=told.kind, body=told, key=entry.key, at_ms=at_ms
    )


def _is_newer(text: str) -> bool:
    record = _parsed(text)
    return isinstance(record, dict) and readability(record) is Readability.UNREADABLE_NEWER


def _read(path: Path) -> Iterator[tuple[int, bytes, bool]]:
    """The lines that are not blank, each with its number and whether it is the last."""
    before: tuple[int, bytes] | None = None
    try:
        _look_at(path)
        with path.open("rb") as file:
            for number, raw in enumerate(
                iter(lambda: file.readline(LONGEST_LINE + 1), b""), start=1
            ):
                if len(raw) > LONGEST_LINE:
                    raise BadInput(
                        f"{path}:{number}: the line is longer than {LONGEST_LINE} bytes",
                        hint="Is this a journal? Each of its lines is one small JSON object.",
                    )
                if not raw.strip():
                    continue
                if before:
                    yield *before, False
                before = (number, raw)
    except OSError as error:
        raise BadInput(
            f"{path}: {error.strerror or error}", hint="Give the path of a file of JSON lines."
        ) from error
    if before:
        yield *before, True


def _look_at(path: Path) -> None:
    size = path.stat().st_size
    if not path.is_file():
        raise BadInput(f"{path} is not a file", hint="Give the path of a file of JSON lines.")
    if size > LARGEST_FILE:
        raise BadInput(
            f"{path} has {size} bytes, and at most {LARGEST_FILE} are imported",
            hint="Split it at line ends and import the parts in order.",
        )
    with path.open("rb") as file:
        start = file.read(8192)
    # Zeros alone prove nothing: a power cut leaves them at the end of a good log.
    if b"\0" in start and not isinstance(
        _parsed(start.split(b"\n", 1)[0].decode("utf-8", "replace")), dict
    ):
        raise BadInput(f"{path} is not a text file", hint="Give the path of a file of JSON lines.")


def _parsed(text: str) -> Any:
    """The value of a line of JSON; UNSET when it is not JSON, or nested so deeply that a later reader might fail."""
    try:
        value = json.decode(text)
    except (ValueError, RecursionError):
        return UNSET
    return UNSET if _is_deep(value) else value


def _is_deep(value: Any) -> bool:
    level = [value]
    for _ in range(DEEPEST):
        level = [inner for outer in level for inner in _inside(outer)]
    return bool(level)


def _inside(value: Any) -> Iterable[Any]:
    return value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()


def _plan(origin: str, number: int, raw: bytes, *, last: bool) -> _Planned | None:
    record = _parsed(raw.decode("utf-8", "replace"))
    if record is UNSET and last:
        return None  # torn: its writer died in it, and nobody was told that it was written
    if record is not UNSET and not isinstance(record, dict):
        return None
    seen = b"\0".join((origin.encode(), str(number).encode(), raw.rstrip()))
    key = f"import/{sha256(seen).hexdigest()}"
    if record is not UNSET and "kind" in record and "stream" in record and "op" not in record:
        if planned := _plan_ours(origin, number, record, key):
            return planned
    elif record is not UNSET and readability(record) not in _REFUSED:
        op = record.get("op")
        fact = LineImported(
            file=origin, line=number, op=op if isinstance(op, str) else "", record=record
        )
        return _Planned(entry=_noted(fact, key))
    text = raw.decode("utf-8", "backslashreplace").strip().replace("\0", "\\x00")
    return _Planned(entry=_noted(LineUnreadable(file=origin, line=number, text=text), key))


def _plan_ours(origin: str, number: int, record: dict[str, Any], key: str) -> _Planned | None:
    """An event of a journal of ours; None if it is not one."""
    try:
        line = convert(record, Line)
    except ValueError:
        return None
    if line.schema > SCHEMA:
        raise JournalTooNew(
            f"line {number} of {origin} has schema {line.schema}, and this dos reads up to {SCHEMA}",
            hint="Upgrade dos: `pip install --upgrade dispatch-os`.",
        )
    if line.kind in _positional.handles:
        # No lease moves: its holder has to ask for one here.
        fact = LineImported(file=origin, line=number, op=line.kind, record=record)
        return _Planned(entry=_noted(fact, key), ours=line)
    entry = Entry(
        stream=line.stream,
        kind=line.kind,
        body=line.body,
        key=line.key or key,
        schema=line.schema,
        at_ms=line.at_ms,
    )
    return _Planned(entry=entry, actor=line.actor, ours=line) if _is_sound(entry, line) else None


def _is_sound(entry: Entry, line: Line) -> bool:
    """Any store can keep it, and its body is what its kind has: another would stop every fold that comes to it."""
    try:
        event = Event(
            pos=line.pos, stream=line.stream, ver=line.ver, kind=line.kind, at_ms=line.at_ms, actor=line.actor,
            fence=line.fence, key=line.key, schema=line.schema, raw=encode_body(entry, line.actor),
        )  # fmt: skip
        decode(event)
    except (BadInput, JournalCorrupt):
        return False
    return True


def _noted(fact: LineImported | LineUnreadable, key: str) -> Entry:
    return Entry(stream=streams.imported(fact.file), kind=fact.kind, body=fact, key=key)


def _write(store: Store, batch: list[_Planned]) -> int:
    if not batch:
        return 0
    heads: dict[str, int] = {}
    written = 0
    with store.backend.write(Prefetch(entries=[planned.entry for planned in batch])) as tx:
        for planned in batch:
            entry = planned.entry
            if (entry.key and tx.keyed(entry.stream, entry.key)) or (
                planned.ours and _is_here(tx, planned.ours)
            ):
                continue
            head = heads[entry.stream] if entry.stream in heads else tx.head(entry.stream)
            actor = store.actor if planned.actor is None else planned.actor
            tx.insert(entry, head + 1, actor, encode_body(entry, actor))
            heads[entry.stream] = head + 1
            written += 1
    return written


def _is_here(tx: WriteTransaction, line: Line) -> bool:
    """The journal is its own export's, or was made from it."""
    found = tx.load(line.stream, line.ver - 1, 1)
    return bool(found) and (found[0].kind, found[0].at_ms, found[0].actor, found[0].body) == (
        line.kind,
        line.at_ms,
        line.actor,
        line.body,
    )
