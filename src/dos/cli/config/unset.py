"""Remove a key from dos.toml, or an entry from its list.

With an entry the key stays, with the rest of its list: dos config unset lanes.autopick api
"""

from typing import Annotated

from msgspec import Struct

from dos.cli.config.settings import approve_change, editable_path, normal_key
from dos.config.edit import unset_value
from dos.config.show import list_settings
from dos.verbs.args import Option
from dos.verbs.context import Context, Reply

EXITS = {"unset": 0, "contract_error": 2}


class Args(Struct, kw_only=True):
    key: Annotated[str, Option(help="the key, as in supervise.target", positional=True)]
    entry: Annotated[
        str, Option(help="only this entry of the list that the key holds", positional=True)
    ] = ""


def run(args: Args, context: Context) -> Reply:
    path = editable_path(context)
    loaded = unset_value(path, args.key, args.entry)
    warnings = approve_change(context, loaded)
    complaint = "\n".join(f"warning: {text}" for text in warnings)
    key = normal_key(args.key)
    now = next((row.text for row in list_settings(loaded) if row.key == key), "")
    if args.entry:
        data = {"key": key, "value": now, "path": str(path), "warnings": warnings}
        return Reply(text=f"{key} = {now}  in {path}", data=data, stderr=complaint)
    said = f"; it is {now} by default" if now else ""
    data = {"key": key, "default": now, "path": str(path), "warnings": warnings}
    return Reply(text=f"{key} is taken out of {path}{said}", data=data, stderr=complaint)
