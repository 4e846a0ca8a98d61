"""The agents by name, our own and those of other packages. Each is imported when it is used."""

from importlib import import_module
from typing import cast

from dos import plugins
from dos.agents.adapter import Adapter
from dos.agents.by_lines import Folded
from dos.agents.guarded import Guarded
from dos.errors import BadInput

NAMES = ("claude_code", "codex", "gemini", "opencode", "command", "scripted")
CONFIGURED = ("command", "scripted")  # what [workers] command is for
_TEXTS = ("name", "vendor", "program")
_CALLED = ("launch", "begin", "on_line", "outcome")
_CALLED_BY_LINES = ("launch", "parse", "outcome")


def names() -> list[str]:
    """What there is, without loading it."""
    return [*NAMES, *(name for name in plugins.names(plugins.AGENTS) if name not in NAMES)]


def knows(name: str) -> bool:
    return name in NAMES or name in plugins.names(plugins.AGENTS)


def find(name: str) -> Adapter:
    """The agent of that name, as it is used; BadInput when there is none, or when it is of no use."""
    if name in NAMES:
        return Guarded(cast(Adapter, import_module(f"dos.agents.{name}")))
    for _, found in plugins.load(plugins.AGENTS, only=name, flaw=_flaw):
        return Guarded(found if _is_fold(found) else Folded(found))
    raise BadInput(
        f"there is no agent named {name!r}; the agents are {', '.join(names())}",
        hint="For any program: dos config set workers.command '[\"my-agent\"]', then "
        "dos config set workers.agent command",
    )


def _is_fold(loaded: object) -> bool:
    return hasattr(loaded, "on_line")


def _flaw(loaded: object) -> str:
    """What is missing of an adapter; empty when it can be used."""
    wrong = [member for member in _TEXTS if not isinstance(getattr(loaded, member, None), str)]
    called = _CALLED if _is_fold(loaded) else _CALLED_BY_LINES
    wrong += [member for member in called if not callable(getattr(loaded, member, None))]
    tested = getattr(loaded, "tested", None)
    if not (isinstance(tested, tuple) and len(tested) == 2 and all(isinstance(each, str) for each in tested)):
        wrong.append("tested")
    return f"has no usable {', '.join(wrong)}" if wrong else ""
