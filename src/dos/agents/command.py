"""Any program: the prompt on its standard input, its exit code and git for the rest."""

from collections.abc import Sequence

from dos.agents.adapter import Clocks, Heard, Launch, Settings
from dos.agents.reading import Told, concluded, last_words
from dos.records.endings import Outcome

name = "command"
vendor = ""
program = ""
tested: tuple[str, str] = ("", "")


def launch(prompt: str, settings: Settings) -> Launch:
    return Launch(argv=[*settings.command, *settings.arguments], stdin=prompt)


def parse(line: str) -> tuple[Heard, ...]:
    return ()


def outcome(lines: Sequence[str], exit_code: int | None, clocks: Clocks) -> Outcome:
    return concluded(Told(began=True, claim=last_words(lines)), exit_code, clocks, lines)
