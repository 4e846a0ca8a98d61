"""Set one key of dos.toml.

The rest of the file stays as it is. The value is TOML: 3, true, ["src/**"], or a bare word where
the key holds a string. A change that would not load is refused. Write `--` before a value that
begins with a dash.
"""

from typing import Annotated

from msgspec import Struct

from dos.cli.config import settings
from dos.config.edit import set_value
from dos.verbs.args import Option
from dos.verbs.context import Context, Reply

EXITS = {"set": 0, "contract_error": 2}


class Args(Struct, kw_only=True):
    key: Annotated[str, Option(help="the key, such as supervise.target", positional=True)]
    value: Annotated[str, Option(help="the value, as TOML", positional=True, may_be_empty=True)]


def run(args: Args, context: Context) -> Reply:
    path = settings.editable_path(context)
    loaded = set_value(path, args.key, args.value)
    warnings = [*loaded.warnings, *settings.approve_change(context, loaded)]
    key = settings.normal_key(args.key)
    value = settings.find_value(loaded, key) or args.value
    return Reply(
        text=f"{key} = {value}  in {path}",
        data={"key": key, "value": value, "path": str(path), "warnings": warnings},
        stderr=settings.warning_lines(warnings),
        next_action="dos lint",
    )
