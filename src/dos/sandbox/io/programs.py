"""Programs on the path: the one of [sandbox], and the folders that walls let programs read."""

import shutil
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from dos.sandbox.settings import Sandbox

# What a program finds beside the folder it is in: its libraries and its data.
_SIBLINGS = ("lib", "lib64", "libexec", "share", "include", "etc")
# Variables that name the folder of a toolchain.
_TOOLCHAINS = (
    "VIRTUAL_ENV",
    "PYENV_ROOT",
    "CONDA_PREFIX",
    "NVM_DIR",
    "RUSTUP_HOME",
    "GOROOT",
    "JAVA_HOME",
    "SSL_CERT_DIR",
    "SSL_CERT_FILE",
    "REQUESTS_CA_BUNDLE",
    "NODE_EXTRA_CA_CERTS",
    "PIP_CERT",
)


def missing_program(settings: Sandbox) -> str:
    """Return that the program of [sandbox] cannot be started; empty: it can, or there is none."""
    if not settings.program or shutil.which(settings.program[0]):
        return ""
    return f"[sandbox] program is {settings.program[0]!r}, which is not on the path"


def program_folders(environment: Mapping[str, str], user_home: Path) -> tuple[str, ...]:
    """The folders of the path and of toolchains, and what their programs are links to.

    Of a folder such as `~/tool/bin` the whole of `~/tool` is meant, but never the home itself, and
    of `~/.local` only what programs are made of: it also holds the data of other programs.
    """
    found: dict[str, None] = {}
    for name in _TOOLCHAINS:
        if toolchain := environment.get(name):
            found[toolchain] = None
    for name in environment.get("PATH", "").split(":"):
        if not name.startswith("/"):
            continue
        folder = Path(name)
        for path in (folder, *_beside(folder, user_home), *_targets(folder, user_home)):
            found[str(path)] = None
    return tuple(found)


def command_folders(command: Sequence[str], user_home: Path) -> tuple[str, ...]:
    """What the program of a command needs to read of where it is installed, wherever that is.

    It may be a path of the user's, or a link on the path into a folder that no rule of
    `program_folders` knows, and so may the script that an interpreter is given. What is in the
    home itself, or above it, is read alone.
    """
    program = shutil.which(command[0]) or command[0]  # of the scripted agent it is the script
    named = [program, *(word for word in command[1:] if word.startswith("/"))]
    folders: dict[str, None] = {}
    for path in map(Path, named):
        if path.is_file():
            for place in (path.absolute(), path.resolve()):
                folders |= {str(folder): None for folder in _installation(place, user_home)}
    return tuple(folders)


def _installation(program: Path, user_home: Path) -> Iterator[Path]:
    """What belongs to an installed program: of one of npm all packages, which need one another."""
    if "node_modules" in program.parts:
        yield Path(*program.parts[: program.parts.index("node_modules") + 1])
    elif user_home.is_relative_to(program.parent):
        yield program
    else:
        yield program.parent
        yield from _beside(program.parent, user_home)


def _beside(folder: Path, user_home: Path) -> Iterator[Path]:
    """What belongs to the programs of a folder."""
    above = folder.parent
    if folder.name not in ("bin", "sbin", "shims") or user_home.is_relative_to(above):
        return
    if above == user_home / ".local":
        yield from (above / name for name in _SIBLINGS if name != "share")
    else:
        yield above


def _targets(folder: Path, user_home: Path) -> Iterator[Path]:
    """The folders below the home that links of a folder lead to, as installers of agents make
    them: `~/.local/bin/agent` is a link to `~/.local/share/agent/1.2.3/agent`."""
    if not folder.is_relative_to(user_home):
        return
    try:
        links = [path for path in folder.iterdir() if path.is_symlink()]
    except OSError:
        return
    for link in links:
        try:
            target = link.resolve(strict=True)
        except (OSError, RuntimeError):
            continue
        if target.parent != folder and target.is_relative_to(user_home):
            yield from _package_of(target, user_home)


def _package_of(program: Path, user_home: Path) -> Iterator[Path]:
    """The folder of the package that a program is in; never the home or a folder right below it."""
    inside = program.relative_to(user_home).parts
    if len(inside) > 4:
        yield user_home.joinpath(*inside[:4])
    elif len(inside) > 2:
        yield program.parent
