"""An index of the words in commit messages, so that a second search does not walk the history.

The index only says where to look: what is believed is read from git. It holds the commits of one
tip and follows that tip by what changed. It is rebuilt when it is damaged, of another format, or
of another history.
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
from dos.text import ascii_lower
from dos.verify.message import Message, words
from dos.verify.names.closing import closing_lines

FORMAT = 3
_AT_ONCE = 20_000  # commits whose words are sorted before they are written
_MANY = 2_000  # from so many commits between two tips on it pays to move the index
_RARE = 500
_BUSY_SECONDS = 2.0
_REPORT_EVERY = 5_000  # commits
# SQL text: the table names are part of files that exist on disk.
_SCHEMA = """
CREATE TABLE about (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE commits (id INTEGER PRIMARY KEY, sha BLOB NOT NULL UNIQUE);
CREATE TABLE words (
  word INTEGER NOT NULL, id INTEGER NOT NULL, PRIMARY KEY (word, id)) WITHOUT ROWID;
"""
_SHIPS = re.compile(r"(?ai:ships|units?):")
_RELEASE = re.compile(r"(?ai:v)\d")
# Sets of words: a commit matches when its message holds all words of one set.
Needles = list[frozenset[str]]
Progress = Callable[[int], None]


def _no_progress(count: int) -> None:
    """Report nothing."""


def find(
    git: Reader,
    tip: str,
    searches: Iterable[Needles],
    path: Path | None,
    *,
    since: str = "",
    bundles: tuple[str, ...] = (),
    progress: Progress = _no_progress,
) -> list[list[str]]:
    """Return for each search the commits of a tip that match one of its needles, newest last.

    `bundles` are beginnings of subjects of commits that list others; their whole message counts.
    Commits that `since` contains are left out. `path` is the index file, which is created or
    updated; without one, or while another process writes it, the history is walked instead.
    """
    wanted = list(searches)
    prefixes = tuple(map(ascii_lower, bundles))
    if path is not None:
        for _ in range(2):  # a damaged index is removed, and built once more
            try:
                with closing(_open(path, prefixes)) as database:
                    return _Index(database, git, prefixes, progress).find(tip, wanted)
            except (sqlite3.OperationalError, OSError):
                break  # another process writes it, or it cannot be written: walk the history
            except sqlite3.DatabaseError:
                remove(path)
    history: Iterable[LogRecord]
    if since:
        history = log.records_at_once(git, tip, f"^{since}")
    else:
        history = log.records(git, tip)
    records = list(_with_progress(history, progress))
    return [_matching(records, needles) for needles in wanted]


def remove(path: Path) -> None:
    """Remove an index file and the files that SQLite keeps beside it."""
    for suffix in ("", "-wal", "-shm"):
        path.with_name(path.name + suffix).unlink(missing_ok=True)


def _open(path: Path, bundles: tuple[str, ...]) -> sqlite3.Connection:
    path.parent.mkdir(parents=True, exist_ok=True)
    database = sqlite3.connect(path, timeout=_BUSY_SECONDS, isolation_level=None)
    try:
        database.execute("PRAGMA synchronous=OFF")  # what a crash destroys is built again
        _ensure_format(database, f"{FORMAT} {bundles}")
    except BaseException:
        # Whatever ended it, also Ctrl-C: the caller never gets the connection and cannot close it.
        # The exception is raised again.
        database.close()
        raise
    return database


def _ensure_format(database: sqlite3.Connection, made_by: str) -> None:
    """Make empty tables, unless the file has those of this format and these bundles."""
    programs = "SELECT 1 FROM sqlite_master WHERE type IN ('view', 'trigger')"
    if database.execute(programs).fetchone():
        raise sqlite3.DatabaseError("it is not ours")
    if _setting(database, "format") == made_by:
        return
    database.execute("PRAGMA journal_mode=WAL")
    database.execute("BEGIN IMMEDIATE")
    if _setting(database, "format") == made_by:  # another process was faster
        database.execute("ROLLBACK")
        return
    tables = "SELECT name FROM sqlite_master WHERE type = 'table'"
    for (table,) in database.execute(tables).fetchall():
        database.execute(f"DROP TABLE {table}")
    for statement in filter(str.strip, _SCHEMA.split(";")):
        database.execute(statement)
    database.execute("INSERT INTO about VALUES ('format', ?)", (made_by,))
    database.execute("COMMIT")


def _setting(database: sqlite3.Connection, key: str) -> str:
    with suppress(sqlite3.OperationalError):  # a new file has no tables
        for (value,) in database.execute("SELECT value FROM about WHERE key = ?", (key,)):
            return str(value)
    return ""


class _Index:
    """An open index. Only one process at a time changes it."""

    def __init__(
        self,
        database: sqlite3.Connection,
        git: Reader,
        bundles: tuple[str, ...],
        progress: Progress,
    ) -> None:
        self._database = database
        self._git = git
        self._bundles = bundles
        self._progress = progress

    def find(self, tip: str, searches: list[Needles]) -> list[list[str]]:
        """Search the commits of a tip, moving the index there when that pays."""
        indexed_tip = _setting(self._database, "tip")
        gone: set[str] = set()  # in the index and not in the tip
        fresh: list[LogRecord] = []  # in the tip and not in the index
        if indexed_tip != tip:
            gone, fresh = self._approach(indexed_tip, tip)
        # One state of the index for all searches, while other processes may write it.
        self._database.execute("BEGIN")
        expected_tip = indexed_tip if gone or fresh else tip
        if _setting(self._database, "tip") != expected_tip:
            raise sqlite3.OperationalError("it has become the index of another tip")
        results = []
        for needles in searches:
            commits = [sha for sha in _look_up(self._database, needles) if sha not in gone]
            results.append(commits + _matching(fresh, needles))
        return results

    def _approach(self, indexed_tip: str, tip: str) -> tuple[set[str], list[LogRecord]]:
        """Move the index to a tip, or return what differs where that would not pay.

        A tip that only adds commits moves the index. One that lacks a few of its commits, such as
        another branch, does not: the next search may be about the first branch again.
        """
        is_known = bool(indexed_tip) and self._git.commit_of(indexed_tip) is not None
        if not is_known:
            self._follow("", tip, set())
            return set(), []
        gone, new = log.difference(self._git, indexed_tip, tip)
        if not gone or len(gone) + len(new) > _MANY:
            self._follow(indexed_tip, tip, gone)
            return set(), []
        return gone, log.records_at_once(self._git, tip, f"^{indexed_tip}")

    def _follow(self, indexed_tip: str, tip: str, gone: set[str]) -> None:
        """Make the index that of another tip, by what differs; without a tip, from nothing."""
        database = self._database
        database.execute("BEGIN IMMEDIATE")
        try:
            if not indexed_tip or _setting(database, "tip") != indexed_tip:
                # Nothing to start from, or another process moved it meanwhile.
                indexed_tip = ""
                database.execute("DELETE FROM words")
                database.execute("DELETE FROM commits")
            else:
                names = [(bytes.fromhex(sha),) for sha in gone]
                database.executemany("DELETE FROM commits WHERE sha = ?", names)
            excluded = [f"^{indexed_tip}"] if indexed_tip else []
            history = log.records(self._git, "--reverse", tip, *excluded)
            records = _with_progress(history, self._progress)
            while batch := list(islice(records, _AT_ONCE)):
                self._add(batch)
            database.execute("INSERT OR REPLACE INTO about VALUES ('tip', ?)", (tip,))
            database.execute("COMMIT")
        except BaseException:
            # Whatever ended it, also Ctrl-C during a long walk: half an index would be taken for a
            # whole one. The exception is raised again.
            with suppress(sqlite3.OperationalError):  # the file itself may be what failed
                database.execute("ROLLBACK")
            raise

    def _add(self, records: list[LogRecord]) -> None:
        (last,) = self._database.execute("SELECT coalesce(max(id), 0) FROM commits").fetchone()
        commits: list[tuple[int, bytes]] = []
        rows: list[tuple[int, int]] = []
        for number, record in enumerate(records, last + 1):
            commits.append((number, bytes.fromhex(record.sha)))
            for word in indexed_words(record.message, self._bundles):
                rows.append((_word_hash(word), number))
        rows.sort()
        self._database.executemany("INSERT INTO commits VALUES (?, ?)", commits)
        self._database.executemany("INSERT OR IGNORE INTO words VALUES (?, ?)", rows)


def indexed_words(text: str, bundles: tuple[str, ...] = ()) -> frozenset[str]:
    """Return the words by which a message is found: of its subject and of lines that name units.

    Those are lists, trailers, and lines such as `Closes AUTH1`.

    Of a release or a bundle all words count, because it names what it contains in any line.
    """
    message = Message.parse(text)
    if not message.body:
        return words(message.subject)
    if _RELEASE.match(message.subject) or ascii_lower(message.subject).startswith(bundles):
        return words(text)
    lines = [message.subject]
    for line in message.body.split("\n"):
        if line.lstrip()[:1] in ("*", "-") or _SHIPS.match(line):
            lines.append(line)
    lines += [line for line, _ in closing_lines(message.body)]
    return words("\n".join(lines))


def _look_up(database: sqlite3.Connection, needles: Needles) -> list[str]:
    numbers: set[int] = set()
    for needle in needles:
        numbers |= _holding_all(database, sorted(map(_word_hash, needle)))
    names = []
    for number in sorted(numbers):
        for (sha,) in database.execute("SELECT sha FROM commits WHERE id = ?", (number,)):
            names.append(_commit_name(sha))
    return names


def _commit_name(sha: object) -> str:
    if not isinstance(sha, bytes):
        raise sqlite3.DatabaseError(f"{sha!r} is no commit")
    return sha.hex()


def _holding_all(database: sqlite3.Connection, hashes: list[int]) -> set[int]:
    """Return the commits that hold every word.

    The rarest word is looked up, and only its commits are checked for the others.
    """
    if not hashes:
        return {number for (number,) in database.execute("SELECT id FROM commits")}
    count = f"SELECT count(*) FROM (SELECT 1 FROM words WHERE word = ? LIMIT {_RARE})"
    by_frequency = sorted(
        hashes, key=lambda word: (database.execute(count, (word,)).fetchone(), word)
    )
    rarest, *others = by_frequency
    rows = database.execute("SELECT id FROM words WHERE word = ?", (rarest,))
    numbers = {number for (number,) in rows}
    holds = "SELECT 1 FROM words WHERE word = ? AND id = ?"
    for word in others:
        numbers = {
            number for number in numbers if database.execute(holds, (word, number)).fetchone()
        }
    return numbers


def _matching(records: list[LogRecord], needles: Needles) -> list[str]:
    """Return the commits whose message holds all words of one needle, oldest first."""
    names = []
    for record in reversed(records):
        held = words(record.message)
        if any(needle <= held for needle in needles):
            names.append(record.sha)
    return names


def _word_hash(word: str) -> int:
    return zlib.crc32(word.encode("utf-8", "surrogatepass"))


def _with_progress(records: Iterable[LogRecord], progress: Progress) -> Iterator[LogRecord]:
    for count, record in enumerate(records, 1):
        if count % _REPORT_EVERY == 0:
            progress(count)
        yield record
