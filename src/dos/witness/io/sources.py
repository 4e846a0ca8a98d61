"""Every witness by its name, those of dos before what other packages add, and what they say about a claim."""

import re
import shlex
from collections.abc import Callable, Sequence
from typing import Any

from msgspec import structs

from dos import plugins
from dos.errors import BadInput, GitFailed
from dos.git import commits
from dos.git.commits import resolve_claimed_commit
from dos.git.repository import Reader
from dos.machine import commands
from dos.testwitness.io import recorded
from dos.text import did_you_mean, quote
from dos.unknown import Unknown
from dos.witness import state_diff
from dos.witness.accountability import Accountability
from dos.witness.belief import EffectClaim
from dos.witness.fact import EvidenceFacts, attest, cannot_fail, no_signal, refute
from dos.witness.io import ci, citations, files
from dos.witness.io.writable import caller_root
from dos.world import World

EXIT_CODE = "exit"
OS_RECORDED = Accountability.OS_RECORDED
TIMEOUT_SECONDS = 120.0


def witness_exit_code(
    world: World, subject: str, timeout_seconds: float = TIMEOUT_SECONDS
) -> EvidenceFacts:
    try:
        words = shlex.split(subject)
    except ValueError as error:
        return no_signal(
            EXIT_CODE, OS_RECORDED, subject, f"{quote(subject)} is not a command: {error}"
        )
    if not words:
        return no_signal(EXIT_CODE, OS_RECORDED, subject, "no command is given")
    if cannot_fail(words):
        return no_signal(
            EXIT_CODE,
            OS_RECORDED,
            subject,
            f"{quote(subject)} cannot fail, so it witnesses nothing",
        )
    ran = commands.run(words, caller_root(world.workspace), timeout_seconds)
    if isinstance(ran, Unknown):
        return no_signal(EXIT_CODE, OS_RECORDED, subject, ran.why)
    said = f"{quote(subject)} ended with {ran.code}"
    if ran.code == 0:
        return attest(EXIT_CODE, OS_RECORDED, subject, said)
    return refute(
        EXIT_CODE,
        OS_RECORDED,
        subject,
        f"{said}: {ran.last_error_line}" if ran.last_error_line else said,
    )


ANCESTRY = "git"
HEAD = "HEAD"
SHOWN = 9
_HASH = re.compile(r"[0-9a-fA-F]{7,64}")


def witness_ancestry(world: World, subject: str) -> EvidenceFacts:
    """`COMMIT` in HEAD, or `COMMIT:BRANCH`."""
    commit, _, target = subject.strip().partition(":")
    target = target or HEAD
    try:
        return _look_up_commit(world.git, subject, commit, target)
    except GitFailed as error:
        return no_signal(ANCESTRY, OS_RECORDED, subject, error.message)


def _look_up_commit(git: Reader, subject: str, commit: str, target: str) -> EvidenceFacts:
    if isinstance(tip := resolve_claimed_commit(git, target), Unknown):
        return no_signal(ANCESTRY, OS_RECORDED, subject, tip.why)
    if isinstance(sha := resolve_claimed_commit(git, commit), Unknown):
        return no_signal(ANCESTRY, OS_RECORDED, subject, sha.why)
    if _is_named_after(git, commit, target):
        return no_signal(
            ANCESTRY,
            OS_RECORDED,
            subject,
            f"{target} always contains {commit}: that is no evidence",
        )
    inside = commits.is_ancestor(git, sha, tip)
    if isinstance(inside, Unknown):
        return no_signal(ANCESTRY, OS_RECORDED, subject, inside.why)
    if inside:
        return attest(ANCESTRY, OS_RECORDED, subject, f"{target} contains {sha[:SHOWN]}")
    if git.run("rev-parse", "--is-shallow-repository").strip() == "true":
        return no_signal(
            ANCESTRY,
            OS_RECORDED,
            subject,
            f"{target} does not show {sha[:SHOWN]}, and the clone is shallow",
        )
    return refute(ANCESTRY, OS_RECORDED, subject, f"{target} does not contain {sha[:SHOWN]}")


