"""The table [sandbox] of `dos.toml`: what agents and checks may touch besides their lane."""

from typing import Annotated, Literal

from msgspec import Meta

from dos.fields import BadValue, Table, check_not_blank, check_text

Port = Annotated[int, Meta(ge=1, le=65_535)]


class Sandbox(Table, frozen=True, kw_only=True):
    """[sandbox]: what agents and checks may touch besides their lane; the kernel enforces it."""

    level: Literal["auto", "landlock", "required", "off"] = "auto"
    """`auto`: all that the kernel has; `landlock`: no namespaces; `required`: or start nothing."""
    reads: Literal["listed", "all"] = "listed"
    """`listed`: agents read only the system, programs and their lane; `all`: what you can read."""
    network: Literal["ports", "open"] = "ports"
    """`ports`: TCP to web servers, test servers and `ports` only; `open`: to everywhere."""
    ports: tuple[Port, ...] = ()
    """TCP ports besides 53, 80 and 443 that agents and checks may connect to."""
    sockets: Literal["open", "none"] = "open"
    """`none`: no named unix sockets (Docker, D-Bus, tmux); breaks `multiprocessing.Manager`."""
    writable: tuple[str, ...] = ()
    """Absolute paths, or paths below `~/`, that agents and checks may change besides their own."""
    readable: tuple[str, ...] = ()
    """Absolute paths, or paths below `~/`, that they may read besides what `listed` lists."""
    program: tuple[str, ...] = ()
    """Command that starts each program instead of the walls of dos: `["bwrap", "--bind", …]`."""

    def __post_init__(self) -> None:
        for name in ("writable", "readable"):
            for place, path in enumerate(getattr(self, name)):
                check_not_blank(path, (name, place))
                if not path.startswith(("/", "~/")):
                    raise BadValue(
                        (name, place),
                        f"{path!r} is not an absolute path",
                        "Begin it with / or with ~/.",
                    )
        for place, word in enumerate(self.program):
            check_text(word, ("program", place))
        if self.program:
            _check_program(self.program[0])

    @property
    def is_on(self) -> bool:
        """Whether programs get any walls."""
        return self.level != "off" or bool(self.program)


def _check_program(program: str) -> None:
    """Raise BadValue for what no folder can find: programs are started in many."""
    if not program.strip():
        raise BadValue(
            ("program", 0), "the command has no program", "Put the program's name first."
        )
    if "/" in program and not program.startswith("/"):
        raise BadValue(
            ("program", 0),
            f"{program!r} is not an absolute path",
            "Begin it with /, or name a program on the path.",
        )
