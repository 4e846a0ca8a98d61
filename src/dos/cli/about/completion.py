"""Print the completion script of a shell.

It completes verbs, options and the names of lanes.
bash: eval "$(dos completion bash)" in ~/.bashrc. zsh: eval "$(dos completion zsh)" in ~/.zshrc.
fish: dos completion fish > ~/.config/fish/completions/dos.fish.
`dos completion lanes` prints the lanes; the scripts call it.
"""

from typing import Annotated

from msgspec import Struct

from dos.verbs.args import Option
from dos.verbs.context import Context, Reply

EXITS = {"shown": 0, "contract_error": 2}


class Args(Struct, kw_only=True):
    what: Annotated[
        str, Option(help="the shell", positional=True, choices=("bash", "zsh", "fish", "lanes"))
    ]


def run(args: Args, context: Context) -> Reply:
    if args.what == "lanes":
        lanes = context.world.config.known_lanes()
        return Reply(text="\n".join(lanes), data={"lanes": lanes})
    from dos.cli.completion import script

    text = script(args.what)
    return Reply(text=text, data={"shell": args.what, "script": text})
