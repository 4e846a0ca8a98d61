"""Generates docs/reference.md from the table of verbs: `python -m dos.cli.reference` prints it."""

import sys

from dos.cli.help import GLOBAL_OPTIONS
from dos.verbs import lookup
from dos.verbs.args import Field, as_sentence, default_note
from dos.verbs.listing.table import VERBS
from dos.verbs.listing.verb import GROUPS, Verb

_HEAD = """# Reference

Every verb of `dos`, by group. This page is generated: `make docs` writes it.

Options that every verb takes, in any position:

| option | meaning |
|---|---|
{options}

The exit code is the answer. 0 is always the good result. 2 is a usage or input error: nothing was
changed. 70 is a bug in `dos`. 77: an agent of the fleet called a verb that only a person may use.
130 is Ctrl-C.
"""


def page() -> str:
    """Return the whole page as Markdown."""
    options = []
    for option, meaning in GLOBAL_OPTIONS.items():
        options.append(f"| `{option}` | {_escape_cell(meaning)} |")
    parts = [_HEAD.format(options="\n".join(options))]
    for group, title in GROUPS.items():
        verbs = [verb for verb in VERBS.values() if verb.group == group]
        if verbs:
            parts.append(f"## {title}\n")
            parts += [_verb_section(verb) for verb in verbs]
    return "\n".join(parts).rstrip("\n") + "\n"


def _verb_section(verb: Verb) -> str:
    parts = [f"### dos {verb.name}\n", as_sentence(verb.summary) + "\n"]
    notes = lookup.notes(lookup.load_module(verb))
    if notes:
        parts.append(notes + "\n")
    rows = [_argument_row(field) for field in lookup.arguments(verb)]
    if rows:
        parts.append("| argument | meaning |\n|---|---|\n" + "\n".join(rows) + "\n")
    codes = sorted(lookup.exit_codes(verb).items(), key=lambda item: item[1])
    listed = ", ".join(f"{code} `{lookup.exit_words(token)}`" for token, code in codes)
    parts.append(f"Exit codes: {listed}.\n")
    return "\n".join(parts)


def _argument_row(field: Field) -> str:
    option = field.option
    value = "|".join(filter(None, option.choices)) or field.metavar
    if field.many and not option.repeatable:
        value += "..."
    if option.positional:
        name = value
    else:
        name = ", ".join((field.flag, *option.flags))
        if field.type is not bool:
            name += f" {value}"
    meaning = option.help
    if field.required:
        meaning += " (required)"
    return f"| `{_escape_cell(name)}` | {_escape_cell(meaning + default_note(field))} |"


def _escape_cell(text: str) -> str:
    return text.replace("|", "\\|")


if __name__ == "__main__":
    sys.stdout.write(page())
