"""Remove a key from dos.toml, or an entry from its list.

The key has its default again. With an entry the key stays, with the rest of its list:
dos config unset lanes.autopick api
"""

from typing import Annotated, Any

from msgspec import Struct

from dos.cli.config import settings
from dos.config.edit import unset_value
from dos.verbs.args import Option
from dos.verbs.context import Context, Reply

EXITS = {"unset": 0, "contract_error": 2}


class Args(Struct, kw_only=True):
    key: Annotated[str, Option(help="the key, such as supervise.target", positional=True)]
    entry: Annotated[str, Option(help="remove only this entry of the list", positional=True)] = ""


def run(args: Args, context: Context) -> Reply:
    path = settings.editable_path(context)
    loaded = unset_value(path, args.key, args.entry)
    warnings = settings.approve_change(context, loaded)
    key = settings.normal_key(args.key)
    value = settings.find_value(loaded, key)
    data: dict[str, Any] = {"key": key, "path": str(path), "warnings": warnings}
    if args.entry:
        data["value"] = value
        text = f"{key} = {value}  in {path}"
    else:
        data["default"] = value
        text = f"{key} removed from {path}"
        if value:
            text += f"; its default is {value}"
    return Reply(text=text, data=data, stderr=settings.warning_lines(warnings))
