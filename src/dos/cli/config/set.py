"""Set one key of dos.toml.

The value is TOML: 3, true, ["src/**"], or a bare word where the key holds a string. A change that would not load is
refused. In front of a value that begins with a dash write `--`.
"""

from typing import Annotated

from msgspec import Struct

from dos.cli.config.settings import approve_change, editable_path, normal_key
from dos.config.edit import set_value
from dos.config.show import list_settings
from dos.verbs.args import Option
from dos.verbs.context import Context, Reply

EXITS = {"set": 0, "contract_error": 2}


class Args(Struct, kw_only=True):
    key: Annotated[str, Option(help="the key, as in supervise.target", positional=True)]
    value: Annotated[
        str, Option(help="the value, as TOML has it", positional=True, may_be_empty=True)
    ]


def run(args: Args, context: Context) -> Reply:
    path = editable_path(context)
    loaded = set_value(path, args.key, args.value)
    warnings = [*loaded.warnings, *approve_change(context, loaded)]
    key = normal_key(args.key)
    value = next((row.text for row in list_settings(loaded) if row.key == key), args.value)
    return Reply(
        text=f"{key} = {value}  in {path}",
        data={"key": key, "value": value, "path": str(path), "warnings": warnings},
        stderr="\n".join(f"warning: {text}" for text in warnings),
        next_action="dos lint",
    )
