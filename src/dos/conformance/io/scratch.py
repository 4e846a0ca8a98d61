"""A scratch repository and a private home for one real agent program, removed with the trial.

Nothing of the user is visible in it: no settings, no login, no key. What a killed trial left is
removed by the next one, which can tell by the lock on each folder that its process has died.
"""

import fcntl
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

from dos.conformance.hook_trial import FOLDERS, OWN_FILES, REFUSED_FILES
from dos.conformance.programs import Trial
from dos.errors import DosError

VERB_SECONDS = 120.0
_PREFIX = "trial-"
_LOCK = "lock"
# What programs need of the system; all else of the environment is the user's.
_INHERITED = ("PATH", "LANG", "LC_ALL", "TZ", "SYSTEMROOT", "SSL_CERT_FILE", "NODE_EXTRA_CA_CERTS")


class TrialFailed(DosError):
    """The trial could not be set up; the message says what failed."""


class Scratch:
    """The folders of one trial."""

    def __init__(self, folder: Path) -> None:
        """Make the folders below `folder`, and an empty repository."""
        self.folder = folder
        self.home = folder / "home"
        self.repository = folder / "repository"
        self.temporary = folder / "tmp"
        self.is_settled = False
        for path in (self.home, self.repository, self.temporary):
            path.mkdir()
        self.environment = {
            **{name: os.environ[name] for name in _INHERITED if name in os.environ},
            "HOME": str(self.home),
            "TMPDIR": str(self.temporary),
            "XDG_STATE_HOME": str(self.home / ".local" / "state"),
            "TERM": "dumb",
            "GIT_CONFIG_NOSYSTEM": "1",
            "GIT_TERMINAL_PROMPT": "0",
        }
        for name in FOLDERS:
            (self.repository / name).mkdir()
        self._run(["git", "init", "--quiet", "."])

    def written(self) -> frozenset[str]:
        """Those of the trial's files that are there."""
        names = (*OWN_FILES, *REFUSED_FILES)
        return frozenset(name for name in names if (self.repository / name).exists())

    def settle(self, trial: Trial, url: str) -> None:
        """Point the program at the model, and do what a new home needs first."""
        for name, text in trial.files(url, str(self.repository)).items():
            path = self.home / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
        self.environment |= trial.environment(url)
        self.is_settled = True

    def dos(self, *words: str) -> str:
        """Run a verb of this dos in the scratch repository; return what it printed.

        Raises TrialFailed where it refuses.
        """
        return self._run([sys.executable, "-m", "dos", *words])

    def run_once(self, words: Sequence[str]) -> None:
        """Run a short command in the repository. Raises TrialFailed where it fails."""
        self._run(words)

    def _run(self, words: Sequence[str]) -> str:
        try:
            done = subprocess.run(
                words,
                cwd=self.repository,
                env=self.environment,
                stdin=subprocess.DEVNULL,
                capture_output=True,
                text=True,
                errors="replace",
                timeout=VERB_SECONDS,
            )
        except (OSError, subprocess.TimeoutExpired) as error:
            raise TrialFailed(f"`{_shown(words)}` could not be run: {error}") from error
        if done.returncode:
            said = (done.stderr or done.stdout).strip()[-300:]
            raise TrialFailed(f"`{_shown(words)}` exited {done.returncode}: {said}")
        return done.stdout


@contextmanager
def scratch() -> Iterator[Scratch]:
    """Make the folders of one trial, and remove them with the block.

    They are in the user's cache: programs refuse to work below /tmp.
    """
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    had_cache = cache.exists()
    parent = cache / "dos"
    parent.mkdir(parents=True, exist_ok=True)
    _remove_abandoned(parent)
    folder = Path(tempfile.mkdtemp(dir=parent, prefix=_PREFIX)).resolve()
    lock = os.open(folder / _LOCK, os.O_CREAT | os.O_RDWR | os.O_CLOEXEC, 0o600)
    fcntl.flock(lock, fcntl.LOCK_EX)
    try:
        yield Scratch(folder)
    finally:
        _remove(folder)
        os.close(lock)
        with suppress(OSError):  # others are in use
            parent.rmdir()
            if not had_cache:
                cache.rmdir()


def _remove_abandoned(parent: Path) -> None:
    """Remove the folders of trials whose process has died."""
    for folder in parent.glob(f"{_PREFIX}*"):
        try:
            lock = os.open(folder / _LOCK, os.O_RDWR | os.O_CLOEXEC)
        except OSError:
            continue  # it is being made, or removed
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            _remove(folder)
        except BlockingIOError:
            pass  # its process lives
        finally:
            os.close(lock)


def _remove(folder: Path) -> None:
    """Remove a folder, also where a program made parts of it unwritable."""

    def make_writable_and_retry(function: object, path: str, _error: object) -> None:
        with suppress(OSError):
            Path(path).parent.chmod(0o700)
            Path(path).chmod(0o700)
            assert callable(function)
            function(path)

    shutil.rmtree(folder, onerror=make_writable_and_retry)


def _shown(words: Sequence[str]) -> str:
    """The words of a command without the path of this Python."""
    if list(words[1:3]) == ["-m", "dos"]:
        return " ".join(["dos", *words[3:]])
    return " ".join([Path(words[0]).name, *words[1:]])
