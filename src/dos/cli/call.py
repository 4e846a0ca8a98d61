"""Calls one verb: parse its words into its record, run it, print the reply."""

import gc
from importlib import import_module
from typing import Any

from msgspec import Struct, json

from dos.errors import BadInput, NotPermitted, StoreBusy
from dos.text import quote
from dos.verbs.args import Field, Parser, build_parser, fields
from dos.verbs.context import Context, Reply, stdout_is_utf8
from dos.verbs.output import print_answer
from dos.verbs.table import ANYONE, Verb

LOCK_BUSY = (
    "lock-busy"  # a verb that lists it among its exits answers with it, instead of with an error
)

COMMON = """everywhere:
  --workspace DIR  another workspace than the one around you
  --json           one JSON document instead of text
  --output NAME    text, json or plain: a sentence for everybody, where there is one
  --pretty         JSON on many lines
  --explain        also say what to do next, where there is something to say
  --lenient        show what a dos.toml with errors still says; nothing is admitted or started by one
"""


def call_verb(verb: Verb, wishes: dict[str, str], words: list[str]) -> int:
    module = import_module(verb.module)
    arguments: type[Struct] = module.Args
    made = build_parser(verb.name, verb.summary, arguments)
    if "help" in wishes or "h" in wishes:
        print_answer(help_page(verb, module, made))
        return 0
    parsed = arguments(**_given(made, arguments, words))
    context = Context(
        workspace=wishes.get("workspace", ""),
        as_json="json" in wishes,
        output=wishes.get("output", ""),
        pretty="pretty" in wishes,
        explain="explain" in wishes,
        lenient="lenient" in wishes,
    )
    gc.enable()
    try:
        if verb.allowed != ANYONE and (not verb.open_argument or words[:1] != [verb.open_argument]):
            from dos.verbs import permission  # most verbs are for anybody

            permission.check_permission(verb, parsed, context)
        reply = _answer(module, parsed, context)
        context.warn_of_config_errors()
        if reply.stderr:
            context.warn(reply.stderr)
        print_answer(_text(reply, context))
        return reply.code
    finally:
        context.close()


def _answer(module: Any, parsed: Struct, context: Context) -> Reply:
    try:
        found: Reply = module.run(parsed, context)
        return found
    except StoreBusy as error:
        if LOCK_BUSY not in module.EXITS:
            raise
        data = {"outcome": LOCK_BUSY, "reason": error.message, "hint": error.hint}
        return Reply(code=error.exit_code, data=data, stderr=json.encode(data).decode())


def help_page(verb: Verb, module: Any, made: Parser) -> str:
    parts = [made.format_help(), notes(module), _exit_table(exits(verb, module.EXITS)), COMMON]
    return "\n".join(part.rstrip("\n") + "\n" for part in parts if part)


def notes(module: Any) -> str:
    """What a verb's module says about it beyond the first line."""
    return (module.__doc__ or "").partition("\n\n")[2].strip()


def exits(verb: Verb, own: dict[str, int]) -> dict[str, int]:
    """Every token of a verb with its code: its own, and what holds for all. Bad words are 2 everywhere."""
    forbidden = {} if verb.allowed == ANYONE else {"not_permitted": NotPermitted.exit_code}
    return {**own, **forbidden, "contract_error": 2}


def _exit_table(table: dict[str, int]) -> str:
    rows = sorted(table.items(), key=lambda row: row[1])
    return "exit codes:\n" + "\n".join(f"  {code:<3} {token}" for token, code in rows)


def _given(made: Parser, arguments: type[Struct], words: list[str]) -> dict[str, Any]:
    for word in words:
        if not word.isprintable() and any("\ud800" <= character <= "\udfff" for character in word):
            raise BadInput(
                f"{quote(word)} is not UTF-8 text",
                hint="Set a UTF-8 locale, or give the name in UTF-8.",
            )
        if "\0" in word:  # a shell cannot say it, and no system call takes it
            raise BadInput(
                f"{quote(word)} has a NUL character in it", hint="Leave that character out."
            )
    # What is not given is left to the record.
    given = {
        name: value for name, value in vars(made.parse_args(words)).items() if value is not None
    }
    for field in fields(arguments):
        if _is_blank(given.get(field.name), field) and not field.option.may_be_empty:
            wanted = f"{field.metavar}: {field.option.help}" if field.option.help else field.metavar
            raise BadInput(f"{field.label} is empty", hint=f"{wanted}. Is a variable not set?")
    return given


def _is_blank(value: Any, field: Field) -> bool:
    """Given, and with nothing in it. Of `--flag=--` the parser itself leaves an empty list."""
    if isinstance(value, list):
        return (not value and not field.option.positional) or any(
            _is_blank(each, field) for each in value
        )
    return isinstance(value, str) and not value.strip()


def _text(reply: Reply, context: Context) -> str:
    """The whole answer, as it goes to stdout."""
    if reply.data is None and not reply.text:
        return ""  # said already, line by line
    following = reply.next_action if context.explain else ""
    if context.plain and (reply.plain or reply.text):
        lines = [reply.plain or reply.text, following]
    elif context.as_json or reply.always_json:
        return _json_text(reply, following, pretty=context.pretty)
    else:
        lines = [reply.text, f"next: {following}" if following and reply.text else ""]
    return "".join(line.rstrip("\n") + "\n" for line in lines if line)


def _json_text(reply: Reply, following: str, *, pretty: bool) -> str:
    data = reply.data if reply.data is not None else {"text": reply.text}
    if following and isinstance(data, dict):
        data = {**data, "interpretation": following}
    raw = json.encode(data, order="sorted")
    text = (json.format(raw, indent=2) if reply.indented or pretty else raw).decode() + "\n"
    return text if text.isascii() or stdout_is_utf8() else _escaped(text)


def _escaped(text: str) -> str:
    """The same JSON in ASCII: what is beyond it stands in strings only."""
    import re

    def units(found: "re.Match[str]") -> str:
        raw = found[0].encode("utf-16-be", "surrogatepass")
        return "".join(f"\\u{raw[at : at + 2].hex()}" for at in range(0, len(raw), 2))

    return re.sub(r"[^\x00-\x7f]+", units, text)
