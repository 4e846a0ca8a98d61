"""Count what hooks refused, deferred and warned of.

It counts the answers that hooks of agent programs, and the fleet's own permission, gave to agents.
With --explain it has examples of each reason.
"""

from typing import Annotated

from msgspec import Struct, to_builtins

from dos.cli.about.man import all_reasons
from dos.cli.moments import moment_of_since
from dos.outward.helped import Example, Helped, fold_helped
from dos.text import one_line, plural, show_name
from dos.verbs.args import Option
from dos.verbs.context import Context, Reply

EXITS = {"reported": 0, "contract_error": 2}


class Args(Struct, kw_only=True):
    """Which answers to count."""

    session: Annotated[
        str, Option(help="only of this conversation of an agent program", metavar="ID")
    ] = ""
    since: Annotated[
        str, Option(help="only since then: a date, or an age such as 8h", metavar="WHEN")
    ] = ""


def run(args: Args, context: Context) -> Reply:
    """Count the answers. JSON has the keys of dos-kernel, and with --explain examples."""
    journal = context.journal_world.journal
    since_ms = moment_of_since(args.since, journal.now_ms())
    glossary = None
    if context.explain:
        reasons = all_reasons(context.journal_world.config)
        glossary = {reason.token: reason.summary for reason in reasons}
    helped = fold_helped(
        journal.events(), session=args.session, since_ms=since_ms, glossary=glossary
    )
    return Reply(text=_text(helped), data=to_builtins(helped), indented=True)


def _text(helped: Helped) -> str:
    if not helped.total:
        return "hooks refused nothing and warned of nothing"
    sorts = f"{helped.blocked} refused, {helped.deferred} left to a person"
    warnings = plural(helped.warned, "warning")
    lines = [f"{plural(helped.withheld, 'call')} withheld: {sorts}; {warnings}"]
    for title, counts in (("reason", helped.by_reason), ("tool", helped.by_tool)):
        counted = ", ".join(f"{show_name(name)} {count}" for name, count in counts.items())
        lines.append(f"by {title}: {counted}")
    if isinstance(helped.examples, dict):
        for name, examples in helped.examples.items():
            lines += [_example_line(name, example) for example in examples]
    return "\n".join(lines)


def _example_line(name: str, example: Example) -> str:
    """Return the line of an example. Agents name the tool and the files."""
    tool = show_name(example.tool)
    return one_line(f"{show_name(name)}: {tool} {example.target}  {example.reason}")
