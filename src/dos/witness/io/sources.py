"""The witnesses by name, and what they say about a claim.

`gather` asks the ones that a caller names. Two built-in witnesses are here, the exit code of a
command and git's history; the others have their own modules. Built-in witnesses come before those
that other packages add.
"""

import re
import shlex
from collections.abc import Callable, Sequence
from functools import partial
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
from dos.witness.accountability import Accountability
from dos.witness.belief import EffectClaim
from dos.witness.fact import EvidenceFacts, attest, cannot_fail, no_signal, refute
from dos.witness.io import ci, citations, files
from dos.witness.io.files import caller_root
from dos.world import World

EXIT_CODE = "exit"
ANCESTRY = "git"
NULL = "null"
OS_RECORDED = Accountability.OS_RECORDED
LOWEST = Accountability.AGENT_AUTHORED
TIMEOUT_SECONDS = 120.0
HEAD = "HEAD"
SHOWN = 9  # characters of a commit
_HASH = re.compile(r"[0-9a-fA-F]{7,64}")
Warn = Callable[[str], None]


# The exit code of a command


def witness_exit_code(
    world: World, subject: str, timeout_seconds: float = TIMEOUT_SECONDS
) -> EvidenceFacts:
    """Run the command that is the subject, and take its exit code as recorded by the system.

    A command that cannot fail, cannot be started or does not end in time is no signal.
    """
    shown = quote(subject)
    try:
        words = shlex.split(subject)
    except ValueError as error:
        return no_signal(EXIT_CODE, OS_RECORDED, subject, f"{shown} is not a command: {error}")
    if not words:
        return no_signal(EXIT_CODE, OS_RECORDED, subject, "no command is given")
    if cannot_fail(words):
        why = f"{shown} cannot fail, so it witnesses nothing"
        return no_signal(EXIT_CODE, OS_RECORDED, subject, why)
    ran = commands.run(words, caller_root(world.workspace), timeout_seconds)
    if isinstance(ran, Unknown):
        return no_signal(EXIT_CODE, OS_RECORDED, subject, ran.why)
    detail = f"{shown} ended with {ran.code}"
    if ran.code == 0:
        return attest(EXIT_CODE, OS_RECORDED, subject, detail)
    if ran.last_error_line:
        detail = f"{detail}: {ran.last_error_line}"
    return refute(EXIT_CODE, OS_RECORDED, subject, detail)


# Whether a branch contains a commit


def witness_ancestry(world: World, subject: str) -> EvidenceFacts:
    """Say whether git's history contains `COMMIT` in HEAD, or `COMMIT:BRANCH` in a branch."""
    commit, _, target = subject.strip().partition(":")
    target = target or HEAD
    try:
        return _look_up_commit(world.git, subject, commit, target)
    except GitFailed as error:
        return no_signal(ANCESTRY, OS_RECORDED, subject, error.message)


def _look_up_commit(git: Reader, subject: str, commit: str, target: str) -> EvidenceFacts:
    """Say whether the target contains the commit, unless its name alone implies it."""
    tip = resolve_claimed_commit(git, target)
    if isinstance(tip, Unknown):
        return no_signal(ANCESTRY, OS_RECORDED, subject, tip.why)
    sha = resolve_claimed_commit(git, commit)
    if isinstance(sha, Unknown):
        return no_signal(ANCESTRY, OS_RECORDED, subject, sha.why)
    if _is_named_after(git, commit, target):
        why = f"{target} always contains {commit}: that is no evidence"
        return no_signal(ANCESTRY, OS_RECORDED, subject, why)
    is_contained = commits.is_ancestor(git, sha, tip)
    if isinstance(is_contained, Unknown):
        return no_signal(ANCESTRY, OS_RECORDED, subject, is_contained.why)
    if is_contained:
        return attest(ANCESTRY, OS_RECORDED, subject, f"{target} contains {sha[:SHOWN]}")
    if git.run("rev-parse", "--is-shallow-repository").strip() == "true":
        why = f"{target} does not show {sha[:SHOWN]}, and the clone is shallow"
        return no_signal(ANCESTRY, OS_RECORDED, subject, why)
    return refute(ANCESTRY, OS_RECORDED, subject, f"{target} does not contain {sha[:SHOWN]}")


