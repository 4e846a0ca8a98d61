"""Makes the entries of a directory survive a power cut: syncing a new file alone does not."""

import os
from pathlib import Path


def sync_directory(directory: Path) -> None:
    handle = os.open(directory, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
