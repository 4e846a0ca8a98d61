"""Makes the private homes of a lane: one for its agents, one for its checks.

A home is made anew for each start, so that nothing that a program left in it (a hook, a plugin, a
`usercustomize.py`, a `.npmrc`) is read by the next one. Only caches of packages stay, and those
of agents and of checks are apart.
"""

import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from fnmatch import fnmatchcase
from functools import cached_property
from pathlib import Path

from msgspec import Struct

from dos.agents import logins
from dos.agents.homes import programs
from dos.agents.homes.programs import CopiedFile, ProgramHome
from dos.agents.io.temporary import TemporaryFolders, clear
from dos.git.config_text import quoted
from dos.machine import commands, filesystem
from dos.text import slug
from dos.unknown import Unknown

LARGEST_FILE = 4_000_000  # bytes of a file of settings
KEPT_INDEX = "lane-index"  # in the home for git
_CONFIG_SECONDS = 30.0
_NO_PROGRAM = ProgramHome()


class PrivateHome(Struct, frozen=True, kw_only=True):
    """The home of one start: the folders that the program may write, and its variables."""

    folder: Path
    temporary: Path
    cache: Path
    variables: dict[str, str]
    # Variables of the user's that the copied settings name, such as the key of a provider.
    named: tuple[str, ...] = ()
    logins: tuple[Path, ...] = ()  # files of the user's that links in the home lead to

    @property
    def writable(self) -> tuple[Path, ...]:
        """The folders that belong to the program, and that it may change."""
        return (self.folder, self.temporary, self.cache)


class Homes:
    """The private homes of a workspace, one folder for each lane.

    `user` is the environment of the user, `git_keys` are patterns of the user's git configuration
    and `files` paths in the user's home that are copied whole.
    """

    def __init__(
        self,
        folder: Path,
        user: Mapping[str, str],
        *,
        git_keys: Sequence[str] = (),
        files: Sequence[str] = (),
    ) -> None:
        self._folder = folder
        self._user = user
        self._git_keys = (*programs.GIT_KEYS, *(key.lower() for key in git_keys))
        self._files = files
        self._temporary = TemporaryFolders(folder)

    @contextmanager
    def for_agent(
        self, lane: str, adapter: str, vendor: str, own: Mapping[str, str]
    ) -> Iterator[PrivateHome]:
        """Make the home of an agent; its temporary folder is removed when the block ends.

        `own` is the environment that dos.toml gives the agent: it may name another folder of the
        user's, for a second account.
        """
        user = {**self._user, **own}
        program = programs.program_home(adapter)
        login = logins.LOGINS.get(vendor) if adapter in programs.KNOWN else None
        with self._made(self._agent_folder(lane), user, program, login) as home:
            yield home

    @contextmanager
    def for_check(self, lane: str, place: Path | None = None) -> Iterator[PrivateHome]:
        """Make the home of a check: no agent's settings, no login.

        `place` is the folder of a check tree, which has a home and caches of its own.
        """
        place = place or self._folder / slug(lane) / "check"
        with self._made(place, self._user, _NO_PROGRAM, None) as home:
            yield home

    @contextmanager
    def for_setup(self, lane: str) -> Iterator[PrivateHome]:
        """Make the home of a setup command in the lane: its caches are those of the agents."""
        with self._made(self._agent_folder(lane), self._user, _NO_PROGRAM, None) as home:
            yield home

    def for_git(self, lane: str) -> dict[str, str]:
        """Make a home for git alone, and return its variables.

        It has the identity and the filters that agents get. It is made anew for each unit: filters
        of an agent's repository run in it when work is handed over. Only the index of the last
        reset stays, which the lane knows by its digest.
        """
        home = self.git_folder(lane)
        if not filesystem.is_real_folder(home):
            clear(home)
            home.mkdir(parents=True, mode=0o700)
        home.chmod(0o700)
        for path in home.iterdir():
            if path.name != KEPT_INDEX or path.is_symlink() or not path.is_file():
                clear(path)
        (home / ".gitconfig").write_text(self._git_text, encoding="utf-8")
        return {"HOME": str(home)}

    def git_folder(self, lane: str) -> Path:
        """Return where the home for git of a lane is."""
        return self._folder / slug(lane) / "git"

    def _agent_folder(self, lane: str) -> Path:
        """The folder of the home and the cache of a lane's agents."""
        return self._folder / slug(lane) / "agent"

    @contextmanager
    def _made(
        self,
        place: Path,
        user: Mapping[str, str],
        program: ProgramHome,
        login: logins.Login | None,
    ) -> Iterator[PrivateHome]:
        """Make the home, its cache and its temporary folder below `place`."""
        home = place / "home"
        cache = place / "cache"
        user_home = Path(user.get("HOME") or Path.home())
        clear(home)
        home.mkdir(parents=True, mode=0o700)
        _make_cache(cache, program.kept)
        named = _copy_files((*programs.PACKAGE_FILES, *program.files), user, user_home, home)
        linked = _link_login(login, program, user, user_home, home)
        _link_cache(home, cache, program.kept)
        _use_user_site(user, user_home, home)
        (home / ".gitconfig").write_text(self._git_text, encoding="utf-8")
        for name in self._files:
            _copy_whole(user_home, name, home)
        for folder in program.folders.values():
            (home / folder).mkdir(parents=True, exist_ok=True)
        with self._temporary.folder(place) as temporary:
            yield PrivateHome(
                folder=home,
                temporary=temporary,
                cache=cache,
                variables={
                    "HOME": str(home),
                    "TMPDIR": str(temporary),
                    **_location_variables(program, user, user_home, home, cache),
                },
                named=named,
                logins=linked,
            )

    def remove_abandoned(self) -> None:
        """Remove the temporary folders that agents and checks of killed workers left."""
        self._temporary.remove_abandoned()

    @cached_property
    def _git_text(self) -> str:
        """What the homes get of the user's global git configuration, read once."""
        variables = {
            name: value for name, value in self._user.items() if name.startswith("GIT_CONFIG_")
        }
        argv = ["git", "config", "--global", "--includes", "--null", "--list"]
        result = commands.run(argv, Path("/"), _CONFIG_SECONDS, environment=variables)
        if isinstance(result, Unknown) or result.code != 0:
            return ""
        entries = result.output.decode("utf-8", "replace").split("\0")
        return git_config_text(entries, self._git_keys)