def _is_named_after(git: Reader, commit: str, target: str) -> bool:
    """A name that is made from the target's own, such as HEAD~2, is in it by its making."""
    if _HASH.fullmatch(commit):
        return False
    start = re.split(r"[~^@{]", commit)[0] or HEAD
    return _full_name(git, start) == _full_name(git, target)


def _full_name(git: Reader, name: str) -> str:
    if git.object_of(name) is None:
        return name
    lines = git.run("rev-parse", "--symbolic-full-name", "--end-of-options", name).split()
    return lines[-1] if lines else name


LOWEST = Accountability.AGENT_AUTHORED
NULL = "null"
Warn = Callable[[str], None]

BUILT_IN: dict[str, Callable[[World, str], EvidenceFacts]] = {
    NULL: lambda world, subject: no_signal(NULL, LOWEST, subject, "it witnesses nothing"),
    ANCESTRY: witness_ancestry,
    EXIT_CODE: witness_exit_code,
    ci.NAME: ci.witness,
    recorded.NAME: recorded.witness_recorded_tests,
    state_diff.NAME: files.witness_snapshots,
    citations.NAME: citations.witness,
    files.FILE: files.witness_file,
}
# The names that released versions have for them.
ALIASES = {
    "ci_status": "ci",
    "os_acceptance": "exit",
    "citation_resolve": "citation",
    "state_diff": "state-diff",
}
OWN = {*BUILT_IN, *ALIASES}


def gather(
    world: World, claim: EffectClaim, wanted: Sequence[tuple[str, str]], warn: Warn
) -> list[EvidenceFacts]:
    """Each witness by name, with its subject, or about what is claimed where that is empty.

    Nobody is asked before every name is known, and a blank claim asks nobody.
    """
    asking = [_open_source(world, name, subject, claim.probe, warn) for name, subject in wanted]
    return [ask() for ask in asking] if claim.key.strip() else []


def gather_evidence(source: Any, subject: str, config: Any, *, name: str = "") -> EvidenceFacts:
    """What a source says, under its own name and at most at the rung that it declares."""
    called, rung = name or str(getattr(source, "name", "")), _declared(source)
    said = plugins.typed_answer(lambda: source.gather(subject, config), EvidenceFacts)
    if isinstance(said, Unknown):
        return no_signal(called, rung, subject, said.why)
    least = min(rung, said.accountability, key=lambda each: each.rank)
    return structs.replace(said, source_name=called, subject=subject, accountability=least)


def source_names(warn: Warn) -> list[str]:
    return [*BUILT_IN, *plugins.load_others(plugins.EVIDENCE_SOURCES, OWN, warn)]


def _declared(source: Any) -> Accountability:
    """A rung that is none is the lowest."""
    rung = getattr(source, "accountability", None)
    return rung if isinstance(rung, Accountability) else LOWEST


def _open_source(
    world: World, name: str, subject: str, claimed: str, warn: Warn
) -> Callable[[], EvidenceFacts]:
    name = ALIASES.get(name, name)
    if name == EXIT_CODE and not subject.strip():
        # What an agent calls its claim must never be run.
        raise BadInput(
            f"the source {name!r} has no command to run",
            hint=f"For example: --source '{name}=make test'",
        )
    subject = subject or claimed
    if name == state_diff.NAME:  # the key that it looks for may be what is claimed
        return lambda: files.witness_snapshots(world, subject, claimed)
    if name in BUILT_IN:
        return lambda: BUILT_IN[name](world, subject)
    found = plugins.load_others(plugins.EVIDENCE_SOURCES, OWN, warn)
    if name not in found:
        raise BadInput(
            f"there is no evidence source {quote(name)}",
            hint=did_you_mean(name, [*BUILT_IN, *found], "sources"),
        )
    return lambda: gather_evidence(found[name], subject, world.config, name=name)