def _is_named_after(git: Reader, commit: str, target: str) -> bool:
    """Whether the commit is named relative to the target, like HEAD~2, and so always in it."""
    if _HASH.fullmatch(commit):
        return False
    start = re.split(r"[~^@{]", commit)[0] or HEAD
    return _full_name(git, start) == _full_name(git, target)


def _full_name(git: Reader, name: str) -> str:
    """Return the full ref of a name, or the name itself where git knows none."""
    if git.object_of(name) is None:
        return name
    lines = git.run("rev-parse", "--symbolic-full-name", "--end-of-options", name).split()
    if not lines:
        return name
    return lines[-1]


# All witnesses


def witness_nothing(_world: World, subject: str) -> EvidenceFacts:
    """Say nothing, for tests of a pipeline."""
    return no_signal(NULL, LOWEST, subject, "it witnesses nothing")


BUILT_IN: dict[str, Callable[[World, str], EvidenceFacts]] = {
    NULL: witness_nothing,
    ANCESTRY: witness_ancestry,
    EXIT_CODE: witness_exit_code,
    ci.NAME: ci.witness,
    recorded.NAME: recorded.witness_recorded_tests,
    files.SNAPSHOTS: files.witness_snapshots,
    citations.NAME: citations.witness,
    files.FILE: files.witness_file,
}
# The names in dos-kernel 0.30 and older.
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
    """Ask each named witness about its subject, or about the claim where the subject is empty.

    No witness is asked before all names are known, and none about a blank claim. Raises BadInput
    for an unknown name.
    """
    witnesses = [_open_source(world, name, subject, claim.probe, warn) for name, subject in wanted]
    if not claim.key.strip():
        return []
    return [ask() for ask in witnesses]


def gather_evidence(source: Any, subject: str, config: Any, *, name: str = "") -> EvidenceFacts:
    """Ask a plugin, and return its answer at most at the accountability that it declares.

    An answer that is no EvidenceFacts, or an exception, is no signal.
    """
    source_name = name or str(getattr(source, "name", ""))
    declared = _declared(source)
    answer = plugins.typed_answer(lambda: source.gather(subject, config), EvidenceFacts)
    if isinstance(answer, Unknown):
        return no_signal(source_name, declared, subject, answer.why)
    accountability = answer.accountability
    if declared.rank < accountability.rank:
        accountability = declared
    return structs.replace(
        answer, source_name=source_name, subject=subject, accountability=accountability
    )


def source_names(warn: Warn) -> list[str]:
    """Return the names of all witnesses, those of other packages last."""
    return [*BUILT_IN, *plugins.load_others(plugins.EVIDENCE_SOURCES, OWN, warn)]


def _declared(source: Any) -> Accountability:
    """Return the accountability that a plugin declares; the lowest where it declares none."""
    accountability = getattr(source, "accountability", None)
    if not isinstance(accountability, Accountability):
        return LOWEST
    return accountability


def _open_source(
    world: World, name: str, subject: str, claimed: str, warn: Warn
) -> Callable[[], EvidenceFacts]:
    """Return a function that asks the witness of this name; raises BadInput for an unknown one."""
    name = ALIASES.get(name, name)
    if name == EXIT_CODE and not subject.strip():
        # What an agent calls its claim must never be run.
        raise BadInput(
            f"the source {name!r} has no command to run",
            hint=f"For example: --source '{name}=make test'",
        )
    subject = subject or claimed
    if name == files.SNAPSHOTS:  # the key that it looks for may be the claim
        return partial(files.witness_snapshots, world, subject, claimed)
    if name in BUILT_IN:
        return partial(BUILT_IN[name], world, subject)
    found = plugins.load_others(plugins.EVIDENCE_SOURCES, OWN, warn)
    if name not in found:
        raise BadInput(
            f"there is no evidence source {quote(name)}",
            hint=did_you_mean(name, [*BUILT_IN, *found], "sources"),
        )
    return partial(gather_evidence, found[name], subject, world.config, name=name)