def _location_variables(
    program: ProgramHome, user: Mapping[str, str], user_home: Path, home: Path, cache: Path
) -> dict[str, str]:
    """The variables that say where state, caches and toolchains are, and the program's defaults."""
    variables = {name: str(cache / folder) for name, folder in programs.CACHE_VARIABLES.items()}
    for name, folder in programs.TOOLCHAIN_FOLDERS.items():
        if name not in user and (user_home / folder).is_dir():
            variables[name] = str(user_home / folder)
    for name, folder in program.folders.items():
        variables[name] = str(home / folder)
    for name, value in program.defaults.items():
        if name not in user:
            variables[name] = value
    return variables


def git_config_text(entries: Sequence[str], patterns: Sequence[str]) -> str:
    """The entries of `git config --null --list` that match a pattern, as a configuration file."""
    lines = []
    for entry in entries:
        key, _, value = entry.partition("\n")
        section, dot, rest = key.partition(".")
        subsection, _, name = rest.rpartition(".")
        if not dot or not any(fnmatchcase(key.lower(), pattern) for pattern in patterns):
            continue
        heading = section
        if subsection:
            heading = f"{section} {quoted(subsection)}"
        lines += [f"[{heading}]", f"\t{name} = {quoted(value)}"]
    return "".join(f"{line}\n" for line in lines)


def _copy_files(
    files: Sequence[CopiedFile], user: Mapping[str, str], user_home: Path, home: Path
) -> tuple[str, ...]:
    """Copy the settings that start no program, and return the variables that they name."""
    named: list[str] = []
    for file in files:
        text = _read(_folder_of(user, file.variable, user_home / file.folder) / file.path)
        kept = file.keep(text)
        if kept:
            target = home / file.target
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_text(kept, encoding="utf-8", errors="surrogateescape")
            target.chmod(0o600)
            named += file.names(text)
    return tuple(named)


