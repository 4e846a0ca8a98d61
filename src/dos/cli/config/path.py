"""Print the path of dos.toml.

It exits 1 where the file does not exist; then it prints where `dos init` would write it.
"""

from msgspec import Struct

from dos.verbs.context import Context, Reply

EXITS = {"exists": 0, "missing": 1, "contract_error": 2}


class Args(Struct, kw_only=True):
    pass


def run(_args: Args, context: Context) -> Reply:
    path = context.world.workspace.config
    exists = path.exists()
    return Reply(
        code=int(not exists),
        text=str(path),
        data={"path": str(path), "exists": exists},
        next_action="dos init",
    )
