"""A scripted model that plays a skill: each conversation is a generator that yields steps and gets
what the tools said."""

import re
from collections.abc import Callable, Generator, Mapping
from typing import Any, NamedTuple

from msgspec import DecodeError, json
from skill_commands import commands, filled

from dos.testing.model_requests import Body, conversation, first_prompt, offered_tools
from dos.testing.model_script import Script, Step, count_results

Play = Generator[Step, str, None]
_CODE = re.compile(r"\AExit code (\d+)\n?")


class Player(Script):
    """Plays conversations: the first of `plays` whose text is in the first prompt is started."""

    def __init__(self, plays: Mapping[str, Callable[[], Play]]) -> None:
        super().__init__([])
        self._plays = plays
        self._going: dict[str, tuple[Play, list[Step]]] = {}
        self.failures: list[AssertionError] = []

    def step(self, body: Body) -> Step:
        """Return the step for this many results; the generator goes on when there is a new one."""
        if not offered_tools(body):
            return {"say": "ok"}
        with self._lock:
            name = next((name for name in self._plays if name in first_prompt(body)), None)
            if name is None:
                return {"say": "ok"}
            if name not in self._going:
                play = self._plays[name]()
                self._going[name] = (play, [next(play)])
            play, steps = self._going[name]
            if count_results(body) == len(steps):
                results = [told.text for told in conversation(body) if told.kind == "result"]
                try:
                    steps.append(play.send(results[-1]))
                except StopIteration:
                    steps.append({"say": "The end."})
                except AssertionError as error:  # the conversation ends, and the test says why
                    self.failures.append(error)
                    steps.append({"say": "It failed."})
            return steps[min(count_results(body), len(steps) - 1)]


class Answer(NamedTuple):
    code: int
    text: str

    @property
    def json(self) -> Any:
        """The document that a command printed; lines of stderr may stand beside it."""
        for start, character in enumerate(self.text):
            if character in "{[" and (start == 0 or self.text[start - 1] == "\n"):
                try:
                    return json.decode(self.text[start:].split("\n\n")[0])
                except DecodeError:
                    continue
        raise AssertionError(f"no JSON: {self.text}")


class SkillRun:
    """The commands of one skill, issued one by one, each looked up in its text."""

    def __init__(self, skill: str, values: dict[str, str]) -> None:
        self._lines = [*commands(skill), *commands(skill, "git")]
        self.values = values
        self.issued: list[str] = []

    def run(self, start: str, *, last: bool = False, **values: str) -> Generator[Step, str, Answer]:
        """Issue the first command of the skill that begins so, or the last one."""
        found = [line for line in self._lines if line.startswith(start)]
        assert found, f"the skill has no command {start}"
        line = found[-1 if last else 0]
        self.issued.append(line)
        told = yield {"bash": filled(line, {**self.values, **values})}
        return answer_of(told)

    @property
    def left_out(self) -> set[str]:
        """The commands that were never issued."""
        return set(self._lines) - set(self.issued)


def answer_of(told: str) -> Answer:
    """Return the exit code and the output of a command as Claude Code shows them."""
    match = _CODE.match(told)
    if match is None:
        return Answer(0, told)
    return Answer(int(match[1]), told[match.end() :])
