"""Take one key or table out of dos.toml, so that it has its default again."""

from typing import Annotated

from msgspec import Struct

from dos.config.edit import unset_value
from dos.config.show import rows
from dos.surfaces.cli.desk import Desk, Reply
from dos.surfaces.cli.options import Option

EXITS = {"unset": 0, "contract_error": 2}


class Args(Struct, kw_only=True):
    key: Annotated[str, Option(help="the key, as in supervise.target", positional=True)]


def run(args: Args, desk: Desk) -> Reply:
    path = desk.world.workspace.config
    loaded = unset_value(path, args.key)
    key = args.key.strip()
    now = next((row.text for row in rows(loaded) if row.key == key), "")
    said = f"; it is {now} by default" if now else ""
    return Reply(text=f"{key} is taken out of {path}{said}", data={"key": key, "default": now, "path": str(path)})
