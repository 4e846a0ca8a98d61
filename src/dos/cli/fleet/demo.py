"""Run a real fleet of scripted agents on a sample repository.

Takes less than a minute, needs git and no API key, and changes nothing outside a temporary folder.
The agents lie, leave their lane, crash, hang and hit a limit; a worker and the supervisor are
killed. It ends with the proof of each landed unit and a report as an HTML page. `dos quickstart` is
the same.
"""

import shlex
import shutil
import tempfile
from pathlib import Path
from typing import Annotated

from msgspec import Struct, to_builtins

from dos.errors import BadInput
from dos.testing.demo import Demonstration, Result
from dos.text import LONGEST_PATH, quote
from dos.verbs.args import Option
from dos.verbs.context import Context, Reply

EXITS = {"landed": 0, "not-landed": 1, "contract_error": 2}


class Args(Struct, kw_only=True):
    """Where to keep the sample repository, if it is to be kept."""

    keep: Annotated[
        str,
        Option(help="create the sample repository in this folder and keep it", metavar="DIR"),
    ] = ""


def run(args: Args, context: Context) -> Reply:
    """Play the demonstration in a new folder, which is removed afterwards unless --keep names it.

    The exit code is 1 if a unit did not land: the demonstration also serves as a self-test.
    """
    if shutil.which("git") is None:
        raise BadInput("git is not installed", hint="Install git and run `dos demo` again.")
    if args.keep:
        home = _new_folder(args.keep)
        return _reply(_play(home, context), kept=str(home))
    home = Path(tempfile.mkdtemp(prefix="dos-demo-"))
    try:
        return _reply(_play(home, context), kept="")
    finally:
        shutil.rmtree(home, ignore_errors=True)


def _new_folder(name: str) -> Path:
    """Create the folder; refuse one that holds something."""
    folder = Path(name).absolute()
    hint = "Name a folder that does not exist yet."
    try:
        folder.mkdir(parents=True, exist_ok=True)
        is_empty = not any(folder.iterdir())
    except (OSError, ValueError) as error:
        why = error.strerror if isinstance(error, OSError) else "it is not a path"
        problem = f"{quote(name, LONGEST_PATH)} cannot be created: {why}"
        raise BadInput(problem, hint=hint) from error
    if not is_empty:
        raise BadInput(f"{quote(name, LONGEST_PATH)} is not an empty folder", hint=hint)
    return folder


def _play(home: Path, context: Context) -> Result:
    """Play it, printing as it goes; with --json only the result is printed."""

    def tell(text: str) -> None:
        """Print a text line by line, as the verbs in the demonstration would."""
        if not context.as_json:
            for line in text.split("\n"):
                context.print_line(line)

    return Demonstration(home, tell=tell, is_quiet=context.as_json).play()


def _reply(result: Result, *, kept: str) -> Reply:
    """Return how many units landed, and where the repository is if it was kept."""
    text = f"\n{result.landed} of {result.units} units landed in {result.seconds:.0f} s."
    if kept:
        text += f"\nThe repository is in {Path(kept) / 'greeter'}."
        key = shlex.quote(str(Path(kept).resolve() / "receipt-key"))
        text += f"\nIts receipts have a key of their own: export DOS_RECEIPT_KEY={key}"
    return Reply(
        code=EXITS["landed" if result.is_complete else "not-landed"],
        text=text,
        data=to_builtins(result) | {"kept": kept},
    )
