"""Sees for itself whether a claim holds, by a command or by two snapshots, and writes down what it saw."""

import os
import secrets
from datetime import UTC, datetime, timedelta
from hashlib import sha256
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from msgspec import Struct, structs

from dos.agents.io import environment as surroundings
from dos.config.load import FILE_NAME
from dos.errors import BadInput, WorkspaceMissing
from dos.git import commits
from dos.git.repository import Writer
from dos.machine import process
from dos.receipts import receipt as receipts
from dos.receipts.io import acceptance, draft, repository
from dos.receipts.receipt import Receipt, Source
from dos.text import quote
from dos.times import now_stamp, utc_stamp
from dos.units.io import sources
from dos.unknown import Unknown
from dos.witness import belief, state_diff
from dos.witness.accountability import Accountability
from dos.witness.belief import EffectClaim, Verdict
from dos.witness.fact import EvidenceFacts, attest, no_signal, refute
from dos.witness.io import writable
from dos.witness.io.files import parse_state
from dos.world import World

COMMAND, SNAPSHOTS = draft.COMMAND, "state_diff"
_STATUS = (
    "status",
    "--porcelain=v1",
    "-z",
    "--no-renames",
    "--untracked-files=all",
    "--ignore-submodules=none",
)


class AttestRequest(Struct, frozen=True, kw_only=True):
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


# A witness's word, and what the receipt says of how it came about.
Observation = tuple[EvidenceFacts, dict[str, Any]]


def attest_claim(world: World, asked: AttestRequest) -> tuple[Receipt, Verdict]:
    """The receipt, not signed yet, for every answer: also for those that nobody likes."""
    receipt = receipts.validated(_for_commit(world, asked))  # before anything is run
    claim = EffectClaim(key=asked.claim, narrated=asked.narrated)
    if not asked.claim.strip():
        return structs.replace(receipt, verdict=belief.Answer.NO_CLAIM), belief.judge(claim, ())
    facts, fields = _command(world, asked, receipt) if asked.accept_cmd else _snapshots(asked)
    verdict = belief.judge(claim, [facts])
    said = {
        "accountability_tier": verdict.accountability or "",
        "verdict": verdict.answer,
        "believe": verdict.believe,
        "refuted": verdict.refuted,
        "timestamp": asked.timestamp or now_stamp(),
    }
    return structs.replace(receipt, **fields, **said), verdict


