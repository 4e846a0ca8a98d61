"""Calls one verb: parse its words into its record, run it, print the reply."""

import sys
from importlib import import_module
from typing import Any

from msgspec import Struct, json

from dos.errors import BadInput
from dos.questions import Verb
from dos.surfaces.cli.desk import Desk, Reply
from dos.surfaces.cli.options import Parser, fields, parser


def call(verb: Verb, wishes: dict[str, str], words: list[str]) -> int:
    module = import_module(verb.module)
    arguments: type[Struct] = module.Args
    made = parser(verb.name, verb.summary, arguments)
    if "help" in wishes or "h" in wishes:
        sys.stdout.write(help_page(verb, module, made))
        return 0
    parsed = arguments(**_given(made, arguments, words))
    desk = Desk(
        workspace=wishes.get("workspace", ""),
        as_json="json" in wishes,
        explain="explain" in wishes,
        lenient="lenient" in wishes,
    )
    try:
        reply: Reply = module.run(parsed, desk)
        _print(reply, desk)
        return reply.code
    finally:
        desk.close()


def help_page(verb: Verb, module: Any, made: Parser) -> str:
    exits: dict[str, int] = getattr(module, "EXITS", {})
    table = "".join(f"  {code:<3} {token}\n" for token, code in exits.items())
    notes = (module.__doc__ or "").partition("\n\n")[2].strip()
    common = (
        "everywhere:\n"
        "  --workspace DIR  another workspace than the one around you\n"
        "  --json           one JSON document instead of text\n"
        "  --explain        also say what to do next\n"
        "  --lenient        read on past a dos.toml that has errors (reading verbs only)\n"
    )
    parts = [made.format_help(), notes and notes + "\n", table and f"exit codes:\n{table}", common]
    return "\n".join(part for part in parts if part)


def _given(made: Parser, arguments: type[Struct], words: list[str]) -> dict[str, Any]:
    for word in words:
        if not word.isprintable() and any("\ud800" <= character <= "\udfff" for character in word):
            raise BadInput(f"{word!r} is not UTF-8 text", hint="Set a UTF-8 locale, or give the name in UTF-8.")
    parsed = vars(made.parse_args(words))
    return {
        field.name: parsed[field.name]
        for field in fields(arguments)
        if parsed.get(field.name) is not None or field.default is None
    }


def _print(reply: Reply, desk: Desk) -> None:
    if desk.as_json or reply.always_json:
        data = reply.data if reply.data is not None else {"text": reply.text}
        if desk.explain and reply.next_action and isinstance(data, dict):
            data = {**data, "interpretation": reply.next_action}
        raw = json.encode(data, order="sorted")
        sys.stdout.write((json.format(raw, indent=2) if reply.indented else raw).decode() + "\n")
        return
    if reply.text:
        sys.stdout.write(reply.text.rstrip("\n") + "\n")
    if desk.explain and reply.next_action:
        sys.stdout.write(f"next: {reply.next_action}\n")
