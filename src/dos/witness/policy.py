"""The settings tables of witnesses: CI checks, folders that agents cannot write to, and judges."""

import re

from dos.fields import BadValue, Key, Seconds, Table, check_not_blank, check_text

Words = tuple[str, ...]
_REPOSITORY = re.compile(r"(?:[\w.-]+/)?[\w.-]+/[\w.-]+")


class Ci(Table, frozen=True, kw_only=True):
    """Where the checks of a commit are read: from GitHub through `gh`, a command, or a file."""

    repo: str = ""
    """Repository on GitHub, as owner/name or host/owner/name; empty: that of `origin`."""
    required: Words = ()
    """Names of the checks that decide; empty: all."""
    command: Words = ()
    """Command that prints the checks of a commit as JSON; `{sha}` is the commit."""
    file: str = ""
    """JSON file of checks; those whose `head_sha` is the commit count."""
    timeout_seconds: Seconds = 20.0
    """Time limit of `command` or of all calls of `gh`."""

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
                "both command and file are set, but only one is read",
                "Keep one of the two.",
            )


class Evidence(Table, frozen=True, kw_only=True):
    """Sources besides git and commands that the claimant could not have written."""

    places: Words = ()
    """Absolute paths of folders outside of the work tree that no agent can write to."""
    citations: str = ""
    """File of the works that can be cited: JSON lines, CSL-JSON or BibTeX (`.bib`)."""
    citation_command: Words = ()
    """Command that prints the works under a citation as JSON; `{cite}` is the citation."""
    timeout_seconds: Seconds = 20.0
    """Time limit of `citation_command`."""

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
            message = "both citations and citation_command are set, but only one is used"
            raise BadValue(("citation_command",), message, "Keep one of the two.")


class Judges(Table, frozen=True, kw_only=True):
    """The program that gives an opinion; it reads the prompt from its input."""

    command: Words = ()
    """Program that judges the prompt at its stdin; $DOS_LLM_JUDGE_CMD takes precedence."""
    timeout_seconds: Seconds = 120.0
    """Time limit of `command`."""

    def __post_init__(self) -> None:
        check_command(self.command, ("command",))


def check_command(command: Words, key: Key) -> None:
    """Raise BadValue for a command with unprintable words or without a program."""
    for place, word in enumerate(command):
        check_text(word, (*key, place))
    if command and not command[0].strip():
        raise BadValue(
            (*key, 0), "the command has no program to start", "Put the program's name first."
        )
