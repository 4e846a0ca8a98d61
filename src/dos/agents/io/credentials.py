"""How the credentials of an agent's program look now, so that a login is noticed without starting the program."""

import os
from collections.abc import Mapping
from hashlib import sha256
from pathlib import Path

from dos.agents import logins
from dos.agents.logins import Credentials
from dos.machine import process


def fingerprint(vendor: str, environment: Mapping[str, str]) -> Credentials:
    """Changes when somebody logs in on this host; empty for a program whose credentials nobody here knows.

    It tells of each file whether it is there, when it was changed and how large it is: never contents.
    """
    login = logins.LOGINS.get(vendor)
    if login is None:
        return Credentials()
    home = environment.get("HOME") or os.path.expanduser("~")  # noqa: PTH111 - there may be no home
    folder = environment.get(login.home_variable) or os.path.join(home, login.home)  # noqa: PTH118
    looks = "\n".join(_look(Path(folder, name)) for name in login.files)
    return Credentials(host=process.host(), digest=sha256(looks.encode()).hexdigest()[:16])


def was_renewed(recorded: Credentials, now: Credentials) -> bool:
    """What another host recorded cannot be compared with what lies here."""
    is_known = bool(recorded.digest and now.digest)
    return is_known and recorded.host == now.host and recorded.digest != now.digest


def _look(path: Path) -> str:
    try:
        found = path.stat()
    except OSError as error:
        return f"{path.name}: {type(error).__name__}"
    return f"{path.name}: {found.st_mtime_ns} {found.st_size} {found.st_ino}"
