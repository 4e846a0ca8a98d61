"""Which commits hold which words, kept beside the journal so that a second look does not walk the history.

It only says where to look: what is believed is read from git. It holds the commits of one tip, follows that tip by
what changed, and is made anew when it is damaged, too old or of another history.
"""

import re
import sqlite3
import zlib
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing, suppress
from itertools import islice
from pathlib import Path

from dos.git import log
from dos.git.log import LogRecord
from dos.git.repository import Reader
from dos.verify.message import Message, words

FORMAT = 2
_AT_ONCE = 20_000  # commits: their words are sorted before they are written
_MANY = 2_000  # commits between the tip and what was asked, from which on it pays to follow
_RARE = 500
_BUSY_SECONDS = 2.0
_SCHEMA = """
CREATE TABLE about (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE commits (id INTEGER PRIMARY KEY, sha BLOB NOT NULL UNIQUE);
CREATE TABLE words (word INTEGER NOT NULL, id INTEGER NOT NULL, PRIMARY KEY (word, id)) WITHOUT ROWID;
"""
_SHIPS = re.compile(r"(?:ships|units?):", re.IGNORECASE)
_RELEASE = re.compile(r"v\d", re.IGNORECASE)
Needles = list[frozenset[str]]
Progress = Callable[[int], None]


def find(
    git: Reader,
    tip: str,
    wanted: Iterable[Needles],
    path: Path | None,
    *,
    since: str = "",
    bundles: tuple[str, ...] = (),
    progress: Progress = lambda count: None,
) -> list[list[str]]:
    """For each set of needles the commits of a tip that hold one of them, newest last.

    `bundles` begin the subjects of commits that list others: the whole of their messages counts. What the
    commit `since` holds is left out.
    """
    asked, lowered = list(wanted), tuple(prefix.lower() for prefix in bundles)
    if path is not None:
        for _ in range(2):  # a damaged one is thrown away, and made once more
            try:
                with closing(_opened(path, lowered)) as base:
                    return _Index(base, git, lowered, progress).find(tip, asked)
            except (sqlite3.OperationalError, OSError):
                break  # somebody else writes it, or it cannot be written: the history itself answers
            except sqlite3.DatabaseError:
                remove(path)
    told = log.records_at_once(git, tip, f"^{since}") if since else log.records(git, tip)
    records = list(_counted(told, progress))
    return [_matching(records, needles) for needles in asked]


def remove(path: Path) -> None:
    for suffix in ("", "-wal", "-shm"):
        path.with_name(path.name + suffix).unlink(missing_ok=True)


def _opened(path: Path, bundles: tuple[str, ...]) -> sqlite3.Connection:
    made_by = f"{FORMAT} {bundles}"
    path.parent.mkdir(parents=True, exist_ok=True)
    base = sqlite3.connect(path, timeout=_BUSY_SECONDS, isolation_level=None)
    try:
        base.execute("PRAGMA synchronous=OFF")  # what a crash takes away is made anew
        if base.execute("SELECT 1 FROM sqlite_master WHERE type IN ('view', 'trigger')").fetchone():
            raise sqlite3.DatabaseError("it is not ours")
        if _about(base, "format") != made_by:
            base.execute("PRAGMA journal_mode=WAL")
            _begin(base)
            if _about(base, "format") == made_by:  # somebody was faster
                base.execute("ROLLBACK")
                return base
            for (table,) in base.execute(
                "SELECT name FROM sqlite_master WHERE type = 'table'"
            ).fetchall():
                base.execute(f"DROP TABLE {table}")
            for statement in filter(str.strip, _SCHEMA.split(";")):
                base.execute(statement)
            base.execute("INSERT INTO about VALUES ('format', ?)", (made_by,))
            base.execute("COMMIT")
    except BaseException:
        base.close()
        raise
    return base


def _about(base: sqlite3.Connection, key: str) -> str:
    with suppress(sqlite3.OperationalError):  # a new file has no tables
        for (value,) in base.execute("SELECT value FROM about WHERE key = ?", (key,)):
            return str(value)
    return ""


def _begin(base: sqlite3.Connection) -> None:
    base.execute("BEGIN IMMEDIATE")


