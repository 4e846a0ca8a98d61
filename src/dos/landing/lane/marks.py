"""What dos notes about the folder of a lane, in files beside the lanes that no agent can write."""

import os
from pathlib import Path


class LaneMarks:
    """The notes about one lane."""

    def __init__(self, folder: Path, name: str) -> None:
        self._folder = folder
        self._ready = folder / f"{name}.ready"
        self._distrusted = folder / f"{name}.distrusted"
        self._index = folder / f"{name}.index"

    def set_ready(self, made: list[str]) -> None:
        """Note that the setup has run, and which paths it made."""
        self._folder.mkdir(parents=True, exist_ok=True)
        self._ready.write_bytes(os.fsencode("\0".join(made)))

    def paths_of_setup(self) -> list[str] | None:
        """Return the paths that the setup made; None: it has not run."""
        if not self._ready.exists():
            return None
        return [path for path in os.fsdecode(self._ready.read_bytes()).split("\0") if path]

    def clear_ready(self) -> None:
        """Forget that the setup has run."""
        self._ready.unlink(missing_ok=True)

    @property
    def is_distrusted(self) -> bool:
        """Whether the work of the lane's last agent did not land."""
        return self._distrusted.exists()

    def set_distrusted(self, is_distrusted: bool) -> None:
        if is_distrusted:
            self._folder.mkdir(parents=True, exist_ok=True)
            self._distrusted.touch()
        else:
            self._distrusted.unlink(missing_ok=True)

    @property
    def index_digest(self) -> str:
        """The digest of the index after the last reset; empty where there is none."""
        return self._index.read_text() if self._index.exists() else ""

    def set_index_digest(self, digest: str) -> None:
        self._folder.mkdir(parents=True, exist_ok=True)
        self._index.write_text(digest)
