"""What the settings of a repository say about which tests run and what a failure is worth."""

from collections.abc import Iterable, Iterator, Mapping

from msgspec import Struct

from dos.testrunners.test_commands import TestCommand

MOST_COMMANDS = 500  # that run tests, of all files together; each is compared with each


class RunnerFacts(Struct, frozen=True, kw_only=True):
    """What one file, or several together, say about the run of tests."""

    restraints: frozenset[str] = frozenset()  # they leave tests out, or hide failures
    demands: Mapping[str, float] = {}  # what has to be met, such as a coverage; lower asks for less
    selections: Mapping[str, frozenset[str]] = {}  # where tests are looked for
    commands: tuple[TestCommand, ...] = ()
    others: frozenset[str] = frozenset()  # commands that are not known, and might run tests

    def narrowings(self) -> Iterator[str]:
        """Yield what leaves tests out, in settings and in commands alike."""
        yield from self.restraints
        for command in self.commands:
            for restraint in command.restraints:
                yield f"{command.runner} {restraint}"


def joined(parts: Iterable[RunnerFacts]) -> RunnerFacts:
    """Return what several files say together; of a demand that is made twice, the higher one."""
    restraints: set[str] = set()
    demands: dict[str, float] = {}
    selections: dict[str, frozenset[str]] = {}
    commands: list[TestCommand] = []
    others: set[str] = set()
    for facts in parts:
        restraints |= facts.restraints
        for name, value in facts.demands.items():
            demands[name] = max(value, demands.get(name, value))
        for name, patterns in facts.selections.items():
            selections[name] = patterns | selections.get(name, frozenset())
        commands += facts.commands
        others |= facts.others
    return RunnerFacts(
        restraints=frozenset(restraints),
        demands=demands,
        selections=selections,
        commands=tuple(commands[:MOST_COMMANDS]),
        others=frozenset(others),
    )


def number(value: object) -> float | None:
    """Return a number that is written as one, also with a percent sign; None for anything else."""
    try:
        return float(str(value).strip().rstrip("%"))
    except ValueError:
        return None
