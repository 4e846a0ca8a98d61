"""Runs one verb: parses its arguments, checks who calls it, prints its reply."""

import gc
from importlib import import_module
from typing import Any

from msgspec import Struct, json

from dos.errors import BadInput, StoreBusy
from dos.text import quote
from dos.verbs.args import Field, Parser, build_parser, fields
from dos.verbs.context import Context, Reply, stdout_is_utf8
from dos.verbs.output import print_answer
from dos.verbs.table import ANYONE, Verb

# A verb that has this among its exits replies with it; other verbs fail with StoreBusy.
LOCK_BUSY = "lock-busy"


def call_verb(verb: Verb, options: dict[str, str], words: list[str]) -> int:
    """Run the verb with the words of its command line and return the exit code.

    `options` are the global options without their dashes. Raises DosError for whatever the verb
    refuses; `main` prints it.
    """
    module = import_module(verb.module)
    arguments: type[Struct] = module.Args
    parser = build_parser(verb.name, verb.summary, arguments)
    if "help" in options or "h" in options:
        print_answer(verb_page(verb, module, parser))
        return 0
    parsed = arguments(**_parse(parser, arguments, words))
    context = Context(
        workspace=options.get("workspace", ""),
        as_json="json" in options,
        output=options.get("output", ""),
        pretty="pretty" in options,
        explain="explain" in options,
        lenient="lenient" in options,
    )
    gc.enable()  # `main` disables it for the start alone
    try:
        if _is_restricted(verb, words):
            from dos.verbs import permission  # most verbs are open to anyone

            permission.check_permission(verb, parsed, context)
        reply = _run(module, parsed, context)
        context.warn_of_config_errors()
        if reply.stderr:
            context.warn(reply.stderr)
        print_answer(_format(reply, context))
        return reply.code
    finally:
        context.close()


def verb_page(verb: Verb, module: Any, parser: Parser) -> str:
    """Return the help page of one verb: usage, arguments, notes, exit codes, global options."""
    from dos.cli.help import GLOBAL_OPTIONS
    from dos.verbs import lookup

    exit_codes = ["exit codes:"]
    codes = lookup.with_common_codes(verb, module.EXITS)
    for token, code in sorted(codes.items(), key=lambda item: item[1]):
        exit_codes.append(f"  {code:<3} {lookup.exit_words(token)}")
    width = max(len(option) for option in GLOBAL_OPTIONS) + 2
    options = ["options of every verb:"]
    for option, meaning in GLOBAL_OPTIONS.items():
        options.append(f"  {option:<{width}}{meaning}")
    parts = [
        parser.format_help(),
        lookup.notes(module),
        "\n".join(exit_codes),
        "\n".join(options),
    ]
    return "\n".join(part.rstrip("\n") + "\n" for part in parts if part)


def _is_restricted(verb: Verb, words: list[str]) -> bool:
    """Whether only people may make this call. Some verbs are open with one first argument."""
    if verb.allowed == ANYONE:
        return False
    is_open = bool(verb.open_argument) and words[:1] == [verb.open_argument]
    return not is_open


def _run(module: Any, parsed: Struct, context: Context) -> Reply:
    """Call the verb. A busy store becomes a reply for verbs that have an exit code for it."""
    try:
        reply: Reply = module.run(parsed, context)
        return reply
    except StoreBusy as error:
        if LOCK_BUSY not in module.EXITS:
            raise
        data = {"outcome": LOCK_BUSY, "reason": error.message, "hint": error.hint}
        return Reply(code=error.exit_code, data=data, stderr=json.encode(data).decode())


def _parse(parser: Parser, arguments: type[Struct], words: list[str]) -> dict[str, Any]:
    """Parse the words into the fields that were given; the record has the defaults of the others.

    Raises BadInput for what cannot be parsed, is not UTF-8, or is empty.
    """
    for word in words:
        _check_encoding(word)
    given = {}
    for name, value in vars(parser.parse_args(words)).items():
        if value is not None:
            given[name] = value
    for field in fields(arguments):
        if _is_blank(given.get(field.name), field) and not field.option.may_be_empty:
            meaning = field.metavar
            if field.option.help:
                meaning += f": {field.option.help}"
            raise BadInput(f"{field.label} is empty", hint=f"{meaning}. Is a variable not set?")
    return given


def _check_encoding(word: str) -> None:
    """Raise BadInput for a word that is not UTF-8, or that contains a NUL character."""
    # Python puts bytes that are not UTF-8 into the range of surrogates.
    if not word.isprintable() and any("\ud800" <= character <= "\udfff" for character in word):
        raise BadInput(
            f"{quote(word)} is not UTF-8 text", hint="Set a UTF-8 locale, or pass UTF-8 text."
        )
    # No shell passes one, but other callers may; no system call accepts it.
    if "\0" in word:
        raise BadInput(f"{quote(word)} contains a NUL character", hint="Remove that character.")


def _is_blank(value: Any, field: Field) -> bool:
    """Whether a given value is empty. For `--flag=--` argparse gives an empty list."""
    if isinstance(value, list):
        if not value:
            return not (field.option.positional or field.option.may_be_bare)
        return any(_is_blank(item, field) for item in value)
    return isinstance(value, str) and not value.strip()


def _format(reply: Reply, context: Context) -> str:
    """Return the whole answer as it goes to stdout; "" where the verb has printed it already."""
    if reply.data is None and not reply.text:
        return ""
    next_action = reply.next_action if context.explain else ""
    if context.plain and (reply.plain or reply.text):
        lines = [reply.plain or reply.text, next_action]
    elif context.as_json or reply.always_json:
        return _format_json(reply, next_action, pretty=context.pretty)
    else:
        lines = [reply.text]
        if next_action and reply.text:
            lines.append(f"next: {next_action}")
    return "".join(line.rstrip("\n") + "\n" for line in lines if line)


def _format_json(reply: Reply, next_action: str, *, pretty: bool) -> str:
    """Return the data as JSON, in ASCII where stdout cannot show more."""
    data = reply.data
    if data is None:
        data = {"text": reply.text}
    if next_action and isinstance(data, dict):
        data = {**data, "interpretation": next_action}
    encoded = json.encode(data, order="sorted")
    if reply.indented or pretty:
        encoded = json.format(encoded, indent=2)
    text = encoded.decode() + "\n"
    if text.isascii() or stdout_is_utf8():
        return text
    return _ascii_json(text)


def _ascii_json(text: str) -> str:
    """Return the same JSON in ASCII: other characters occur only in strings."""
    import re

    def escape(match: "re.Match[str]") -> str:
        encoded = match[0].encode("utf-16-be", "surrogatepass")
        units = [encoded[start : start + 2].hex() for start in range(0, len(encoded), 2)]
        return "".join(f"\\u{unit}" for unit in units)

    return re.sub(r"[^\x00-\x7f]+", escape, text)
