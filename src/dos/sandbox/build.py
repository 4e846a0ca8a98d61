"""Make the walls of a program from the settings, its folders and what the kernel supports."""

from collections.abc import Iterable

from msgspec import Struct, structs

from dos.sandbox import profile
from dos.sandbox.describe import describe_walls, refusal
from dos.sandbox.settings import Sandbox
from dos.sandbox.support import Support
from dos.sandbox.walls import Ports, Walls

# Devices that programs write to. Each has a rule of its own: /dev as a whole has the disks.
DEVICES = tuple(
    f"/dev/{name}"
    for name in ("null", "zero", "full", "random", "urandom", "tty", "ptmx", "pts", "shm")
)
# What every program may read: the system, and nothing that belongs to a user.
SYSTEM = (
    "/bin",
    "/sbin",
    "/lib",
    "/lib32",
    "/lib64",
    "/libx32",
    "/usr",
    "/etc",
    "/opt",
    "/nix",
    "/gnu",
    "/snap",
    "/proc",
    "/sys",
    "/run/systemd/resolve",
    "/run/current-system",
    "/run/wrappers",
    "/run/nscd",
    "/var/lib/dpkg",
    "/var/lib/ca-certificates",
    "/var/cache/fontconfig",
)
WEB_PORTS = (53, 80, 443)


class Folders(Struct, frozen=True, kw_only=True):
    """The folders and ports of one program, all absolute."""

    lane: str  # its repository
    tmp: str  # its TMPDIR
    home: str  # its HOME, not the user's
    user_home: str = ""  # the user's, for ~/ in the settings
    # Caches that are the lane's own. A folder that holds all three makes them one mount, between
    # whose parts files can be renamed and linked.
    writable: tuple[str, ...] = ()
    # Where it and the programs that it starts are installed. In namespaces /tmp and /run are its
    # own, and these are reachable there too, whatever it may read.
    programs: tuple[str, ...] = ()
    # What it needs besides the system; None: not known, and so it may read everything.
    readable: tuple[str, ...] | None = None
    # Parts of the writable folders that are afterwards as they were before, such as what the setup
    # command installed. Only namespaces can do that: Landlock gives rights on a whole folder.
    preserved: tuple[str, ...] = ()
    objects: tuple[str, ...] = ()  # the object folders that the lane's repository borrows from
    hidden: tuple[str, ...] = ()  # the state folder, and what else no program needs
    # Whether it may serve, and reach the test servers of this machine.
    serves: bool = True
    ports: range = range(0)  # the lane's block
    connect: tuple[int, ...] = ()  # of the proxy and of hooks
    closed: tuple[int, ...] = ()  # on which servers of dos listen


def build(settings: Sandbox, support: Support, folders: Folders) -> Walls | None:
    """The walls of a program; None when [sandbox] is off.

    What the kernel lacks is left out and not named in `active`. With `required` the walls then
    only hold the refusal to start anything.
    """
    if settings.program:
        return _described(Walls(program=_fill_in(settings.program, folders)))
    if settings.level == "off":
        return None
    if settings.level == "required" and (why := refusal(support)):
        return Walls(refusal=why)
    walls = _file_walls(settings, support, folders)
    if support.system == "darwin":
        return _described(Walls(program=profile.command(walls)))
    if support.has_ports and settings.network == "ports":
        walls = structs.replace(
            walls,
            bind_ports=_bind_ports(support, folders),
            connect_ports=_connect_ports(settings, support, folders),
        )
    if support.namespaces and settings.level != "landlock":
        walls = structs.replace(
            walls,
            namespaces=True,
            preserved=folders.preserved,
            hidden=folders.hidden,
            reachable=(
                *folders.objects,
                *folders.programs,
                *_in_home(settings.readable, folders),
            ),
            private_tmp=folders.tmp,
        )
    return _described(walls)


def _described(walls: Walls) -> Walls:
    return structs.replace(walls, active=describe_walls(walls))


def _file_walls(settings: Sandbox, support: Support, folders: Folders) -> Walls:
    """The walls around files, and those that need no folders."""
    own = (folders.lane, folders.tmp, folders.home, *folders.writable)
    writable = (*own, *_in_home(settings.writable, folders), *DEVICES)
    readable = None
    if settings.reads == "listed" and folders.readable is not None:
        listed = (*SYSTEM, *folders.programs, *folders.readable, *folders.objects)
        readable = (*listed, *_in_home(settings.readable, folders))
    return Walls(
        landlock_abi=support.landlock_abi if support.has_files else 0,
        writable=writable,
        readable=readable,
        scoped=support.has_scopes,
        seccomp=support.seccomp,
        no_sockets=support.seccomp and settings.sockets == "none",
    )


def _in_home(paths: Iterable[str], folders: Folders) -> tuple[str, ...]:
    return expanded(paths, folders.user_home or folders.home)


def expanded(paths: Iterable[str], home: str) -> tuple[str, ...]:
    """The paths of a setting, with the user's home for ~."""
    return tuple(f"{home}{path[1:]}" if path.startswith("~/") else path for path in paths)


def _fill_in(program: Iterable[str], folders: Folders) -> tuple[str, ...]:
    """The user's command with the folders of this program in its words."""
    values = {
        "{lane}": folders.lane,
        "{tmp}": folders.tmp,
        "{home}": folders.home,
        "{objects}": (*folders.objects, folders.lane)[0],
    }
    words = []
    for word in program:
        for name, value in values.items():
            word = word.replace(name, value)
        words.append(word)
    return tuple(words)


def _bind_ports(support: Support, folders: Folders) -> Ports:
    """Ports to listen on: any free one, the lane's block, and one that was free a moment ago.

    A test asks for a free port, closes it and listens on its number again.
    """
    if not folders.serves:
        return ()
    return merged_ranges(
        ((0, 0), *_block(folders), support.ephemeral_ports), without=folders.closed
    )


def _connect_ports(settings: Sandbox, support: Support, folders: Folders) -> Ports:
    """Ports to connect to: the web, those that are named, and what a test server can listen on."""
    single = tuple((port, port) for port in (*WEB_PORTS, *settings.ports))
    given = tuple((port, port) for port in folders.connect)
    served: Ports = ()
    if folders.serves:
        served = merged_ranges((*_block(folders), support.ephemeral_ports), without=folders.closed)
    return merged_ranges((*single, *served, *given))


def _block(folders: Folders) -> Ports:
    if not folders.ports:
        return ()
    return ((folders.ports.start, folders.ports.stop - 1),)


def merged_ranges(ranges: Iterable[tuple[int, int]], without: Iterable[int] = ()) -> Ports:
    """The ranges in order, each port once, less single ports."""
    merged: list[tuple[int, int]] = []
    for first, last in sorted(ranges):
        if merged and first <= merged[-1][1] + 1:
            merged[-1] = (merged[-1][0], max(last, merged[-1][1]))
        else:
            merged.append((first, last))
    for port in sorted(set(without)):
        merged = [part for whole in merged for part in _split(whole, port)]
    return tuple(merged)


def _split(whole: tuple[int, int], port: int) -> Ports:
    """A range without one port."""
    first, last = whole
    if not first <= port <= last:
        return (whole,)
    parts = ((first, port - 1), (port + 1, last))
    return tuple(part for part in parts if part[0] <= part[1])
