"""Print the value of one setting, for scripts.

A key that is known and has no value exits 1 and prints nothing.
"""

from typing import Annotated

from msgspec import Struct

from dos.cli.config import settings
from dos.config.show import as_json
from dos.verbs.args import Option
from dos.verbs.context import Context, Reply

EXITS = {"set": 0, "unset": 1, "contract_error": 2}


class Args(Struct, kw_only=True):
    key: Annotated[str, Option(help="a key, as in supervise.target", positional=True)]


def run(args: Args, context: Context) -> Reply:
    found = settings.find_rows(context, args.key)
    one = found[0] if found[0].key == settings.normal_key(args.key) else None
    if one is None:  # a table: its keys by name
        return Reply(
            text="\n".join(f"{row.key} = {row.text}" for row in found if row.value is not None),
            data=as_json(found),
        )
    return Reply(code=int(one.value is None), text=settings.bare_value(one), data=as_json([one])[0])
