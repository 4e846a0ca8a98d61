"""Show every setting with its value."""

from typing import Annotated

from msgspec import Struct

from dos.cli.config import settings
from dos.config.show import as_json
from dos.verbs.args import Option
from dos.verbs.context import Context, Reply

EXITS = {"shown": 0, "contract_error": 2}


class Args(Struct, kw_only=True):
    key: Annotated[
        str, Option(help="a key or a table, as in supervise.target", positional=True)
    ] = ""
    origin: Annotated[bool, Option(help="also say where each value comes from")] = False


def run(args: Args, context: Context) -> Reply:
    found = settings.find_rows(context, args.key)
    lines = [
        f"{row.key} = {row.text}" if row.value is not None else f"# {row.key} is not set"
        for row in found
    ]
    if args.origin:
        width = min(60, max(map(len, lines)))
        lines = [f"{line:<{width}}  # {row.origin}" for line, row in zip(lines, found, strict=True)]
    warnings = context.world.loaded_config.warnings
    return Reply(
        text="\n".join(lines),
        data=as_json(found),
        stderr="\n".join(f"warning: {text}" for text in warnings),
        indented=True,
    )
