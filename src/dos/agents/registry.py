"""The agents by name, our own and those of other packages. Each is imported when it is used."""

from functools import partial
from importlib import import_module
from typing import TYPE_CHECKING, cast

from dos.agents.adapter import Adapter
from dos.agents.guarded import Guarded
from dos.errors import BadInput
from dos.verdicts.access.admission import Fault, attempt

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

NAMES = ("claude_code", "codex", "gemini", "opencode", "command", "scripted")
CONFIGURED = ("command", "scripted")  # what [workers] command is for
GROUP = "dos.agents"
_TEXTS = ("name", "vendor", "program")
_CALLED = ("launch", "parse", "outcome")


def names() -> list[str]:
    """What there is, without loading it."""
    return [*NAMES, *(name for name in _plugins() if name not in NAMES)]


def knows(name: str) -> bool:
    return name in NAMES or name in _plugins()


def find(name: str) -> Adapter:
    if name in NAMES:
        return Guarded(cast(Adapter, import_module(f"dos.agents.{name}")))
    if point := _plugins().get(name):
        return _load(point)
    raise BadInput(
        f"there is no agent named {name!r}; the agents are {', '.join(names())}",
        hint="For any program: dos config set workers.command '[\"my-agent\"]', then "
        "dos config set workers.agent command",
    )


def _plugins() -> "dict[str, EntryPoint]":
    from importlib.metadata import entry_points  # as slow to import as a whole verb

    return {point.name: point for point in sorted(entry_points(group=GROUP), key=lambda point: point.name)}


def _load(point: "EntryPoint") -> Adapter:
    loaded = attempt(partial(_made, point))
    if isinstance(loaded, Fault):
        raise _broken(point, f"cannot be loaded: {loaded.text}")
    wrong = [member for member in _TEXTS if not isinstance(getattr(loaded, member, None), str)]
    wrong += [member for member in _CALLED if not callable(getattr(loaded, member, None))]
    tested = getattr(loaded, "tested", None)
    if not (isinstance(tested, tuple) and len(tested) == 2 and all(isinstance(each, str) for each in tested)):
        wrong.append("tested")
    if wrong:
        raise _broken(point, f"has no usable {', '.join(wrong)}")
    return Guarded(cast(Adapter, loaded))


def _made(point: "EntryPoint") -> object:
    loaded = point.load()
    return loaded() if isinstance(loaded, type) else loaded


def _broken(point: "EntryPoint", what: str) -> BadInput:
    return BadInput(
        f"the agent {point.name!r} of {GROUP} ({point.value}) {what}",
        hint="Uninstall the package it came with, or repair it.",
    )
