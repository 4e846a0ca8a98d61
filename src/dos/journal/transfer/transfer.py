"""Exports the journal as JSON lines, and imports such lines or the logs of dos-kernel ≤ 0.30.

An import can be repeated: each line has a key made of the file's name, its number and its text, and
a line whose key is in the journal is skipped. Leases are never imported as leases: who holds a lane
is decided by this journal alone.
"""

from collections.abc import Iterator
from enum import StrEnum
from hashlib import sha256
from pathlib import Path
from typing import IO, Any

from msgspec import UNSET, Struct, convert, json

from dos.errors import BadInput, JournalCorrupt, JournalTooNew
from dos.journal import lease_state, lines, run_state, streams
from dos.journal.backend import Entry, Prefetch, WriteTransaction, encode_body
from dos.journal.events import fleet, lanes
from dos.journal.events.envelope import SCHEMA, Event, Fact
from dos.journal.events.reader import FactReader, decode, select
from dos.journal.events.runs import LedgerLineUnreadable, LineImported, LineUnreadable
from dos.journal.lines import Line, parse_json, read_lines
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
INTENT_LOG = "intent.jsonl"
# Events that refer to positions of their own journal, and so mean nothing in another one.
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
        decision_raised decision_answered plans_approved settings_approved lane_cleared unit_cleared
        budget_warned budget_spent budget_promised baseline_started baseline_checked work_committed
        fleet_found incident_found intent_declared extent_changed step_claimed step_verified
        run_suspended resume_proposed run_resumed run_ended halt_proposed ledger_line_unreadable
        hook_fault receipt_issued test_witnessed command_checked line_imported line_unreadable
        tool_called hook_answered marker_held marker_reset session_bound export_advanced
        notification_sent verdict_given lifecycle_ticked run_steered steer_delivered
    """,
)
_REFUSED = (Readability.WRONG_FAMILY, Readability.UNREADABLE_NEWER)


class Shape(StrEnum):
    """The formats of `dos journal export --shape`."""

    DOS = "dos"
    LANE_JOURNAL = "lane-journal"


class ImportResult(Struct, frozen=True, kw_only=True):
    """What an import read and wrote."""

    lines: int
    events: int  # written now; 0 when the whole file had been imported before
    unreadable: int
    live: int  # leases that are live by the imported lines


class _PlannedEntry(Struct, frozen=True, kw_only=True):
    """An entry to write for a line, if it was not imported before."""

    entry: Entry
    actor: str | None = None
    line: Line | None = None  # set when the line is an event of a journal of dos


def export(
    store: Store,
    stream_to: IO[str],
    *,
    after: int = 0,
    stream: str | None = None,
    shape: str = Shape.DOS,
) -> int:
    """Write the events above a position, one a line, and return the number of lines.

    Raises BadInput for an unknown shape.
    """
    if shape == Shape.LANE_JOURNAL:
        exported = _lane_lines(store, after, stream)
    elif shape == Shape.DOS:
        exported = _event_lines(store, after, stream)
    else:
        raise BadInput(
            f"there is no export shape {shape!r}", hint=f"Use one of: {', '.join(Shape)}."
        )
    count = 0
    for line in exported:
        stream_to.write(f"{line}\n")
        count += 1
    return count


def _event_lines(store: Store, after: int, stream: str | None) -> Iterator[str]:
    """Yield the events above a position as lines of the shape `dos`."""
    for event in _events(store, stream):
        if event.pos > after:
            yield lines.format_line(event)


def _lane_lines(store: Store, after: int, stream: str | None) -> Iterator[str]:
    """Yield the lease events and attempts above a position as lines of a lane log."""
    # Read from the start: what is renewed or ended was granted earlier.
    for event, record in lane_records(store.events()):
        if event.pos > after and stream in (None, event.stream):
            yield lines.escape_separators(json.encode(record, order="sorted"))


def _events(store: Store, stream: str | None) -> Iterator[Event]:
    """Yield the events of a stream, or of all streams, a page at a time."""
    if stream is None:
        yield from store.events()
        return
    version = 0
    while page := store.load(stream, version, PAGE):
        yield from page
        version = page[-1].ver


def import_lines(store: Store, path: Path, *, name: str | None = None) -> ImportResult:
    """Read a file of lines into the journal; lines that were imported before are skipped.

    The name tells files apart: a log that has grown is continued under its name, and another log
    needs another name. Raises BadInput for a file that is no log, and JournalTooNew for lines of a
    newer version.
    """
    origin = validated_name(name or _default_name(path), "file name")
    run_id = ""
    if path.name == INTENT_LOG:
        run_id = intent_ledger.valid_run_id(path.absolute().parent.name)
    count = written = unreadable = size = 0
    batch: list[_PlannedEntry] = []
    for number, raw, is_last in read_lines(path):
        count += 1
        planned = _plan(origin, number, raw, is_last=is_last)
        if planned is None:
            continue
        unreadable += planned.entry.kind == LineUnreadable.kind
        batch.append(planned)
        run_id = _ledger_run_id(planned.entry) or run_id
        run_entry = _run_entry(planned.entry, run_id) if run_id else None
        if run_entry:
            batch.append(_PlannedEntry(entry=run_entry))
        size += len(raw)
        if len(batch) >= BATCH_LINES or size > BATCH_BYTES:
            written += _write(store, batch)
            batch = []
            size = 0
    written += _write(store, batch)
    live = len(replay(imported_records(store, origin)))
    return ImportResult(lines=count, events=written, unreadable=unreadable, live=live)


def imported_records(store: Store, name: str) -> Iterator[dict[str, Any]]:
    """Yield the records of an imported log, as the version that wrote it would read them."""
    for _, fact in select(_events(store, streams.imported(name)), LineImported, LineUnreadable):
        if isinstance(fact, LineImported):
            yield fact.record
        else:
            yield {"op": CORRUPT, "_raw": fact.text, "_line": fact.line} | _refusal(fact.text)


def replay_live_leases(store: Store) -> list[dict[str, Any]]:
    """Return the live leases in the shape of a lane log: of this journal, and of imported logs.

    An imported lease is marked and holds nothing here.
    """
    live = [lane_log_lease(lease) for lease in store.leases()]
    with store.backend.read() as view:
        imported_streams = view.streams(streams.imported.prefix)
    for stream in imported_streams:
        for lease in replay(imported_records(store, streams.imported.subject(stream))):
            live.append({**lease, "imported": True})
    return live


def _refusal(text: str) -> dict[str, Any]:
    """Return why a kept line was not read, as readers of a lane log see it.

    Nothing is added for text that is damaged rather than of another version.
    """
    record = parse_json(text)
    if isinstance(record, dict) and readability(record) in _REFUSED:
        return {"_unreadable": {"readability": readability(record)}}
    return {}


def _default_name(path: Path) -> str:
    """Return the name under which a file is imported when none is given."""
    # Every run has a folder with an intent log, and all of these have one name.
    if path.name == INTENT_LOG:
        return f"{path.absolute().parent.name}/{path.name}"
    return path.name


def _ledger_run_id(entry: Entry) -> str:
    """Return the run that a line of an intent ledger names; "" for any other line."""
    if not isinstance(entry.body, LineImported):
        return ""
    return intent_ledger.ledger_run_id(entry.body.record)


def _run_entry(entry: Entry, run_id: str) -> Entry | None:
    """Return the event of the run that a line of its ledger stands for.

    The line itself is kept beside it.
    """
    line = entry.body
    at_ms = None
    fact: Fact | None = None
    if isinstance(line, LineImported) and intent_ledger.is_ledger_record(line.record):
        fact = intent_ledger.fact_from_record(line.record, run_id)
        at_ms = intent_ledger.written_ms(line.record)
    elif isinstance(line, LineImported | LineUnreadable):
        newer = isinstance(line, LineUnreadable) and _is_newer(line.text)
        fact = LedgerLineUnreadable(run_id=run_id, file=line.file, line=line.line, newer=newer)
    if fact is None:
        return None
    return Entry(
        stream=run_state.stream(run_id), kind=fact.kind, body=fact, key=entry.key, at_ms=at_ms
    )


def _is_newer(text: str) -> bool:
    """Whether a line is a record of a newer version than this one can read."""
    record = parse_json(text)
    return isinstance(record, dict) and readability(record) is Readability.UNREADABLE_NEWER


def _plan(origin: str, number: int, raw: bytes, *, is_last: bool) -> _PlannedEntry | None:
    """Return what to write for a line; None for one that is cut off or holds no object."""
    record = parse_json(raw.decode("utf-8", "replace"))
    is_json = record is not UNSET
    if not is_json and is_last:
        return None  # its writer died while writing it, and never acknowledged it
    if is_json and not isinstance(record, dict):
        return None
    identity = b"\0".join((origin.encode(), str(number).encode(), raw.rstrip()))
    key = f"import/{sha256(identity).hexdigest()}"
    if is_json and "kind" in record and "stream" in record and "op" not in record:
        planned = _plan_event(origin, number, record, key)
        if planned:
            return planned
    elif is_json and readability(record) not in _REFUSED:
        op = record.get("op")
        if not isinstance(op, str):
            op = ""
        imported = LineImported(file=origin, line=number, op=op, record=record)
        return _PlannedEntry(entry=_import_entry(imported, key))
    text = raw.decode("utf-8", "backslashreplace").strip().replace("\0", "\\x00")
    unreadable = LineUnreadable(file=origin, line=number, text=text)
    return _PlannedEntry(entry=_import_entry(unreadable, key))


def _plan_event(origin: str, number: int, record: dict[str, Any], key: str) -> _PlannedEntry | None:
    """Return what to write for an event of a journal of dos; None if the record is not one."""
    try:
        line = convert(record, Line)
    except ValueError:
        return None
    if line.schema > SCHEMA:
        raise JournalTooNew(
            f"line {number} of {origin} has schema {line.schema},"
            f" and this dos reads up to {SCHEMA}",
            hint="Upgrade dos: `pip install --upgrade dispatch-os`.",
        )
    if line.kind in _positional.handles:
        # A lease does not move to this journal: its holder has to ask for one here.
        fact = LineImported(file=origin, line=number, op=line.kind, record=record)
        return _PlannedEntry(entry=_import_entry(fact, key), line=line)
    entry = Entry(
        stream=line.stream,
        kind=line.kind,
        body=line.body,
        key=line.key or key,
        schema=line.schema,
        at_ms=line.at_ms,
    )
    if not _is_sound(entry, line):
        return None
    return _PlannedEntry(entry=entry, actor=line.actor, line=line)


def _is_sound(entry: Entry, line: Line) -> bool:
    """Whether any backend can keep an entry, and its body has the fields of its kind.

    One that had not would stop every fold that comes to it.
    """
    try:
        event = Event(
            pos=line.pos,
            stream=line.stream,
            ver=line.ver,
            kind=line.kind,
            at_ms=line.at_ms,
            actor=line.actor,
            fence=line.fence,
            key=line.key,
            schema=line.schema,
            raw=encode_body(entry, line.actor),
        )
        decode(event)
    except (BadInput, JournalCorrupt):
        return False
    return True


def _import_entry(fact: LineImported | LineUnreadable, key: str) -> Entry:
    """Return the entry that keeps a line itself, in the stream of its file."""
    return Entry(stream=streams.imported(fact.file), kind=fact.kind, body=fact, key=key)


def _write(store: Store, batch: list[_PlannedEntry]) -> int:
    """Write the entries that are not in the journal yet, and return how many."""
    if not batch:
        return 0
    heads: dict[str, int] = {}
    written = 0
    with store.backend.write(Prefetch(entries=[planned.entry for planned in batch])) as tx:
        for planned in batch:
            if _is_known(tx, planned):
                continue
            entry = planned.entry
            if entry.stream not in heads:
                heads[entry.stream] = tx.head(entry.stream)
            heads[entry.stream] += 1
            actor = store.actor if planned.actor is None else planned.actor
            tx.insert(entry, heads[entry.stream], actor, encode_body(entry, actor))
            written += 1
    return written


def _is_known(tx: WriteTransaction, planned: _PlannedEntry) -> bool:
    """Whether the journal has the entry already: under its key, or as the same event."""
    entry = planned.entry
    if entry.key and tx.keyed(entry.stream, entry.key):
        return True
    return planned.line is not None and _is_same_event(tx, planned.line)


def _is_same_event(tx: WriteTransaction, line: Line) -> bool:
    """Whether the journal has this event: the line was exported from it, or it from the line."""
    events = tx.load(line.stream, line.ver - 1, 1)
    if not events:
        return False
    event = events[0]
    stored = (event.kind, event.at_ms, event.actor, event.body)
    return stored == (line.kind, line.at_ms, line.actor, line.body)
