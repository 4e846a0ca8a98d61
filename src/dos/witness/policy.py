"""The tables that say whose word counts: the checks of a commit, places that agents cannot write to, judges."""

import re

from dos.fields import BadValue, Key, Seconds, Table, check_not_blank, check_text

Words = tuple[str, ...]
_REPOSITORY = re.compile(r"(?:[\w.-]+/)?[\w.-]+/[\w.-]+")


class Ci(Table, frozen=True, kw_only=True):
    """Where the checks of a commit are read: from GitHub by `gh`, from what a command prints, or from a file."""

    repo: str = ""  # owner/name, or host/owner/name; the remote `origin` when it is empty
    required: Words = ()  # the checks that decide; all of them when none is named
    command: Words = ()  # {sha} in it is the commit
    file: str = ""
    timeout_seconds: Seconds = 20.0

    def __post_init__(self) -> None:
        if self.repo and not _REPOSITORY.fullmatch(self.repo):
            raise BadValue(
                ("repo",), f"{self.repo!r} is not a repository", 'Write it as "owner/name".'
            )
        for place, name in enumerate(self.required):
            check_not_blank(name, ("required", place))
        check_command(self.command, ("command",))
        check_text(self.file, ("file",))
        if self.command and self.file:
            raise BadValue(
                ("file",),
                "there is a command and a file, and one of them is read",
                "Keep one of the two.",
            )


class Evidence(Table, frozen=True, kw_only=True):
    """What besides git and commands is more than the word of whoever claims something."""

    places: Words = ()  # folders outside of the work tree that no agent can write to
    citations: str = ""  # a file of works: JSON lines, CSL-JSON or BibTeX
    citation_command: Words = ()  # prints the works under a citation; {cite} in it is the citation

    def __post_init__(self) -> None:
        for place, folder in enumerate(self.places):
            check_not_blank(folder, ("places", place))
            if not folder.startswith("/") or not folder.strip("/"):
                message = f"{folder!r} is not a folder that can be outside of the work tree"
                raise BadValue(
                    ("places", place), message, "Write the whole path, as in /var/lib/deploys."
                )
        check_text(self.citations, ("citations",))
        check_command(self.citation_command, ("citation_command",))
        if self.citations and self.citation_command:
            message = "there is a file and a command, and one of them is asked"
            raise BadValue(("citation_command",), message, "Keep one of the two.")


class Judges(Table, frozen=True, kw_only=True):
    """The program that gives an opinion; the prompt goes to its input."""

    command: Words = ()
    timeout_seconds: Seconds = 120.0

    def __post_init__(self) -> None:
        check_command(self.command, ("command",))


def check_command(command: Words, key: Key) -> None:
    for place, word in enumerate(command):
        check_text(word, (*key, place))
    if command and not command[0].strip():
        raise BadValue(
            (*key, 0), "the command has no program to start", "Put the program's name first."
        )
