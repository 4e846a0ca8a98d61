"""The receipt of a landed unit: drafted from what was checked before the branch moved, signed once it has moved."""

import secrets
from collections.abc import Sequence
from typing import Any

from msgspec import Struct, structs, to_builtins

from dos.errors import BadInput, DosError
from dos.git.repository import Writer
from dos.machine import process
from dos.receipts import receipt as receipts
from dos.receipts.io import keys, notes, repository
from dos.receipts.io.signatures import load_signer
from dos.receipts.receipt import CommandRun, IssuedReceipt, NotAReceipt, Receipt, Source
from dos.regions import Region, region
from dos.times import now_stamp
from dos.units.unit import Landing
from dos.unknown import Unknown
from dos.witness.accountability import Accountability
from dos.witness.belief import Answer
from dos.witness.fact import cannot_fail
from dos.workspace import Workspace

GIT = "git"
COMMAND = "os_acceptance"


class DeclaredCommands(Struct, frozen=True, kw_only=True):
    """The commands that a landing has to pass, and who declared them."""

    scripts: tuple[str, ...] = ()
    source: Source = Source.NOBODY


def draft_receipt(
    git: Writer,
    landed: Landing,
    *,
    lane: Region,
    region_root: str,
    runs: Sequence[CommandRun] = (),
    declared: DeclaredCommands = DeclaredCommands(),
) -> dict[str, Any] | None:
    """What is known before the branch moves. It is journaled, so that a crash loses none of it."""
    repo = repository.repository_id(git, landed.commit)
    seen: dict[str, Any] = {"witness_author": GIT, "witness_surface": GIT}
    if runs:
        seen = describe_runs(runs) | {
            "witness_author": COMMAND,
            "verdict": Answer.CONFIRMED,
            "believe": True,
        }
        seen |= {"command_source": declared.source, "bound": can_fail(declared.scripts)}
    made = receipts.unsigned_receipt(
        claim=landed.unit,
        unit=landed.unit,
        repo="" if isinstance(repo, Unknown) else repo,
        commit=landed.commit,
        tree=repository.tree_of(git, landed.commit) or "",
        base=landed.base,
        commits=tuple(git.commits_between(landed.base, landed.commit)),
        target=f"refs/heads/{landed.branch}",
        region=lane.globs,
        region_root=region_root,
        paths_in_region=lane.is_known,
        runner=process.host(),
        nonce=secrets.token_hex(16),
        accountability_tier=Accountability.OS_RECORDED,
        timestamp=now_stamp(),
        **seen,
    )
    try:
        return to_builtins(receipts.validated(made))  # type: ignore[no-any-return]
    except BadInput:
        return None  # said when the receipt is issued


def describe_runs(runs: Sequence[CommandRun]) -> dict[str, Any]:
    """What a receipt says of commands that were run on one tree, one after the other."""
    script = joined_script([run.script for run in runs])
    argv = ("sh", "-c", script)
    plain = receipts.is_plain_text(script)
    return {
        "command": argv if plain else (),
        "command_digest": receipts.command_digest(argv),
        "witness_surface": script if plain else "a command of several lines",
        "exit_code": runs[-1].exit_code,
        "output_digest": receipts.combined_digest([run.output_digest for run in runs]),
        "started": runs[0].started,
        "ended": runs[-1].ended,
    }


def joined_script(scripts: Sequence[str]) -> str:
    """One after the other, as long as they pass."""
    return scripts[0] if len(scripts) == 1 else " && ".join(f"( {script} )" for script in scripts)


def can_fail(scripts: Sequence[str]) -> bool:
    """A command that ends well whatever was done says nothing about a unit."""
    return any(not cannot_fail(("sh", "-c", script)) for script in scripts)


def issue_receipt(git: Writer, workspace: Workspace, landed: Landing, *, ref: str) -> IssuedReceipt:
    """Sign the receipt that was drafted and lay it into the notes. A landing is never undone because of its receipt.

    `ref` is what shows here where it landed.
    """
    # Without a draft nobody knows any more what was run: then git alone is the witness.
    found = receipts.decode_receipt(
        landed.receipt or draft_receipt(git, landed, lane=region([]), region_root="")
    )
    if isinstance(found, NotAReceipt):
        return IssuedReceipt(
            receipt=None, message="it has no receipt: a name in it holds what a receipt may not"
        )
    said = []
    try:
        receipt = _with_ancestry(git, found, landed, ref)
        receipt, made = _sign(receipt, workspace)
        said += [made] if made else []
    except (DosError, OSError) as error:
        receipt = found
        said.append(f"its receipt is not signed: {error}")
    try:
        notes.add_note(git, receipt)
    except (DosError, OSError) as error:
        said.append(f"its receipt is in the journal and not in git's notes: {error}")
    return IssuedReceipt(receipt=to_builtins(receipt), message="; ".join(said))


def _with_ancestry(git: Writer, receipt: Receipt, landed: Landing, ref: str) -> Receipt:
    holds = git.is_ancestor(landed.commit, ref)
    survives = holds and repository.survives(git, landed.base, landed.commit, ref)
    return structs.replace(receipt, ancestor=holds, survives=survives)


def _sign(receipt: Receipt, workspace: Workspace) -> tuple[Receipt, str]:
    path = keys.own_key()
    made = path.suffix != ".pub" and keys.ensure_key(path)
    who = load_signer(path, workspace)
    return who.sign(
        receipt
    ), f"made the key {who.key.key_id} that signs receipts: {path}" if made else ""
