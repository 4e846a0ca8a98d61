"""Where agent programs are installed from, and whether this host's Node runs their newest version.

npm installs an old version of a package on a Node that its newest version does not support, or one
that does not start, and says nothing of it.
"""

import re
import shutil
from collections.abc import Iterable
from functools import lru_cache

from dos.agents.adapter import Adapter
from dos.agents.programs import catalog
from dos.doctor.subjects.finding import Finding, install_command, warning
from dos.machine import commands
from dos.unknown import Unknown

_NODE_SECONDS = 30.0
_NODE = re.compile(r"(\d+)\.")
_NODE_FIX = "npm install --global node@24"


def install_agent_command(program: str, version: str = "") -> str:
    """A command that installs a program that dos knows, or its installer where that is missing."""
    package = catalog.package_of(program)
    if package is None or package.registry == "npm":
        return _npm_command(package.name if package else program, version)
    return _python_command(package, version)


def _npm_command(name: str, version: str) -> str:
    if not shutil.which("npm"):
        return install_command("npm")
    if version:
        name = f"{name}@{version}"
    return f"npm install --global {name}"


def _python_command(package: catalog.Package, version: str) -> str:
    """A program of PyPI gets an environment of its own: its packages would collide with others."""
    name = package.name
    if version:
        name = f"{name}=={version}.*"
    quoted = f"'{name}'" if "*" in name else name
    if shutil.which("uv"):
        extra = "".join(f" --with '{other}'" for other in package.also)
        return f"uv tool install{extra} {quoted}"
    if not shutil.which("pipx"):
        return install_command("pipx")
    extra = "".join(f" && pipx inject {package.name} '{other}'" for other in package.also)
    return f"pipx install {quoted}{extra}"


def node_findings(adapters: Iterable[Adapter]) -> list[Finding]:
    """Return a warning for each agent program in use whose newest version needs a newer Node."""
    found = []
    for adapter in adapters:
        known = catalog.known_agent(adapter.name)
        if known is None or known.package is None or not known.package.node:
            continue
        node = _node_version(shutil.which("node"))
        if node is None or node >= known.package.node:
            continue
        what = f"Node is {node}, and {known.title} needs Node {known.package.node}"
        why = "npm installs an old version of it, or one that fails to start, and says nothing."
        found.append(warning("AGENT_NODE_OLD", what, why, _NODE_FIX))
    return found


@lru_cache(maxsize=1)
def _node_version(path: str | None) -> int | None:
    """The major version of a Node; None where there is none that says it."""
    if path is None:
        return None
    printed = commands.program_version(path, _NODE_SECONDS)
    if isinstance(printed, Unknown):
        return None
    number = _NODE.search(printed)
    if number is None:
        return None
    return int(number[1])
