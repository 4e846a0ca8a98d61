"""Print the value of one setting, for scripts.

A known key without a value exits 1 and prints nothing. For a table it prints the keys with values.
"""

from typing import Annotated

from msgspec import Struct

from dos.cli.config import settings
from dos.config.show import as_json
from dos.verbs.args import Option
from dos.verbs.context import Context, Reply

EXITS = {"set": 0, "unset": 1, "contract_error": 2}


class Args(Struct, kw_only=True):
    key: Annotated[str, Option(help="a key, such as supervise.target", positional=True)]


def run(args: Args, context: Context) -> Reply:
    matches = settings.find_settings(context, args.key)
    first = matches[0]
    if first.key == settings.normal_key(args.key):
        has_value = first.value is not None
        return Reply(
            code=0 if has_value else EXITS["unset"],
            text=settings.bare_value(first),
            data=as_json([first])[0],
        )
    lines = [f"{setting.key} = {setting.text}" for setting in matches if setting.value is not None]
    return Reply(text="\n".join(lines), data=as_json(matches))
