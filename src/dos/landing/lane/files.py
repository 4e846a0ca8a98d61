"""The files of a lane's new repository, as the user's repository is now.

Objects are shared by alternates, tags are copied, and of the settings only the identity and what
decides how files are checked out. There is no remote: a push from the lane reaches nothing.
"""

from collections.abc import Mapping
from pathlib import Path

from dos.git.config_text import quoted
from dos.git.files import object_folders
from dos.git.repository import Reader

# Settings that decide which bytes a checkout writes.
_COPIED = (
    r"^(core\.(autocrlf|eol|filemode|ignorecase|longpaths|precomposeunicode|safecrlf|symlinks)"
    r"|extensions\.objectformat)$"
)
_PACKED = "# pack-refs with: sorted \n"
_IDENTITY = {"user.name": "GIT_AUTHOR_NAME", "user.email": "GIT_AUTHOR_EMAIL"}
_ALWAYS = {"core.bare": "false", "core.logallrefupdates": "true", "gc.auto": "0"}
# Git reads extensions only in repositories of version 1, and ignores unknown ones in version 0.
_VERSION = "1"


def repository_files(
    git: Reader, common: Path, commit: str, identity: Mapping[str, str], *, branch: str
) -> dict[str, str]:
    """Return the files of a repository at a commit, by their paths below `.git`.

    HEAD is on no branch; `branch` is at the same commit, since agents compare with it by its name.
    `common` is the git directory of the user's repository, `identity` the variables with which
    agents commit.
    """
    files = {
        "HEAD": f"{commit}\n",
        "config": config_text(_settings(git, identity)),
        "packed-refs": f"{_PACKED}{commit} refs/heads/{branch}\n{_tags(git)}",
        "objects/info/alternates": "".join(f"{path}\n" for path in object_folders(common)),
        "info/exclude": "",
    }
    shallow = common / "shallow"
    if shallow.exists():
        files["shallow"] = shallow.read_text()
    return files


def _settings(git: Reader, identity: Mapping[str, str]) -> dict[str, str]:
    settings = {"core.repositoryformatversion": _VERSION, **_ALWAYS}
    for name, variable in _IDENTITY.items():
        if variable in identity:
            settings[name] = identity[variable]
    output = git.attempt("config --get-regexp", "--null", _COPIED).stdout
    for entry in output.split("\0"):
        name, _, value = entry.partition("\n")
        if name:
            settings[name] = value
    return settings


def config_text(settings: Mapping[str, str]) -> str:
    """Return a git configuration with these settings, by names such as `user.name`."""
    lines = []
    for name, value in settings.items():
        section, _, key = name.rpartition(".")
        lines.append(f"[{section}]\n\t{key} = {quoted(value)}\n")
    return "".join(lines)


def _tags(git: Reader) -> str:
    """Return the user's tags as git packs refs: versions are often computed from them."""
    return git.run("for-each-ref", "--format=%(objectname) %(refname)", "refs/tags/")
