"""Every error that `dos` raises on purpose: what was found, and what to type next.

The class is chosen by what the caller can do about it, and carries the exit code.

    DosError
    ├── BadInput            what was typed or written cannot be used (2)
    │   ├── NameInvalid     a lane, an owner, a run id
    │   ├── RegionInvalid   a path glob
    │   ├── ConfigInvalid   dos.toml
    │   ├── MalformedDisposition      what became of a pick is not said
    │   └── StaleDispositionContract  a file of such is missing or of another shape
    ├── WorkspaceMissing    there is no repository here (2)
    ├── Refused             asked properly, and the answer is no (1)
    │   ├── Conflict        the stream moved on since it was read
    │   ├── Fenced          the lease this write was made under is gone
    │   ├── Halted          a person has stopped the run that wanted it
    │   └── NotReady        a worktree could not be set up for work
    ├── NotPermitted        an agent asked for what only a person may do (77)
    ├── StoreFailed         the journal cannot be used now (2)
    │   ├── StoreBusy       somebody else holds the write lock for too long (4)
    │   ├── StoreFull       no room left
    │   ├── StoreReadOnly   it can be read and not written
    │   ├── StoreForeign    another program's database lies in its place
    │   ├── StoreUnreachable
    │   │   ├── DriverMissing   the server's driver cannot be loaded
    │   │   ├── JournalUnnamed  nothing says which journal of the server is this repository's
    │   │   └── OutcomeUnknown  nobody knows whether the last commit was written
    │   ├── JournalCorrupt  something stored is not what was written
    │   └── JournalTooNew   a newer `dos` wrote it
    ├── GitFailed           git said no (2)
    │   ├── GitUnanswered   git died, or was kept from answering: it may answer the next time (2)
    │   ├── MalformedObject git will not make an object of what it was given (2)
    │   ├── NotARepository  there is no repository for git to look into (2)
    │   └── RemoteAway     the shared repository cannot be asked now (2)
    └── Internal            a bug of ours (70)
"""


class DosError(Exception):
    exit_code = 2

    def __init__(self, message: str, *, hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint

    def __str__(self) -> str:
        return self.message


class BadInput(DosError):
    pass


class NameInvalid(BadInput):
    pass


class RegionInvalid(BadInput):
    pass


class ConfigInvalid(BadInput):
    pass


class MalformedDisposition(BadInput):
    pass


class StaleDispositionContract(BadInput):
    pass


class WorkspaceMissing(DosError):
    pass


class Refused(DosError):
    exit_code = 1


class Conflict(Refused):
    pass


class Fenced(Refused):
    pass


class Halted(Refused):
    pass


class NotReady(Refused):
    pass


class NotPermitted(DosError):
    exit_code = 77  # EX_NOPERM of sysexits.h


class StoreFailed(DosError):
    pass


class StoreBusy(StoreFailed):
    exit_code = 4


class StoreFull(StoreFailed):
    pass


class StoreReadOnly(StoreFailed):
    pass


class StoreForeign(StoreFailed):
    pass


class StoreUnreachable(StoreFailed):
    pass


class DriverMissing(StoreUnreachable):
    pass


class JournalUnnamed(StoreUnreachable):
    pass


class OutcomeUnknown(StoreUnreachable):
    pass


class JournalCorrupt(StoreFailed):
    pass


class JournalTooNew(StoreFailed):
    pass


class GitFailed(DosError):
    pass


class GitUnanswered(GitFailed):
    """Git ended without an answer. It may answer the next time, and nobody knows what it did last."""


class MalformedObject(GitFailed):
    pass


class NotARepository(GitFailed):
    pass


class RemoteAway(GitFailed):
    """The shared repository cannot be asked now. It may be back in a moment, and nobody knows what it did last."""


class Internal(DosError):
    exit_code = 70
