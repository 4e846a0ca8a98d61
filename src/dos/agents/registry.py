"""The agents by name. Each is imported when it is used."""

from importlib import import_module
from typing import cast

from dos.agents.adapter import Adapter
from dos.errors import BadInput

NAMES = ("command", "scripted")


def find(name: str) -> Adapter:
    if name not in NAMES:
        raise BadInput(
            f"there is no agent named {name!r}; the agents are {', '.join(NAMES)}",
            hint="For any program: dos config set workers.command '[\"my-agent\"]', then "
            "dos config set workers.agent command",
        )
    return cast(Adapter, import_module(f"dos.agents.{name}"))
