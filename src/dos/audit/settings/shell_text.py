"""Reads shell text: the tests that it runs, and whether it lets their failure count."""

import re
from collections.abc import Sequence

from msgspec import structs

from dos.audit.settings.facts import MOST_COMMANDS, RunnerFacts
from dos.testrunners.shell_lines import SimpleCommand, simple_commands
from dos.testrunners.test_commands import TestCommand, parse_test_command
from dos.verify.file_kinds import words

# Commands that run no test, whatever their words are.
_IDLE = words(
    "echo printf true : exit cd set export mkdir rm cp mv cat ls pwd sleep pip pip3 apt-get apt"
    " git curl wget tar unzip chmod touch source . if then else fi do done for while case esac"
    " eslint prettier ruff black flake8 mypy isort pylint tsc stylelint rubocop shellcheck yamllint"
    " codecov coveralls gofmt golangci-lint clippy biome standard xo return shift unset local"
)
_INSTALLS = words("install ci add build fmt clippy vet lint format sync update restore login")
_SUCCEEDS = re.compile(r"(?:/?(?:usr/)?bin/)?true|:|echo|printf|exit 0|return 0")
_SUCCESSES = ("exit 0", "true", ":", "return 0")
_SETS_EXIT = re.compile(r"-[a-z]*e[a-z]*|errexit")
_USES_RESULT = re.compile(r"\$\?|\$\{\?\}|PIPESTATUS|\$status\b")
_CONDITIONS = ("if", "elif", "while", "until")
_WAITS = re.compile(r"^\s*wait\b", re.MULTILINE)
_EXITS_BADLY = re.compile(r"\b(?:exit|return)\s+(?:[1-9]|[\"']?\$)|\bfalse\b")


def read_shell(text: str, *, stops_at_errors: bool = False) -> RunnerFacts:
    """Return what a shell text runs of tests.

    `stops_at_errors`: whoever runs it ends it at the first command that fails, as CI services do.
    """
    typed = list(simple_commands(text))
    end = _hidden_end(typed, text)
    exits = _EXITS_BADLY.search(text) is not None or _WAITS.search(text) is not None
    commands: list[TestCommand] = []
    others: set[str] = set()
    stops = stops_at_errors
    is_unset = False
    for number, command in enumerate(typed):
        if command.words[0] == "set":
            stops = _stops_at_errors(command.words[1:], stops=stops)
            is_unset = not stops and command.words[1:] == ("+e",)
        found = parse_test_command(command.words)
        if found:
            muted = found.muted or _hidden_by(command.joint, typed[number + 1 : number + 4])
            muted = muted or (_unheeded(command) if end is not None and not exits else "")
            if not muted and not stops and end is not None:
                muted = "set +e" if is_unset else end
            commands.append(structs.replace(found, muted=muted))
        elif not _is_idle(command.words):
            others.add(" ".join(command.words))
    return RunnerFacts(commands=tuple(commands[:MOST_COMMANDS]), others=frozenset(others))


def _is_idle(typed: Sequence[str]) -> bool:
    """Whether a command runs no test for sure."""
    program = typed[0].rpartition("/")[2]
    return program in _IDLE or not _INSTALLS.isdisjoint(typed[1:3]) or "=" in typed[0]


def _hidden_end(typed: Sequence[SimpleCommand], text: str) -> str | None:
    """Return the last command of a text, if that always succeeds; None if a result is looked at."""
    if _USES_RESULT.search(text):
        return None
    is_alone = len(typed) < 2 or typed[-2].joint in (";", "\n")
    last = " ".join(typed[-1].words) if typed and is_alone else ""
    return last if last in _SUCCESSES else ""


def _unheeded(command: SimpleCommand) -> str:
    """Return what makes a shell go on whatever a command says; empty if nothing does."""
    if command.words[0] in _CONDITIONS:
        return command.words[0]
    return "&" if command.joint == "&" else ""


def _hidden_by(joint: str, following: Sequence[SimpleCommand]) -> str:
    """Return what stands behind a command and hides its failure; empty if nothing does."""
    if not following:
        return ""
    first = " ".join(following[0].words)
    if joint == "||" and _SUCCEEDS.match(first):
        after = " ".join(" ".join(command.words) for command in following)
        return "" if _EXITS_BADLY.search(after) else f"|| {first}"
    if joint == ";" and first in _SUCCESSES:
        return f"; {first}"
    return ""


def _stops_at_errors(options: Sequence[str], *, stops: bool) -> bool:
    """Whether a shell ends at errors after `set` got these options."""
    for word in options:
        if word.startswith("+") and "e" in word:
            stops = False
        elif _SETS_EXIT.fullmatch(word):
            stops = True
    return stops
