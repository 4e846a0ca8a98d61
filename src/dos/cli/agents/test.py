"""Measure what a real agent program can, offline.

Runs the program that is on the PATH half a dozen times, in scratch repositories with a home of its
own and a scripted model on this machine, and answers from what was on the disk, what the model was
told and what dos read: whether it asks before an edit, reports usage, tells a limit, resumes, takes
a message while it works, and ends when its input ends. A run that shows nothing leaves its question
unknown. Your settings, logins and files are not used or changed. It takes a minute or more.
"""

from typing import Annotated

from msgspec import Struct

from dos.agents.programs.catalog import KnownAgent, known_agent, known_agents
from dos.conformance.io.measure import Measured
from dos.errors import BadInput, DosError
from dos.text import did_you_mean, quote
from dos.verbs.args import Option
from dos.verbs.context import Context, Reply
from dos.verbs.output import print_stderr

EXITS = {"measured": 0, "partly-unknown": 1, "contract_error": 2, "not-found": 4}


class Args(Struct, kw_only=True):
    """Which agent."""

    name: Annotated[
        str, Option(help="agent, as `dos agents` names it", positional=True, metavar="AGENT")
    ]


def run(args: Args, context: Context) -> Reply:
    """Measure one program, record the answers, and return them."""
    from dos.conformance.io.measure import measure

    measured = measure(_find(args.name), print_stderr)
    answers = {question.name.lower(): answer for question, answer in measured.answers.items()}
    data = {
        "agent": measured.agent,
        "program": measured.program or None,
        "version": measured.version or None,
        "why_not": measured.why_not,
        "answers": {
            name: {"verdict": answer.verdict, "detail": answer.detail}
            for name, answer in answers.items()
        },
    }
    if measured.why_not:
        text = f"{measured.agent}: not measured: {measured.why_not}"
        return Reply(code=1 if measured.found else 4, text=text, data=data)
    _record(measured, context)
    return Reply(code=1 if measured.unknown else 0, text=_describe(measured), data=data)


def _find(name: str) -> KnownAgent:
    """Return the agent. Raises BadInput for a name that dos does not know."""
    agent = known_agent(name)
    if agent is None:
        names = [each.name for each in known_agents()]
        raise BadInput(
            f"dos knows no agent program under {quote(name)}",
            hint=did_you_mean(name, names, "agent"),
        )
    return agent


def _describe(measured: Measured) -> str:
    """The answers, one a line."""
    lines = [f"{measured.agent} {measured.version or '(it prints no version)'}"]
    width = max(map(len, measured.answers))
    for question, answer in measured.answers.items():
        lines.append(f"  {question.ljust(width)}  {answer.text}")
    return "\n".join(lines)


def _record(measured: Measured, context: Context) -> None:
    """Record the answers, in a repository that uses dos; that this fails changes no answer."""
    from dos.conformance.io import results

    try:
        if not results.keeps_records(context.journal_world):
            return
        results.record(
            context.journal,
            results.AGENTS,
            measured.agent,
            result="PARTLY_UNKNOWN" if measured.unknown else "MEASURED",
            version=measured.version,
            reason="",
            answers={
                question.name.lower(): answer.text for question, answer in measured.answers.items()
            },
        )
    except (DosError, OSError) as error:
        print_stderr(f"dos: the result could not be recorded: {error}")
