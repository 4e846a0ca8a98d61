"""Print the path of dos.toml."""

from msgspec import Struct

from dos.verbs.context import Context, Reply

EXITS = {"exists": 0, "missing": 1, "contract_error": 2}


class Args(Struct, kw_only=True):
    pass


def run(args: Args, context: Context) -> Reply:
    path = context.world.workspace.config
    there = path.exists()
    return Reply(
        code=int(not there),
        text=str(path),
        data={"path": str(path), "exists": there},
        next_action="dos init",
    )
