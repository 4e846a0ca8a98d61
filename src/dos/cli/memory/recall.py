"""Check an agent's note against the repository.

A note is a markdown file that an agent keeps between conversations. What it says of commits, files,
imports and flags is compared with git and the files. A note about a person, and one that says
nothing of this kind, cannot be checked.
"""

import os
from typing import Annotated

from msgspec import Struct

from dos.memory.claims import find_claims
from dos.memory.io import store
from dos.memory.io.probe import probe_claims
from dos.memory.note import Note
from dos.memory.verdict import Answer, Verdict, judge, judge_unread
from dos.verbs.args import Option
from dos.verbs.context import Context, Reply
from dos.workspace import Workspace

MOST_CLAIMS = 500
EXITS = {"RECALL_FRESH": 0, "RECALL_UNVERIFIABLE": 0, "RECALL_STALE": 3, "contract_error": 2}
NEXT = {
    Answer.FRESH: "You may rely on it.",
    Answer.STALE: "Do not rely on it: read the repository, then correct or delete the note.",
    Answer.UNVERIFIABLE: "Read the repository before you rely on it.",
}


class Args(Struct, kw_only=True):
    """Which note."""

    name: Annotated[str, Option(help="name or path of the note", metavar="NAME", positional=True)]
    store: Annotated[
        str,
        Option(help="folder of the notes (default: Claude Code's for this one)", metavar="DIR"),
    ] = ""


def run(args: Args, context: Context) -> Reply:
    """Find the note and compare its claims with the repository."""
    workspace = context.lenient_world.workspace
    start = context.start_directory
    # Not pathlib: it raises for a name that no file system can have.
    if os.sep in args.name and os.path.isfile(start / args.name):  # noqa: PTH113
        found = store.read_note(start / args.name)
    else:
        found = store.find_note(store.find_store(workspace, start, args.store), args.name)
    verdict = recall(workspace, found)
    return Reply(
        code=EXITS[verdict.answer],
        text="\n".join([line(verdict), *_findings(verdict)]),
        data=verdict.to_dict(),
        next_action=NEXT[verdict.answer],
    )


def recall(workspace: Workspace, note: Note) -> Verdict:
    """Return the verdict on a note; nothing is asked about a note that is about a person.

    Nor about one that claims more than a person writes down: git is asked about each claim.
    """
    if note.is_opinion:
        return judge(note, [])
    claims = find_claims(note.body)
    if len(claims) > MOST_CLAIMS:
        return judge_unread(note, len(claims), MOST_CLAIMS)
    return judge(note, probe_claims(workspace, claims))


def line(verdict: Verdict) -> str:
    """Return the verdict as one line."""
    return f"{verdict.answer}  {verdict.memory}: {verdict.reason}"


def _findings(verdict: Verdict) -> list[str]:
    return [
        f"  {finding.status:<11} {finding.claim.raw}: {finding.ground_truth}"
        for finding in verdict.claims
    ]
