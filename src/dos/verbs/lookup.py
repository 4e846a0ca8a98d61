"""Looks up verbs: by the words that were typed, and what the module of a verb declares.

`table` has the names and help lines, which every start reads. This module imports the modules of
verbs for their arguments, notes and exit codes, for help, completion and the reference page.
"""

from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from msgspec import DecodeError, json

from dos.errors import BadInput, NotPermitted
from dos.text import nearest_names, quote, suggest, suggest_nearest
from dos.verbs.args import Field, fields
from dos.verbs.listing.table import VERBS
from dos.verbs.listing.verb import ANYONE, Verb

USAGE_ERROR = "contract_error"  # the released name of exit code 2, kept in JSON
NOT_PERMITTED = "not_permitted"
_EXIT_WORDS = {
    USAGE_ERROR: "usage or input error",
    NOT_PERMITTED: "not permitted for an agent of the fleet",
    "told": "shown",
}


def load_module(verb: Verb) -> Any:
    """Import and return the module that implements the verb."""
    return import_module(verb.module)


def arguments(verb: Verb) -> list[Field]:
    """Return the arguments of the verb that help shows."""
    return [field for field in fields(load_module(verb).Args) if not field.option.hidden]


def notes(module: Any) -> str:
    """Return what the docstring of a verb's module says after its first line.

    The first line is the help line, which the table of verbs has as well.
    """
    docstring = module.__doc__ or ""
    return docstring.partition("\n\n")[2].strip()


def find_verbs(words: list[str]) -> list[Verb]:
    """Return the verb of these words, or all verbs that begin with them.

    Raises BadInput with the nearest verb where there is none.
    """
    name = " ".join(words)
    matches = []
    for verb in VERBS.values():
        if verb.name == name or verb.name.startswith(f"{name} "):
            matches.append(verb)
    if not matches:
        raise unknown_verb(words)
    return matches


def second_words(first: str) -> list[str]:
    """Return the second words of the verbs of two words that begin with this one.

    Nothing is returned for a verb of one word.
    """
    return [name.split()[1] for name in VERBS if name.startswith(f"{first} ")]


def exit_codes(verb: Verb) -> dict[str, int]:
    """Return every exit token of the verb with its code."""
    return with_common_codes(verb, _written_exits(verb) or load_module(verb).EXITS)


def all_exit_codes() -> dict[str, dict[str, int]]:
    """Return the exit codes of all verbs, by the name of the verb."""
    return {name: exit_codes(verb) for name, verb in VERBS.items()}


def with_common_codes(verb: Verb, own: dict[str, int]) -> dict[str, int]:
    """Add the exit codes that every verb has, or every verb that agents may not use."""
    codes = dict(own)
    if verb.allowed != ANYONE:
        codes[NOT_PERMITTED] = NotPermitted.exit_code
    codes[USAGE_ERROR] = BadInput.exit_code
    return codes


def exit_words(token: str) -> str:
    """Return an exit token as people read it; tokens themselves are kept in JSON."""
    return _EXIT_WORDS.get(token, token)


def _written_exits(verb: Verb) -> dict[str, int] | None:
    """Read the table from the verb's file: to import it would take three times as long.

    Returns None where the table is not written as a literal; then the module has to be imported.
    """
    spec = find_spec(verb.module)
    if spec is None or spec.origin is None or not spec.origin.endswith(".py"):
        return None
    text = Path(spec.origin).read_text(encoding="utf-8")
    entries = text.partition("\nEXITS = ")[2].partition("}")[0]
    literal = entries.rstrip().removesuffix(",") + "}"
    try:
        return json.decode(literal, type=dict[str, int])
    except DecodeError:
        return None


def unknown_verb(words: list[str]) -> BadInput:
    """Return the error for words that begin no verb, with the nearest verb where one is near."""
    first = words[0]
    second = ""
    if len(words) > 1 and not words[1].startswith("-"):
        second = words[1]
    suggestion = _suggestion(first, second)
    family = second_words(first)
    if family and second:
        return BadInput(
            f"unknown verb `dos {first}` {quote(second)}{suggestion}",
            hint=f"Verbs of `dos {first}`: {', '.join(family)}. See `dos {first} --help`.",
        )
    typed = f"{first} {second}" if first in VERBS else first
    return BadInput(
        f"unknown verb {quote(typed)}{suggestion}", hint="`dos --help` lists the verbs."
    )


def _suggestion(first: str, second: str) -> str:
    """Suggest the nearest verb: of two words where both are near, else by the first word alone."""
    first_words = list(dict.fromkeys(name.split()[0] for name in VERBS))
    for candidate in nearest_names(first, first_words, 2):
        near_seconds = nearest_names(second, second_words(candidate), 1)
        if near_seconds:
            verb = f"dos {candidate} {near_seconds[0]}"
            return f"; {suggest(f'`{verb}`')}"
    if first in first_words:
        return ""
    suggestion = suggest_nearest(first, first_words, form="`dos {}`")
    if not suggestion:
        return ""
    return f"; {suggestion}"