def _for_commit(world: World, asked: AttestRequest) -> Receipt:
    """What it is about: a commit and its tree, in this repository."""
    if world.workspace.common is None:
        raise WorkspaceMissing(
            f"{world.workspace.root} is not in a git repository, and a receipt is of a commit",
            hint="cd into one, or give --workspace.",
        )
    git = world.git
    commit = commits.resolve_commit(git, asked.commit)
    repo = repository.repository_id(git, commit)
    if isinstance(repo, Unknown):
        raise BadInput(
            f"a receipt names its repository, and {repo.why}",
            hint=f"git -C {git.tree} fetch --unshallow",
        )
    base, branch = git.commit_of(f"{commit}^1") or "", git.branch()
    target = (
        f"refs/heads/{branch}" if branch and git.is_ancestor(commit, f"refs/heads/{branch}") else ""
    )
    return receipts.unsigned_receipt(
        claim=asked.claim,
        unit=sources.resolve_unit_name(world, asked.unit) if asked.unit else "",
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
    script, git = asked.accept_cmd, world.git
    if not receipts.is_plain_text(script):
        raise BadInput(
            f"the command holds a control character: {quote(script)}", hint="Put it into a script."
        )
    if dirty := _difference(git.tree, receipt.commit):
        raise BadInput(
            f"{git.tree} is not as {receipt.commit[:9]}: {dirty}; what is run there would be said of another tree",
            hint=f"git stash --include-untracked; or: git worktree add --detach ../clean {receipt.commit[:9]}",
        )
    environment = surroundings.inherited_environment(os.environ, world.config)
    answer = acceptance.run_acceptance(
        git.tree, script, environment, world.config.workers.wall_seconds
    )
    run = answer.run
    assert run is not None
    rung, said = Accountability.OS_RECORDED, f"{quote(script)}: {answer.detail}"
    if run.exit_code is None or run.exit_code in (
        126,
        127,
    ):  # the shell's word for what cannot be run
        facts = no_signal(COMMAND, rung, asked.claim, said)
    elif moved := _difference(git.tree, receipt.commit, untracked=False):
        facts = no_signal(
            COMMAND, rung, asked.claim, f"the tree changed while it was looked at: {moved}"
        )
    else:
        facts = (attest if run.exit_code == 0 else refute)(COMMAND, rung, asked.claim, said)
    source, declared = _declared(world, receipt, script)
    bound = declared and acceptance.can_fail([script])
    return facts, acceptance.describe_runs([run]) | {
        "command_source": source,
        "bound": bound,
        "witness_author": COMMAND,
    }


def _difference(tree: Path, commit: str, *, untracked: bool = True) -> str:
    """In what the files differ from a commit: by their contents, whatever git's own index was told to overlook."""
    git = Writer(tree)  # of an index of its own
    head = git.commit_of("HEAD")
    if head != commit:
        return f"it is at {(head or 'no commit')[:9]}"
    with TemporaryDirectory(prefix="dos-attest-") as place:
        index = str(Path(place) / "index")
        whole = ("-c", "core.sparseCheckout=false")
        git.run(*whole, "read-tree", commit, index=index)
        found = git.run(*whole, *_STATUS, index=index).split("\0")
    changed = [entry for entry in found if entry and (untracked or not entry.startswith("??"))]
    return f"{quote(changed[0][3:])} differs" if changed else ""


def _declared(world: World, receipt: Receipt, script: str) -> tuple[Source, bool]:
    """Who declared the command, and whether that stood there before the commit was made."""
    if not receipt.unit:
        return Source.CALLER, False
    config, root = world.config, world.workspace.root
    unit = sources.find_unit(sources.read(world.workspace, config).units, receipt.unit)
    if unit and unit.acceptance == script:
        source, document = Source.UNIT, unit.document
    elif unit and script in (config.workers.acceptance, config.workers.test):
        source, document = Source.WORKSPACE, FILE_NAME
    else:
        return Source.CALLER, False
    home = Writer(root)
    path = home.run("rev-parse", "--show-prefix").strip() + document
    before = home.object_of(f"{receipt.base}:{path}") if receipt.base else None
    is_file = before is not None and (root / document).is_file()
    return source, is_file and home.run("hash-object", "--", document).strip() == before


def _snapshots(asked: AttestRequest) -> Observation:
    files = [Path(asked.before), Path(asked.after)]
    started = now_stamp()
    rung = Accountability.THIRD_PARTY if asked.third_party else Accountability.OS_RECORDED
    contents = [writable.read_bounded(file) for file in files]
    one, other = map(parse_state, contents, files)
    if isinstance(one, Unknown):
        facts = no_signal(SNAPSHOTS, rung, asked.claim, one.why)
    elif isinstance(other, Unknown):
        facts = no_signal(SNAPSHOTS, rung, asked.claim, other.why)
    else:
        deleted = asked.claim.startswith("-")
        facts = state_diff.judge(one, other, asked.claim.removeprefix("-"), rung, deleted=deleted)
    digests = ["" if isinstance(data, Unknown) else sha256(data).hexdigest() for data in contents]
    return facts, {
        "witness_surface": f"{asked.before}→{asked.after}",
        "witness_author": SNAPSHOTS,
        "output_digest": receipts.combined_digest(digests),
        "started": started,
        "ended": now_stamp(),
    }


def _expires(asked: AttestRequest) -> str:
    if asked.expires_days is None:
        return ""
    said = receipts.parse_timestamp(asked.timestamp) if asked.timestamp else None
    until = (said or datetime.now(UTC)) + timedelta(days=asked.expires_days)
    return utc_stamp(int(until.timestamp() * 1000))
