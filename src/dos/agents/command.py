"""Any program: the prompt on its standard input, its exit code and git for the rest."""

from dos.agents.adapter import Launch, Outcome, by_exit

name = "command"
CLAIM_CHARACTERS = 2000


def launch(prompt: str, command: tuple[str, ...]) -> Launch:
    return Launch(argv=list(command), stdin=prompt)


def outcome(lines: list[str], exit_code: int | None, *, hung: bool) -> Outcome:
    said = next((line.strip() for line in reversed(lines) if line.strip()), "")
    return Outcome(kind=by_exit(exit_code, hung=hung), claim=said[:CLAIM_CHARACTERS])
