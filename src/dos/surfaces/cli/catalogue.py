"""Everything the verbs say about themselves, read from their modules; it imports all of them."""

from importlib import import_module
from typing import Any

from dos.errors import BadInput
from dos.questions import VERBS, Verb
from dos.surfaces.cli.options import Field, fields


def module(verb: Verb) -> Any:
    return import_module(verb.module)


def arguments(verb: Verb) -> list[Field]:
    """What the verb takes, without what is not meant for people."""
    return [field for field in fields(module(verb).Args) if not field.option.hidden]


def exits(verb: Verb) -> dict[str, int]:
    """Every token with its code. Bad words are 2 everywhere."""
    declared: dict[str, int] = module(verb).EXITS
    return {**declared, "contract_error": 2}


def all_exits() -> dict[str, dict[str, int]]:
    return {name: exits(verb) for name, verb in VERBS.items()}


def named(words: list[str]) -> list[Verb]:
    """The verb of these words, or all verbs that begin with them."""
    from difflib import get_close_matches

    name = " ".join(words)
    found = [verb for verb in VERBS.values() if verb.name == name or verb.name.startswith(f"{name} ")]
    if not found:
        near = get_close_matches(name, VERBS, 1)
        raise BadInput(
            f"there is no verb {name!r}" + (f"; did you mean `dos {near[0]}`?" if near else ""),
            hint="`dos --help` lists the verbs.",
        )
    return found
