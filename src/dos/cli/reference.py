"""The reference page, made from the table of verbs: `python -m dos.cli.reference` prints it."""

import sys

from dos.cli import call
from dos.verbs import catalog
from dos.verbs.args import Field, as_sentence
from dos.verbs.table import GROUPS, VERBS, Verb

_HEAD = """# Reference

Every verb of `dos`, by what people come for. This page is generated: `make docs` writes it.

Flags that every verb takes, in any position:

| flag | meaning |
|---|---|
{common}

The exit code is the answer. 0 is always the good direction; 2 means that what was typed or written cannot be used, and
nothing was changed; 70 is a bug of `dos`; 77 means that an agent of the fleet asked for what only a person may do; 130
is Ctrl-C.
"""


def page() -> str:
    common = [_common_row(line) for line in call.COMMON.splitlines()[1:]]
    parts = [_HEAD.format(common="\n".join(common))]
    for group, title in GROUPS.items():
        verbs = [verb for verb in VERBS.values() if verb.group == group]
        parts += [f"## {title}\n", *(_verb(verb) for verb in verbs)] if verbs else []
    return "\n".join(parts).rstrip("\n") + "\n"


def _common_row(line: str) -> str:
    flag, _, meaning = line.strip().partition("  ")
    return f"| `{flag}` | {_cell(meaning.strip())} |"


def _verb(verb: Verb) -> str:
    module = catalog.load_module(verb)
    parts = [f"### dos {verb.name}\n", as_sentence(verb.summary) + "\n"]
    notes = call.notes(module)
    parts += [notes + "\n"] if notes else []
    rows = [_argument(field) for field in catalog.arguments(verb)]
    parts += ["| argument | meaning |\n|---|---|\n" + "\n".join(rows) + "\n"] if rows else []
    exits = sorted(catalog.exit_codes(verb).items(), key=lambda row: row[1])
    parts.append("Exit codes: " + ", ".join(f"{code} `{token}`" for token, code in exits) + ".\n")
    return "\n".join(parts)


def _argument(field: Field) -> str:
    option = field.option
    shown = "|".join(choice for choice in option.choices if choice) or field.metavar
    name = f"{shown}..." if field.many and not option.repeatable else shown
    if not option.positional:
        spelled = ", ".join((field.flag, *option.flags))
        name = spelled if field.type is bool else f"{spelled} {name}"
    meaning = option.help + (" (required)" if field.required else "")
    default = (
        ""
        if field.default in (None, "", False, 0, [], ()) or field.many
        else f" (default {field.default})"
    )
    return f"| `{_cell(name)}` | {_cell(meaning + default)} |"


def _cell(text: str) -> str:
    return text.replace("|", "\\|")


if __name__ == "__main__":
    sys.stdout.write(page())
