"""Attests a claim: runs a command or compares two snapshots, and drafts a receipt of the result.

`dos attest` signs what `attest_claim` returns. The receipt is bound to a unit only if the command
was declared for it before the commit was made: otherwise the claimant could have chosen it.
"""

import os
import secrets
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from hashlib import sha256
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from msgspec import Struct, structs

from dos.agents.io import environment
from dos.config.load import FILE_NAME
from dos.errors import BadInput, WorkspaceMissing
from dos.git import commits
from dos.git.repository import Writer
from dos.machine import process
from dos.receipts.io import acceptance, draft, repository
from dos.receipts.receipt import (
    CommandRun,
    Receipt,
    Source,
    combined_digest,
    is_plain_text,
    parse_timestamp,
    unsigned_receipt,
    validated,
)
from dos.text import quote
from dos.times import now_stamp, utc_stamp
from dos.units.io import sources
from dos.unknown import Unknown
from dos.witness import belief
from dos.witness.accountability import Accountability
from dos.witness.belief import EffectClaim, Verdict
from dos.witness.fact import EvidenceFacts, attest, no_signal, refute
from dos.witness.io.files import compare_snapshots, parse_state, read_bounded
from dos.world import World

SNAPSHOTS = "state_diff"
# The exit codes with which a shell says that a command cannot be run.
_CANNOT_RUN = (126, 127)
_STATUS = (
    "status",
    "--porcelain=v1",
    "-z",
    "--no-renames",
    "--untracked-files=all",
    "--ignore-submodules=none",
)


class AttestRequest(Struct, frozen=True, kw_only=True):
    """A claim, the commit it is about, and the witness to ask: a command or two snapshots."""

    claim: str
    unit: str = ""
    commit: str = "HEAD"
    narrated: str = ""
    accept_cmd: str = ""
    before: str = ""
    after: str = ""
    third_party: bool = False
    timestamp: str = ""
    expires_days: float | None = None


class BaseRun(Struct, frozen=True, kw_only=True):
    """What a command said on the commit below the work."""

    tree: str
    run: CommandRun | None
    tells_apart: bool  # it failed there, also with the work's own tests


# Runs a command, without the work that a receipt is about.
RunOnBase = Callable[[Receipt, str], BaseRun]
# What the witness says, and the fields of the receipt about how it was found out.
Observation = tuple[EvidenceFacts, dict[str, Any]]


def attest_claim(
    world: World, asked: AttestRequest, run_on_base: RunOnBase | None = None
) -> tuple[Receipt, Verdict]:
    """Return the unsigned receipt and the verdict; adverse answers get a receipt too.

    A command that is bound to a unit and passes is also given to `run_on_base`: only one that fails
    there tells whether the unit was done. Raises BadInput before anything is run, where the
    receipt could not be made.
    """
    receipt = validated(_for_commit(world, asked))
    claim = EffectClaim(key=asked.claim, narrated=asked.narrated)
    if not asked.claim.strip():
        return structs.replace(receipt, verdict=belief.Answer.NO_CLAIM), belief.judge(claim, ())
    if asked.accept_cmd:
        facts, fields = _command(world, asked, receipt)
        if run_on_base and fields["bound"] and fields["exit_code"] == 0 and receipt.base:
            fields |= _base_fields(run_on_base(receipt, asked.accept_cmd))
    else:
        facts, fields = _snapshots(asked)
    verdict = belief.judge(claim, [facts])
    answer = {
        "accountability_tier": verdict.accountability or "",
        "verdict": verdict.answer,
        "believe": verdict.believe,
        "refuted": verdict.refuted,
        "timestamp": asked.timestamp or now_stamp(),
    }
    return structs.replace(receipt, **fields, **answer), verdict


def _for_commit(world: World, asked: AttestRequest) -> Receipt:
    """Return the part of the receipt that names the commit, its tree and this repository."""
    if world.workspace.common is None:
        raise WorkspaceMissing(
            f"{world.workspace.root} is not in a git repository, but a receipt is about a commit",
            hint="cd into one, or give --workspace.",
        )
    git = world.git
    commit = commits.resolve_commit(git, asked.commit)
    repo = repository.repository_id(git, commit)
    if isinstance(repo, Unknown):
        raise BadInput(
            f"a receipt needs the id of the repository, but {repo.why}",
            hint=f"git -C {git.tree} fetch --unshallow",
        )
    unit = ""
    if asked.unit:
        unit = sources.resolve_unit_name(world, asked.unit)
    base = git.commit_of(f"{commit}^1") or ""
    branch = git.branch()
    target = ""
    if branch and git.is_ancestor(commit, f"refs/heads/{branch}"):
        target = f"refs/heads/{branch}"
    return unsigned_receipt(
        claim=asked.claim,
        unit=unit,
        narrated=asked.narrated,
        repo=repo,
        commit=commit,
        tree=repository.tree_of(git, commit) or "",
        base=base,
        target=target,
        ancestor=bool(target),
        survives=bool(target and base) and repository.survives(git, base, commit, target),
        runner=process.host(),
        nonce=secrets.token_hex(16),
        timestamp=asked.timestamp or now_stamp(),
        expires=_expires(asked),
    )


