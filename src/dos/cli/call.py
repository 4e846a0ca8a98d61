"""Runs one verb of a command line: parses its arguments, calls it, prints its reply."""

import gc
from importlib import import_module
from typing import Any

from msgspec import Struct, json

from dos.verbs.args import Parser, build_parser
from dos.verbs.context import Context, Reply, stdout_is_utf8
from dos.verbs.invoke import check_blanks, check_encoding, reply_data, run_verb
from dos.verbs.listing.verb import Verb
from dos.verbs.output import print_answer
from dos.verbs.verdicts import record_verdict


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
        reply = run_verb(verb, module, parsed, context)
        context.warn_of_config_errors()
        if reply.stderr:
            context.warn(reply.stderr)
        print_answer(_format(reply, context))
        record_verdict(verb, module.EXITS, parsed, reply, context)
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


def _parse(parser: Parser, arguments: type[Struct], words: list[str]) -> dict[str, Any]:
    """Parse the words into the fields that were given; the record has the defaults of the others.

    Raises BadInput for what cannot be parsed, is not UTF-8, or is empty.
    """
    for word in words:
        check_encoding(word)
    given = {}
    for name, value in vars(parser.parse_args(words)).items():
        if value is not None:
            given[name] = value
    check_blanks(given, arguments)
    return given


def _format(reply: Reply, context: Context) -> str:
    """Return the whole answer as it goes to stdout; "" where the verb has printed it already."""
    if reply.data is None and not reply.text:
        return ""
    next_action = reply.next_action if context.explain else ""
    if context.plain and (reply.plain or reply.text):
        lines = [reply.plain or reply.text, next_action]
    elif context.as_json or reply.always_json:
        return _format_json(reply, context)
    else:
        lines = [reply.text]
        if next_action and reply.text:
            lines.append(f"next: {next_action}")
    return "".join(line.rstrip("\n") + "\n" for line in lines if line)


def _format_json(reply: Reply, context: Context) -> str:
    """Return the data as JSON, in ASCII where stdout cannot show more."""
    encoded = json.encode(reply_data(reply, explained=context.explain), order="sorted")
    if reply.indented or context.pretty:
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
