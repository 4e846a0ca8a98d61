"""Joins packs: each hand-over leaves one, and git looks through all of them for every object.

The commands of dos never start git's own maintenance, so a fleet that works alone would leave
thousands. Nothing is removed by this, also no object that no ref reaches.
"""

import os
from contextlib import suppress

from dos import workspace
from dos.errors import GitFailed
from dos.git import partial_clone
from dos.git.files import object_folders
from dos.git.repository import Writer
from dos.handover.io import quarantine
from dos.machine.filesystem import lock_file

DEFAULT_LIMIT = 50  # packs; git's own
_LOCK = "repack-lock"  # in the folder of quarantines
# Small packs are joined until each is twice as large as the one before it: a large one stays.
_REPACK = ("repack", "--geometric=2", "-d", "-l", "-n", "-q")


def join_packs(git: Writer) -> bool:
    """Join small packs where there are more than git's limit; whether that was done.

    Nothing is done where the user has switched git's maintenance off or has a way of its own, or
    while another process does it. A failure leaves all packs as they were.
    """
    place = workspace.find(git.tree)
    if place.common is None:
        return False
    packs = place.common / "objects" / "pack"
    with suppress(GitFailed, OSError):
        count = sum(1 for path in packs.glob("*.pack") if not path.with_suffix(".keep").exists())
        if count <= 1 or not 0 < _limit(git) < count:
            return False
        # Older versions of git would join the packs of others, or mix up fetched and own objects.
        if len(object_folders(place.common)) > 1 or partial_clone.promisor_remotes(git):
            return False
        if (packs / "multi-pack-index").exists():
            return False
        return _run_alone(git, place.state / quarantine.FOLDER / _LOCK)
    return False


def _limit(git: Writer) -> int:
    """Return the number of packs above which git would join them; 0: never."""
    if _setting(git, "gc.auto", "--int", "1") in ("0", "") or _is_off(git):
        return 0
    return int(_setting(git, "gc.autoPackLimit", "--int", str(DEFAULT_LIMIT)))


def _is_off(git: Writer) -> bool:
    return _setting(git, "maintenance.auto", "--bool", "true") == "false"


def _setting(git: Writer, key: str, kind: str, default: str) -> str:
    """Return a setting of the user's, in the form that git gives it."""
    return git.attempt("config", kind, f"--default={default}", "--get", key).stdout.strip()


def _run_alone(git: Writer, path: "os.PathLike[str]") -> bool:
    lock = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        if not lock_file(lock, gives_up=lambda: True):
            return False
        git.run(*_REPACK)
        return True
    finally:
        os.close(lock)
