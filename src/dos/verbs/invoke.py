"""Runs one verb, named and with arguments by name: what the command line and servers share.

The command line parses words into the arguments; MCP and the server get them as JSON. Both are
checked by the same rules, and both ask whether the caller may.
"""

import math
from collections.abc import Mapping
from importlib import import_module
from typing import Any

from msgspec import Struct, json

from dos.errors import BadInput, StoreBusy
from dos.text import nearest_names, quote, suggest
from dos.verbs.args import LARGEST, Field, fields
from dos.verbs.context import Context, Reply
from dos.verbs.listing.table import VERBS
from dos.verbs.listing.verb import ANYONE, Verb
from dos.verbs.verdicts import record_verdict

# A verb that has this among its exits replies with it; other verbs fail with StoreBusy.
LOCK_BUSY = "lock-busy"
KINDS = {
    str: "text",
    int: "a whole number",
    float: "a number",
    bool: "true or false",
}


def invoke(name: str, arguments: Mapping[str, Any], context: Context) -> Reply:
    """Run a verb of the table with arguments by field name, and return its reply.

    None means that an argument is not given. Raises BadInput for arguments that the command line
    would refuse, NotPermitted where an agent of the fleet calls a verb for people, and whatever the
    verb raises. The caller closes the context, and makes it with `as_json` to get data.
    """
    verb = VERBS.get(name)
    if verb is None:
        from dos.verbs.lookup import unknown_verb

        raise unknown_verb(name.split() or [name])
    module = import_module(verb.module)
    given = {key: value for key, value in arguments.items() if value is not None}
    parsed = module.Args(**checked_arguments(name, module.Args, given))
    reply = run_verb(verb, module, parsed, context)
    record_verdict(verb, module.EXITS, parsed, reply, context)
    return reply


def run_verb(verb: Verb, module: Any, parsed: Struct, context: Context) -> Reply:
    """Ask whether the caller may, and call the verb.

    A busy store becomes a reply for verbs that have an exit code for it.
    """
    if _is_restricted(verb, parsed):
        from dos.verbs import permission  # most verbs are open to anyone

        permission.check_permission(verb, parsed, context)
    try:
        reply: Reply = module.run(parsed, context)
        return reply
    except StoreBusy as error:
        if LOCK_BUSY not in module.EXITS:
            raise
        data = {"outcome": LOCK_BUSY, "reason": error.message, "hint": error.hint}
        return Reply(code=error.exit_code, data=data, stderr=json.encode(data).decode())


def reply_data(reply: Reply, *, explained: bool) -> Any:
    """Return the data of a reply as its JSON has it: text alone becomes an object.

    `explained` adds the next action to an object, as `interpretation`.
    """
    data = reply.data
    if data is None:
        data = {"text": reply.text}
    if explained and reply.next_action and isinstance(data, dict):
        data = {**data, "interpretation": reply.next_action}
    return data


def _is_restricted(verb: Verb, parsed: Struct) -> bool:
    """Whether only people may make this call. Some verbs are open with one first argument."""
    if verb.allowed == ANYONE:
        return False
    if not verb.open_argument:
        return True
    for field in fields(type(parsed)):
        if field.option.positional:
            return bool(getattr(parsed, field.name) != verb.open_argument)
    return True


def checked_arguments(
    name: str, arguments: type[Struct], given: Mapping[str, Any]
) -> dict[str, Any]:
    """Return the given arguments by field name; the record has the defaults of the others.

    Raises BadInput for an unknown name, a value of another type, none of the choices, text that is
    empty or cannot be passed on, and an argument that is missing.
    """
    known = {field.name.strip("_"): field for field in fields(arguments)}
    found: dict[str, Any] = {}
    for key, value in given.items():
        field = known.get(key.strip("_").replace("-", "_"))
        if field is None:
            raise _unknown_argument(name, key, list(known))
        found[field.name] = _checked(value, field)
    for field in known.values():
        if field.required and field.name not in found:
            raise BadInput(
                f"`{name}` needs {_label(field)}",
                hint=f"{_label(field)}: {field.option.help or field.metavar}.",
            )
    check_blanks(found, arguments)
    return found


def _unknown_argument(name: str, key: str, known: list[str]) -> BadInput:
    """Return the error for an argument that the verb has not, with the nearest one."""
    near = nearest_names(key, known, 1)
    suggestion = f"; {suggest(near[0])}" if near else ""
    arguments = ", ".join(known) or "none"
    return BadInput(
        f"`{name}` has no argument {quote(key)}{suggestion}", hint=f"Its arguments: {arguments}."
    )


def _label(field: Field) -> str:
    """Return the name by which an argument is given here."""
    return field.name.strip("_")


def _checked(value: Any, field: Field) -> Any:
    """Return the value of one argument; several where the field takes many."""
    if not field.many:
        return _checked_item(value, field)
    if not isinstance(value, list | tuple):
        raise BadInput(f"{_label(field)} must be a list, not {_shown(value)}")
    return [_checked_item(item, field) for item in value]


def _checked_item(value: Any, field: Field) -> Any:
    """Return one value with the type of the field. Raises BadInput for any other."""
    if field.type is float and type(value) is int:
        value = float(value) if abs(value) < LARGEST else math.inf
    if type(value) is not field.type:
        raise BadInput(f"{_label(field)} must be {KINDS[field.type]}, not {_shown(value)}")
    if isinstance(value, int | float) and not abs(value) < LARGEST:
        raise BadInput(f"{_label(field)} is out of range: {_shown(value)}")
    if isinstance(value, str):
        check_encoding(value)
    choices = field.option.choices
    if choices and value not in choices:
        suggestion = ""
        if near := nearest_names(str(value), choices, 1):
            suggestion = f"; {suggest(near[0])}"
        raise BadInput(
            f"{_label(field)} cannot be {_shown(value)}{suggestion}",
            hint=f"Choose one of: {', '.join(choices)}.",
        )
    return value


def _shown(value: Any) -> str:
    """Return a value as a message shows it, cut where it is long."""
    if isinstance(value, str):
        return quote(value)
    return quote(json.encode(value).decode())


def check_encoding(word: str) -> None:
    """Raise BadInput for a word that is not UTF-8, or that contains a NUL character."""
    # Python puts bytes that are not UTF-8 into the range of surrogates.
    if not word.isprintable() and any("\ud800" <= character <= "\udfff" for character in word):
        raise BadInput(
            f"{quote(word)} is not UTF-8 text", hint="Set a UTF-8 locale, or pass UTF-8 text."
        )
    # No shell passes one, but other callers may; no system call accepts it.
    if "\0" in word:
        raise BadInput(f"{quote(word)} contains a NUL character", hint="Remove that character.")


def check_blanks(given: Mapping[str, Any], arguments: type[Struct]) -> None:
    """Raise BadInput for an argument that is empty and may not be."""
    for field in fields(arguments):
        if _is_blank(given.get(field.name), field) and not field.option.may_be_empty:
            meaning = field.metavar
            if field.option.help:
                meaning += f": {field.option.help}"
            raise BadInput(f"{field.label} is empty", hint=f"{meaning}. Is a variable not set?")


def _is_blank(value: Any, field: Field) -> bool:
    """Whether a given value is empty. For `--flag=--` argparse gives an empty list."""
    if isinstance(value, list):
        if not value:
            return not (field.option.positional or field.option.may_be_bare)
        return any(_is_blank(item, field) for item in value)
    return isinstance(value, str) and not value.strip()
