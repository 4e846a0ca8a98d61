"""Where removed events go: a file of JSON lines that is on the disk before anything is removed."""

import errno
import os
from collections.abc import Sequence
from pathlib import Path

from dos.errors import StoreFailed, StoreFull
from dos.journal import lines
from dos.journal.events import Event
from dos.journal.syncing import sync_directory


class Archive:
    """A new file in a directory; neither is made before there is something to write."""

    def __init__(self, directory: Path, name: str) -> None:
        self.path = directory / name
        self.written = 0

    def write(self, batch: Sequence[Event]) -> None:
        try:
            directory = self.path.parent
            missing = [each for each in (directory, *directory.parents) if not each.exists()]
            directory.mkdir(parents=True, exist_ok=True)
            with self.path.open("a" if self.written else "x", encoding="utf-8", newline="\n") as file:
                file.writelines(f"{lines.written(event)}\n" for event in batch)
                file.flush()
                os.fsync(file.fileno())
            for each in {directory, *(made.parent for made in missing)}:
                sync_directory(each)
        except OSError as error:
            failure = StoreFull if error.errno in (errno.ENOSPC, errno.EDQUOT) else StoreFailed
            raise failure(
                f"{self.path}: {error.strerror or error}",
                hint="What could not be archived was not removed; give another directory.",
            ) from error
        self.written += len(batch)
