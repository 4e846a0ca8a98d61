"""Show every setting with its value.

A setting that is not in dos.toml is shown with its default, or as not set.
"""

from typing import Annotated

from msgspec import Struct

from dos.cli.config import settings
from dos.config.show import Setting, as_json
from dos.verbs.args import Option
from dos.verbs.context import Context, Reply

EXITS = {"shown": 0, "contract_error": 2}
WIDEST = 60  # the origin stands behind this column


class Args(Struct, kw_only=True):
    key: Annotated[
        str, Option(help="only this key or table, such as supervise", positional=True)
    ] = ""
    origin: Annotated[bool, Option(help="also show where each value comes from")] = False


def run(args: Args, context: Context) -> Reply:
    matches = settings.find_settings(context, args.key)
    lines = [_line(setting) for setting in matches]
    if args.origin:
        width = min(WIDEST, max(len(line) for line in lines))
        with_origin = zip(lines, matches, strict=True)
        lines = [f"{line:<{width}}  # {setting.origin}" for line, setting in with_origin]
    return Reply(
        text="\n".join(lines),
        data=as_json(matches),
        stderr=settings.warning_lines(context.world.loaded_config.warnings),
        indented=True,
    )


def _line(setting: Setting) -> str:
    if setting.value is None:
        return f"# {setting.key} is not set"
    return f"{setting.key} = {setting.text}"
