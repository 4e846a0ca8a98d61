"""Our own agent, which does what a script says: for the demonstration, for tests, for trying a configuration."""

import sys

from msgspec import DecodeError, json

from dos.agents.adapter import Launch, Outcome, by_exit

name = "scripted"


def launch(prompt: str, command: tuple[str, ...]) -> Launch:
    return Launch(argv=[sys.executable, "-P", "-m", "dos.testing.scripted_agent", *command], stdin=prompt)


def outcome(lines: list[str], exit_code: int | None, *, hung: bool) -> Outcome:
    claim = ""
    kind = by_exit(exit_code, hung=hung)
    for line in lines:
        said = _parse(line)
        match said.get("type"):
            case "say":
                claim = str(said.get("text", ""))
            case "limit" if kind != "ok":
                kind = "limited"
            case "overloaded" if kind != "ok":
                kind = "overloaded"
    return Outcome(kind=kind, claim=claim)


def _parse(line: str) -> dict[str, object]:
    try:
        found = json.decode(line)
    except DecodeError:
        return {}
    return found if isinstance(found, dict) else {}
