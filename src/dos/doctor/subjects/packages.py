"""Installed packages that own the names `dos` (the import) or `dos` (the command) beside ours."""

import re
import sys
from importlib import metadata
from shlex import quote

from dos.doctor.subjects.finding import Finding, error
from dos.world import World

OUR_PACKAGE = "dispatch-os"
OUR_NAME = "dos"
_OWNED = re.compile(rf'^"?(?:\.{{1,2}}/)*{OUR_NAME}/', re.MULTILINE)


def examine_packages(world: World) -> list[Finding]:
    others = sorted(owners_of_our_names() - {OUR_PACKAGE})
    if not others:
        return []
    names = ", ".join(others)
    python = quote(sys.executable)
    return [
        error(
            "PACKAGES_CLASH",
            f"{names} is installed beside {OUR_PACKAGE} in {sys.prefix}: both own the import and the command `{OUR_NAME}`",
            "Whichever was installed last wrote over files of the other, and uninstalling one removes them.",
            f"{python} -m pip uninstall --yes {' '.join(map(quote, others))}"
            f" && {python} -m pip install --force-reinstall --no-deps {OUR_PACKAGE}",
        )
    ]


def owners_of_our_names() -> set[str]:
    """The distributions that install a package or a command of our name, by their normalised names."""
    found = {
        each.dist.name
        for each in metadata.entry_points(group="console_scripts", name=OUR_NAME)
        if each.dist
    }
    for each in metadata.distributions():
        # As text: of a large environment the list that `each.files` makes takes a tenth of a second.
        if _OWNED.search(each.read_text("RECORD") or each.read_text("installed-files.txt") or ""):
            found.add(each.name)
    return {name.lower().replace("_", "-") for name in found}
