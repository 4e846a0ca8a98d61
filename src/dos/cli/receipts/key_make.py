"""Make the key that this runner signs receipts with. One that is there is never overwritten.

It lies in your own configuration folder, outside of every work tree, and only its owner may read it. The public half
lies beside it: give that to whoever is to check receipts.
"""

from pathlib import Path
from typing import Annotated

from msgspec import Struct

from dos.receipts.io import keys, public_keys
from dos.verbs.args import Option
from dos.verbs.context import Context, Reply

EXITS = {"made": 0, "contract_error": 2}


class Args(Struct, kw_only=True):
    out: Annotated[
        str, Option(help="where to, if not where receipts look for it", metavar="FILE")
    ] = ""


def run(args: Args, context: Context) -> Reply:
    path = Path(args.out) if args.out else public_keys.own_key()
    made = keys.make(path)
    public = public_keys.beside(path)
    return Reply(
        text=f"made {path}\npublic half: {public}\n{made.key_id}",
        data={
            "key_file": str(path),
            "public_file": str(public),
            "key_id": made.key_id,
            "public_key": made.line,
        },
        next_action=f"Give {public} to whoever is to check receipts.",
    )
