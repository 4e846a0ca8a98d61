"""Everything the verbs say about themselves, read from their modules."""

from difflib import get_close_matches
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from msgspec import DecodeError, json

from dos.cli import call
from dos.errors import BadInput
from dos.text import quote
from dos.verbs.args import Field, fields
from dos.verbs.table import VERBS, Verb


def unknown_verb(words: list[str]) -> BadInput:
    """The error for words that begin no verb: with the nearest verb, where one is near."""
    first, second = words[0], words[1] if len(words) > 1 and not words[1].startswith("-") else ""
    family = [name.split()[1] for name in VERBS if name.startswith(f"{first} ")]
    if family and second:
        return BadInput(
            f"dos {first} knows {', '.join(family)}; it got {quote(second)}{_suggestion(first, second)}",
            hint=f"`dos {first} --help` says what they do.",
        )
    typed = f"{first} {second}" if first in VERBS else first
    return BadInput(
        f"there is no verb {quote(typed)}{_suggestion(first, second)}",
        hint="`dos --help` lists the verbs.",
    )


def _suggestion(first: str, second: str) -> str:
    """The nearest first word, with the second one where both together are a verb or are near to one."""
    firsts = list(dict.fromkeys(name.split()[0] for name in VERBS))
    for head in get_close_matches(first, firsts, 2):
        tails = [name.split()[1] for name in VERBS if name.startswith(f"{head} ")]
        if near := get_close_matches(second, tails, 1):
            return f"; did you mean `dos {head} {near[0]}`?"
    near = get_close_matches(first, firsts, 1) if first not in firsts else []
    return f"; did you mean `dos {near[0]}`?" if near else ""


def load_module(verb: Verb) -> Any:
    return import_module(verb.module)


def arguments(verb: Verb) -> list[Field]:
    """What the verb takes, without what is not meant for people."""
    return [field for field in fields(load_module(verb).Args) if not field.option.hidden]


def exit_codes(verb: Verb) -> dict[str, int]:
    """Every token with its code."""
    return call.exits(verb, _written_exits(verb) or load_module(verb).EXITS)


def _written_exits(verb: Verb) -> dict[str, int] | None:
    """The table as it stands in the verb's file; importing every verb for it takes three times as long."""
    spec = find_spec(verb.module)
    if spec is None or spec.origin is None or not spec.origin.endswith(".py"):
        return None
    text = Path(spec.origin).read_text(encoding="utf-8")
    table = text.partition("\nEXITS = ")[2].partition("}")[0].rstrip().removesuffix(",") + "}"
    try:
        return json.decode(table, type=dict[str, int])
    except DecodeError:  # written in another way: then it has to be imported
        return None


def all_exit_codes() -> dict[str, dict[str, int]]:
    return {name: exit_codes(verb) for name, verb in VERBS.items()}


def find_verbs(words: list[str]) -> list[Verb]:
    """The verb of these words, or all verbs that begin with them."""
    name = " ".join(words)
    found = [
        verb for verb in VERBS.values() if verb.name == name or verb.name.startswith(f"{name} ")
    ]
    if not found:
        raise unknown_verb(words)
    return found
