"""The scripted model in a thread of the tests, on a free port of loopback."""

from pathlib import Path
from typing import Any

from dos.testing.scripted_model import ScriptedModel


class ModelServer:
    """A scripted model that answers from its start on; its log is in a folder, for a person."""

    def __init__(self, folder: Path, script: object) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self._model = ScriptedModel(script, log=folder / "requests.jsonl")
        self.url = self._model.start()

    def requests(self) -> list[dict[str, Any]]:
        return list(self._model.requests)

    def refusals(self) -> int:
        return self._model.refusals()

    def stop(self) -> None:
        self._model.stop()
