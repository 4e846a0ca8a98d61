"""Every error that `dos` raises on purpose: what was found, and what to type next.

The class is chosen by what the caller can do about it, and carries the exit code of the verb.

    DosError
    ├── BadInput                      the input cannot be used (2)
    │   ├── NameInvalid
    │   ├── RegionInvalid
    │   ├── ConfigInvalid
    │   ├── MalformedDisposition
    │   └── StaleDispositionContract
    ├── WorkspaceMissing              there is no repository here (2)
    ├── Refused                       the request is valid, and the answer is no (1)
    │   ├── Conflict
    │   ├── Fenced
    │   ├── Halted
    │   └── NotReady
    ├── NotPermitted                  an agent asked for what only a person may do (77)
    ├── StoreFailed                   the journal cannot be used now (2)
    │   ├── StoreBusy                 (4)
    │   ├── StoreFull
    │   ├── StoreReadOnly
    │   ├── StoreForeign
    │   ├── StoreUnreachable
    │   │   ├── DriverMissing
    │   │   ├── JournalUnnamed
    │   │   └── OutcomeUnknown
    │   ├── JournalCorrupt
    │   └── JournalTooNew
    ├── GitFailed                     git refused or failed (2)
    │   ├── GitUnanswered
    │   ├── MalformedObject
    │   ├── NotARepository
    │   └── RemoteAway
    └── Internal                      a bug in dos (70)
"""


class DosError(Exception):
    """The base of all errors: a message, a hint that says what to do, and an exit code."""

    exit_code = 2

    def __init__(self, message: str, *, hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint

    def __str__(self) -> str:
        return self.message


class BadInput(DosError):
    """What was typed, or written into a file, cannot be used."""


class NameInvalid(BadInput):
    """The name of a lane, an owner or a run cannot be stored or shown."""


class RegionInvalid(BadInput):
    """A path glob cannot be read, or reaches outside of the repository."""


class ConfigInvalid(BadInput):
    """dos.toml cannot be read, or a value in it is not valid."""


class MalformedDisposition(BadInput):
    """A record of what became of a pick lacks what it needs."""


class StaleDispositionContract(BadInput):
    """The file of dispositions is missing, or has the shape of another version."""


class WorkspaceMissing(DosError):
    """The directory does not exist, or its repository cannot be read."""


class Refused(DosError):
    """The request is valid, and the answer is no."""

    exit_code = 1


class Conflict(Refused):
    """The stream has changed since it was read. Read it again and decide anew."""


class Fenced(Refused):
    """The lease that this write was made under is no longer held."""


class Halted(Refused):
    """A person has stopped the run that asked."""


class NotReady(Refused):
    """The setup command of a worktree failed."""


class NotPermitted(DosError):
    """An agent asked for what only a person may do."""

    exit_code = 77  # EX_NOPERM of sysexits.h


class StoreFailed(DosError):
    """The journal cannot be used now."""


class StoreBusy(StoreFailed):
    """Another process holds the write lock for too long. Trying again may succeed."""

    exit_code = 4


class StoreFull(StoreFailed):
    """The disk has no space left for the journal."""


class StoreReadOnly(StoreFailed):
    """The journal can be read, but not written."""


class StoreForeign(StoreFailed):
    """The file in the journal's place is the database of another program."""


class StoreUnreachable(StoreFailed):
    """The journal, or the server that holds it, does not answer."""


class DriverMissing(StoreUnreachable):
    """The Python driver of the database server is not installed."""


class JournalUnnamed(StoreUnreachable):
    """It is not known which journal on the server belongs to this repository."""


class OutcomeUnknown(StoreUnreachable):
    """The connection was lost during a commit, which may or may not have been written."""


class JournalCorrupt(StoreFailed):
    """A stored record is not what was written."""


class JournalTooNew(StoreFailed):
    """A newer version of dos wrote the journal."""


class GitFailed(DosError):
    """Git refused the command, or failed."""


class GitUnanswered(GitFailed):
    """Git ended without an answer. It may answer the next time; what it did last is not known."""


class MalformedObject(GitFailed):
    """Git does not accept the content as an object."""


class NotARepository(GitFailed):
    """There is no repository for git to read."""


class RemoteAway(GitFailed):
    """The shared repository cannot be reached. What it did last is not known."""


class Internal(DosError):
    """A bug in dos."""

    exit_code = 70
