"""What an agent has used so far, by what its lines have told."""

from msgspec import structs

from dos.agents.adapter import Used
from dos.agents.reading import added
from dos.records.endings import Usage


class Tally:
    def __init__(self) -> None:
        self._steps: dict[str, Usage] = {}  # by model
        self._parts: dict[str, Usage] = {}
        self._whole: dict[str, Usage] = {}  # by model

    def add(self, told: Used) -> None:
        used = told.usage
        if told.whole:
            self._steps, self._parts = {}, {}
            self._whole[used.model] = used
        elif told.part:
            self._parts[told.part] = used
        else:
            self._steps[used.model] = added(self._steps.get(used.model), used)

    def usage(self, model: str = "") -> tuple[Usage, ...]:
        """By model; `model` is the one that was asked for, where a program does not say which it was."""
        found: dict[str, Usage] = {}
        for used in (*self._whole.values(), *self._steps.values(), *self._parts.values()):
            found[used.model] = added(found.get(used.model), used)
        return tuple(structs.replace(used, model=used.model or model) for used in found.values())