def _command(world: World, asked: AttestRequest, receipt: Receipt) -> Observation:
    """Run the acceptance command on a tree that is exactly the commit's."""
    script = asked.accept_cmd
    git = world.git
    if not is_plain_text(script):
        raise BadInput(
            f"the command holds a control character: {quote(script)}", hint="Put it into a script."
        )
    commit = receipt.commit[:9]
    difference = _difference(git.tree, receipt.commit)
    if difference:
        raise BadInput(
            f"{git.tree} is not as {commit}: {difference}; the command would judge another tree",
            hint=f"git stash --include-untracked; or: git worktree add --detach ../clean {commit}",
        )
    variables = environment.inherited_environment(os.environ, world.config)
    seconds = world.config.workers.wall_seconds
    result = acceptance.run_acceptance(git.tree, script, variables, seconds)
    run = result.run
    assert run is not None
    rung = Accountability.OS_RECORDED
    detail = f"{quote(script)}: {result.detail}"
    changed = ""
    if run.exit_code is None or run.exit_code in _CANNOT_RUN:
        say = no_signal
    else:
        say = refute
        if run.exit_code == 0:
            say = attest
        # Untracked files are allowed now: a build leaves some.
        changed = _difference(git.tree, receipt.commit, untracked=False)
    if changed:
        say = no_signal
        detail = f"the tree changed while the command ran: {changed}"
    source, was_declared = _declared(world, receipt, script)
    fields = acceptance.describe_runs([run]) | {
        "command_source": source,
        "bound": was_declared and acceptance.can_fail([script]),
        "witness_author": draft.COMMAND,
    }
    return say(draft.COMMAND, rung, asked.claim, detail), fields


def _base_fields(before: BaseRun) -> dict[str, Any]:
    """Return the fields of a receipt about the run on the commit's parent."""
    fields: dict[str, Any] = {"base_tree": before.tree, "tells_apart": before.tells_apart}
    if before.run:
        fields["base_exit_code"] = before.run.exit_code
        fields["base_output_digest"] = before.run.output_digest
    return fields


def _difference(tree: Path, commit: str, *, untracked: bool = True) -> str:
    """Return how the files differ from a commit, or an empty text.

    They are compared by content with an index of its own, whatever git's index was told to skip.
    """
    git = Writer(tree)
    head = git.commit_of("HEAD")
    if head != commit:
        return f"it is at {(head or 'no commit')[:9]}"
    with TemporaryDirectory(prefix="dos-attest-") as folder:
        index = str(Path(folder) / "index")
        whole = ("-c", "core.sparseCheckout=false")
        git.run(*whole, "read-tree", commit, index=index)
        entries = git.run(*whole, *_STATUS, index=index).split("\0")
    for entry in entries:
        if entry and (untracked or not entry.startswith("??")):
            return f"{quote(entry[3:])} differs"
    return ""


def _declared(world: World, receipt: Receipt, script: str) -> tuple[Source, bool]:
    """Return who declared the command, and whether that was declared before the commit."""
    if not receipt.unit:
        return Source.CALLER, False
    config = world.config
    root = world.workspace.root
    unit = sources.find_unit(sources.read(world.workspace, config).units, receipt.unit)
    if unit and unit.acceptance == script:
        source = Source.UNIT
        document = unit.document
    elif unit and script in (config.workers.acceptance, config.workers.test):
        source = Source.WORKSPACE
        document = FILE_NAME
    else:
        return Source.CALLER, False
    home = Writer(root)
    path = home.run("rev-parse", "--show-prefix").strip() + document
    before = home.object_of(f"{receipt.base}:{path}") if receipt.base else None
    is_file = before is not None and (root / document).is_file()
    return source, is_file and home.run("hash-object", "--", document).strip() == before


def _snapshots(asked: AttestRequest) -> Observation:
    """Compare two snapshots that the caller names, and so vouches for."""
    started = now_stamp()
    rung = Accountability.OS_RECORDED
    if asked.third_party:
        rung = Accountability.THIRD_PARTY
    files = [Path(asked.before), Path(asked.after)]
    contents = [read_bounded(file) for file in files]
    before, after = map(parse_state, contents, files)
    if isinstance(before, Unknown):
        facts = no_signal(SNAPSHOTS, rung, asked.claim, before.why)
    elif isinstance(after, Unknown):
        facts = no_signal(SNAPSHOTS, rung, asked.claim, after.why)
    else:
        key = asked.claim.removeprefix("-")
        is_deletion = asked.claim.startswith("-")
        facts = compare_snapshots(before, after, key, rung, deleted=is_deletion)
    digests = [_digest(data) for data in contents]
    return facts, {
        "witness_surface": f"{asked.before}→{asked.after}",
        "witness_author": SNAPSHOTS,
        "output_digest": combined_digest(digests),
        "started": started,
        "ended": now_stamp(),
    }


def _digest(data: bytes | Unknown) -> str:
    """Return the digest of a snapshot; empty for one that could not be read."""
    if isinstance(data, Unknown):
        return ""
    return sha256(data).hexdigest()


def _expires(asked: AttestRequest) -> str:
    """Return when the receipt expires, counted from its timestamp; empty: never."""
    if asked.expires_days is None:
        return ""
    start = None
    if asked.timestamp:
        start = parse_timestamp(asked.timestamp)
    until = (start or datetime.now(UTC)) + timedelta(days=asked.expires_days)
    return utc_stamp(int(until.timestamp() * 1000))
