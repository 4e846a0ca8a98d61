"""Create the key that signs receipts on this runner.

An existing key is never overwritten. The key is stored in your configuration folder, outside every
work tree, readable by its owner only. The public half is stored beside it: give that to the people
who check receipts.
"""

from pathlib import Path
from typing import Annotated

from msgspec import Struct

from dos.receipts.io import keys
from dos.verbs.args import Option
from dos.verbs.context import Context, Reply

EXITS = {"made": 0, "contract_error": 2}


class Args(Struct, kw_only=True):
    """Where to write the key."""

    out: Annotated[
        str, Option(help="path of the key (default: where `dos attest` looks)", metavar="FILE")
    ] = ""


def run(args: Args, _context: Context) -> Reply:
    """Write the key and its public half; raises BadInput if the key exists or cannot be written."""
    path = keys.own_key()
    if args.out:
        path = Path(args.out)
    made = keys.make_key(path)
    public = keys.public_path(path)
    return Reply(
        text=f"created {path}\npublic half: {public}\n{made.key_id}",
        data={
            "key_file": str(path),
            "public_file": str(public),
            "key_id": made.key_id,
            "public_key": made.line,
        },
        next_action=f"Give {public} to the people who check receipts.",
    )