def _folder_of(user: Mapping[str, str], variable: str, otherwise: Path) -> Path:
    return Path(user.get(variable) or otherwise)


def _read(path: Path) -> str:
    """The text of a file of settings; "" where there is none that can be read."""
    try:
        if not path.is_file() or path.stat().st_size > LARGEST_FILE:
            return ""
        return path.read_text(encoding="utf-8", errors="surrogateescape")
    except OSError:
        return ""


def _link_login(
    login: logins.Login | None,
    program: ProgramHome,
    user: Mapping[str, str],
    user_home: Path,
    home: Path,
) -> tuple[Path, ...]:
    """Link the files that hold the user's login, and return what the links lead to.

    A link, not a copy: a program that renews its login would make all other copies invalid.
    """
    if login is None:
        return ()
    copied = {file.target for file in program.files}
    source = _folder_of(user, login.home_variable, user_home / login.home)
    linked = []
    for name in login.files:
        path = source / name
        target = str(Path(login.home) / name)
        if target in copied or not path.is_file():
            continue
        link = home / target
        link.parent.mkdir(parents=True, exist_ok=True)
        real = Path(os.path.realpath(path))
        link.symlink_to(real)
        linked.append(real)
    return tuple(linked)


def _make_cache(cache: Path, kept: Sequence[str]) -> None:
    """Make the cache of a lane and the folders in it that stay.

    One that the programs of the lane have made unusable is thrown away.
    """
    try:
        _make_folders(cache, kept)
    except OSError:
        clear(cache)
        _make_folders(cache, kept)


def _make_folders(cache: Path, kept: Sequence[str]) -> None:
    """Make folders in place of what is in their way: a link could lead to files of others."""
    for folder in _cached_folders(kept).values():
        parts = Path(folder).parts
        for count in range(len(parts) + 1):
            place = cache.joinpath(*parts[:count])
            if not filesystem.is_real_folder(place):
                clear(place)
                place.mkdir(mode=0o700)
            if place.stat().st_mode & 0o777 != 0o700:
                place.chmod(0o700)


def _cached_folders(kept: Sequence[str]) -> dict[str, str]:
    """The folders of a home that stay, and where they are in the cache."""
    return {**programs.CACHED_FOLDERS, **{name: f"kept/{name}" for name in kept}}


def _link_cache(home: Path, cache: Path, kept: Sequence[str]) -> None:
    """Let the folders that stay lead to the cache of the lane."""
    for name, folder in _cached_folders(kept).items():
        link = home / name
        link.parent.mkdir(parents=True, exist_ok=True)
        link.symlink_to(cache / folder)


def _use_user_site(user: Mapping[str, str], user_home: Path, home: Path) -> None:
    """Let Python find the packages that the user installed with `pip install --user`.

    They are only read: an agent's own `pip install --user` goes into the private home.
    """
    libraries = _folder_of(user, "PYTHONUSERBASE", user_home / ".local") / "lib"
    for packages in libraries.glob("python3*/site-packages"):
        folder = home / ".local" / "lib" / packages.parent.name / "site-packages"
        folder.mkdir(parents=True)
        line = f"import site; site.addsitedir({str(packages)!r})\n"
        (folder / "of-the-user.pth").write_text(line, encoding="utf-8", errors="surrogateescape")


def _copy_whole(user_home: Path, name: str, home: Path) -> None:
    """Copy a file or folder of the user's home, over what the home has of that name."""
    import shutil

    source = user_home / name
    target = home / name
    target.parent.mkdir(parents=True, exist_ok=True)
    with suppress(OSError):  # what is missing or cannot be read stays out
        if source.is_dir():
            shutil.copytree(source, target, symlinks=True, dirs_exist_ok=True)
        else:
            target.unlink(missing_ok=True)
            shutil.copy(source, target)