class _Index:
    def __init__(
        self, base: sqlite3.Connection, git: Reader, bundles: tuple[str, ...], progress: Progress
    ) -> None:
        self._base, self._git, self._bundles, self._progress = base, git, bundles, progress

    def find(self, tip: str, asked: list[Needles]) -> list[list[str]]:
        held = _about(self._base, "tip")
        gone: set[str] = set()
        fresh: list[LogRecord] = []
        if held != tip:
            known = bool(held) and self._git.commit_of(held) is not None
            gone, new = log.difference(self._git, held, tip) if known else (set(), set())
            if not known or not gone or len(gone) + len(new) > _MANY:
                self._follow(held if known else "", tip, gone)
                gone = set()
            else:
                fresh = log.records_at_once(self._git, tip, f"^{held}")
        self._base.execute("BEGIN")  # one state of it, whoever writes it meanwhile
        if _about(self._base, "tip") != (held if gone or fresh else tip):
            raise sqlite3.OperationalError("it has become the index of another tip")
        return [
            [sha for sha in _looked_up(self._base, needles) if sha not in gone]
            + _matching(fresh, needles)
            for needles in asked
        ]

    def _follow(self, held: str, tip: str, gone: set[str]) -> None:
        """Make the index that of another tip, from what differs."""
        base = self._base
        _begin(base)
        try:
            if (
                not held or _about(base, "tip") != held
            ):  # nothing to go by, or somebody was faster: all of it
                held = ""
                base.execute("DELETE FROM words")
                base.execute("DELETE FROM commits")
            else:
                base.executemany(
                    "DELETE FROM commits WHERE sha = ?", [(bytes.fromhex(sha),) for sha in gone]
                )
            told = _counted(
                log.records(self._git, "--reverse", tip, *([f"^{held}"] if held else [])),
                self._progress,
            )
            while piece := list(islice(told, _AT_ONCE)):
                self._add(piece)
            base.execute("INSERT OR REPLACE INTO about VALUES ('tip', ?)", (tip,))
            base.execute("COMMIT")
        except BaseException:
            with suppress(sqlite3.OperationalError):  # the file itself may be what failed
                base.execute("ROLLBACK")
            raise

    def _add(self, records: list[LogRecord]) -> None:
        (last,) = self._base.execute("SELECT coalesce(max(id), 0) FROM commits").fetchone()
        numbered = list(enumerate(records, last + 1))
        self._base.executemany(
            "INSERT INTO commits VALUES (?, ?)",
            [(number, bytes.fromhex(each.sha)) for number, each in numbered],
        )
        rows = sorted(
            (_hashed(word), number)
            for number, each in numbered
            for word in indexed_words(each.message, self._bundles)
        )
        self._base.executemany("INSERT OR IGNORE INTO words VALUES (?, ?)", rows)


def indexed_words(text: str, bundles: tuple[str, ...] = ()) -> frozenset[str]:
    """The words by which a message is found: those of its subject, of its lists, and of its trailers.

    A release names what it brings in any line.
    """
    message = Message.parse(text)
    if not message.body:
        return words(message.subject)
    if _RELEASE.match(message.subject) or message.subject.lower().startswith(bundles):
        return words(text)
    kept = [
        line
        for line in message.body.split("\n")
        if line.lstrip()[:1] in ("*", "-") or _SHIPS.match(line)
    ]
    return words("\n".join([message.subject, *kept]))


def _looked_up(base: sqlite3.Connection, needles: Needles) -> list[str]:
    found: set[int] = set()
    for needle in needles:
        found |= _holding(base, sorted(map(_hashed, needle)))
    return [
        _name(sha)
        for number in sorted(found)
        for (sha,) in base.execute("SELECT sha FROM commits WHERE id = ?", (number,))
    ]


def _name(sha: object) -> str:
    if not isinstance(sha, bytes):
        raise sqlite3.DatabaseError(f"{sha!r} is no commit")
    return sha.hex()


def _holding(base: sqlite3.Connection, hashes: list[int]) -> set[int]:
    """The commits that hold every word; the rarest is looked up, and the others asked of what it leaves."""
    if not hashes:
        return {number for (number,) in base.execute("SELECT id FROM commits")}
    counted = [
        (
            base.execute(
                f"SELECT count(*) FROM (SELECT 1 FROM words WHERE word = ? LIMIT {_RARE})", (each,)
            ).fetchone(),
            each,
        )
        for each in hashes
    ]
    rarest, *others = [each for _, each in sorted(counted)]
    found = {number for (number,) in base.execute("SELECT id FROM words WHERE word = ?", (rarest,))}
    for each in others:
        found = {
            number
            for number in found
            if base.execute(
                "SELECT 1 FROM words WHERE word = ? AND id = ?", (each, number)
            ).fetchone()
        }
    return found


def _matching(records: list[LogRecord], needles: Needles) -> list[str]:
    return [
        record.sha
        for record in reversed(records)
        if any(needle <= held for held in [words(record.message)] for needle in needles)
    ]


def _hashed(word: str) -> int:
    return zlib.crc32(word.encode("utf-8", "surrogatepass"))


def _counted(records: Iterable[LogRecord], progress: Progress) -> Iterator[LogRecord]:
    for count, record in enumerate(records, 1):
        if count % 5_000 == 0:
            progress(count)
        yield record
