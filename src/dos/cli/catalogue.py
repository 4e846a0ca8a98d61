"""Everything the verbs say about themselves, read from their modules."""

from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from msgspec import DecodeError, json

from dos.cli import call
from dos.verbs.args import Field, fields
from dos.verbs.table import VERBS, Verb


def module(verb: Verb) -> Any:
    return import_module(verb.module)


def arguments(verb: Verb) -> list[Field]:
    """What the verb takes, without what is not meant for people."""
    return [field for field in fields(module(verb).Args) if not field.option.hidden]


def exits(verb: Verb) -> dict[str, int]:
    """Every token with its code."""
    return call.exits(verb, _written_exits(verb) or module(verb).EXITS)


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


def all_exits() -> dict[str, dict[str, int]]:
    return {name: exits(verb) for name, verb in VERBS.items()}


def named(words: list[str]) -> list[Verb]:
    """The verb of these words, or all verbs that begin with them."""
    name = " ".join(words)
    found = [
        verb for verb in VERBS.values() if verb.name == name or verb.name.startswith(f"{name} ")
    ]
    if not found:
        from dos.cli.suggest import no_verb

        raise no_verb(words)
    return found
