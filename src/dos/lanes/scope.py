"""Decide whether the files that were touched belong to the lane that touched them.

A lane whose tree is unknown owns no file, so everything it touched is outside: what cannot be
checked is not allowed.
"""

import posixpath
from collections.abc import Iterable, Sequence
from enum import StrEnum

from msgspec import Struct

from dos import regions
from dos.errors import BadInput
from dos.lanes.roster import Roster

WHOLE_REPOSITORY = ("**/*",)
SHARED_BASENAMES = frozenset(
    {
        "config.py",
        "__init__.py",
        "settings.py",
        "constants.py",
        "cli.py",
        "conftest.py",
        "pyproject.toml",
        "setup.py",
        "setup.cfg",
    }
)
SHOWN_FILES = 5
_EVERYWHERE = regions.region(WHOLE_REPOSITORY)


class Answer(StrEnum):
    """How the touched files relate to the lane."""

    IN_SCOPE = "IN_SCOPE"
    SCOPE_CREEP = "SCOPE_CREEP"  # its own files, and others
    WRONG_TARGET = "WRONG_TARGET"  # none of its own files, or its own are unknown


EXIT_CODES = {Answer.IN_SCOPE: 0, Answer.SCOPE_CREEP: 5, Answer.WRONG_TARGET: 6}


class Evidence(Struct, frozen=True, kw_only=True):
    """The touched files and the lane; `evidence_from_paths` makes it."""

    lane: str
    touched_files: tuple[str, ...]
    lane_tree: tuple[str, ...]


class Policy(Struct, frozen=True, kw_only=True):
    """Which files outside a lane are tolerated, and which answers refuse."""

    allow_shared_infra: bool = False  # tolerate files that every lane edits, by their name
    creep_tolerance: int = 0  # tolerate so many files outside the lane
    refuse_on: tuple[Answer, ...] = (Answer.SCOPE_CREEP, Answer.WRONG_TARGET)

    def __post_init__(self) -> None:
        if self.creep_tolerance < 0:
            raise BadInput(
                f"a creep tolerance of {self.creep_tolerance} files is below 0",
                hint="Give 0 or more files.",
            )
        for answer in self.refuse_on:
            if answer not in (Answer.SCOPE_CREEP, Answer.WRONG_TARGET):
                raise BadInput(
                    f"the scope gate cannot refuse on {str(answer)!r}",
                    hint=f"It can refuse on {Answer.SCOPE_CREEP} and {Answer.WRONG_TARGET}.",
                )


class Classification(Struct, frozen=True, kw_only=True):
    """The touched files, by whether they are inside the lane."""

    verdict: Answer
    reason: str
    in_scope_files: tuple[str, ...]
    out_of_scope_files: tuple[str, ...]
    evidence: Evidence


class Verdict(Struct, frozen=True, kw_only=True):
    """Whether the touched files are allowed, as `dos scope-gate --json` prints it."""

    allowed: bool
    verdict: Answer
    reason: str
    refused_files: tuple[str, ...]
    scope: Classification

    @property
    def exit_code(self) -> int:
        if self.allowed:
            return 0
        return EXIT_CODES[self.verdict]


def evidence_from_typed_paths(lane: str, files: Sequence[str], tree: Sequence[str]) -> Evidence:
    """Evidence from paths as people type them; blank ones are dropped."""
    return evidence_from_paths(lane, [normalize_path(file) for file in files if file.strip()], tree)


def evidence_from_paths(lane: str, names: Iterable[str], tree: Sequence[str]) -> Evidence:
    """Evidence from paths that git names, or that are normalised."""
    return Evidence(lane=lane, touched_files=tuple(dict.fromkeys(names)), lane_tree=tuple(tree))


def normalize_path(path: str) -> str:
    """A typed path in its one spelling: `./a` is `a`, `a/../b` is `b`, `a\\b` is `a/b`."""
    return posixpath.normpath(path.replace("\\", "/"))


def lane_tree(lane: str, roster: Roster) -> tuple[str, ...]:
    """A lane's globs; the whole repository if no lane is named, none if it is not declared."""
    if lane.strip():
        return roster.tree(lane)
    return WHOLE_REPOSITORY


def judge(evidence: Evidence, policy: Policy = Policy()) -> Verdict:
    """Decide whether the touched files are inside the lane, and whether that is refused."""
    scope = _classified(evidence, policy)
    allowed = scope.verdict not in policy.refuse_on
    return Verdict(
        allowed=allowed,
        verdict=scope.verdict,
        reason=scope.reason,
        refused_files=() if allowed else scope.out_of_scope_files,
        scope=scope,
    )


def _classified(evidence: Evidence, policy: Policy) -> Classification:
    """Put each touched file inside or outside the lane."""
    files = evidence.touched_files
    if not files:
        return _classification(evidence, Answer.IN_SCOPE, "no file was touched")
    if evidence.lane:
        lane = f"lane {evidence.lane!r}"
    else:
        lane = "the repository"
    region = regions.region(evidence.lane_tree)
    if not region.is_known:
        reason = f"{lane} has no tree, so no file can be shown to belong to it"
        return _classification(evidence, Answer.WRONG_TARGET, reason, outside=files)

    inside: list[str] = []
    strays: list[str] = []
    for file in files:
        if regions.lane_holds(region, file):
            inside.append(file)
        else:
            strays.append(file)
    outside = strays
    if policy.allow_shared_infra:
        outside = [file for file in strays if not _is_shared(file)]
    if len(outside) > policy.creep_tolerance:
        if inside:
            answer = Answer.SCOPE_CREEP
        else:
            answer = Answer.WRONG_TARGET
        reason = f"{len(outside)} of {len(files)} files are outside {lane}: {_listed(outside)}"
        return _classification(evidence, answer, reason, inside, outside)
    if strays:
        reason = f"{_listed(strays)} outside {lane}: tolerated, not counted as creep"
        return _classification(evidence, Answer.IN_SCOPE, reason, inside, outside)
    reason = f"all {len(files)} files are inside {lane}"
    return _classification(evidence, Answer.IN_SCOPE, reason, inside)


def _classification(
    evidence: Evidence,
    answer: Answer,
    reason: str,
    inside: Sequence[str] = (),
    outside: Sequence[str] = (),
) -> Classification:
    return Classification(
        verdict=answer,
        reason=reason,
        in_scope_files=tuple(inside),
        out_of_scope_files=tuple(outside),
        evidence=evidence,
    )


def _is_shared(file: str) -> bool:
    """Whether every lane may edit a file, by its name; never one outside the repository."""
    return posixpath.basename(file) in SHARED_BASENAMES and regions.lane_holds(_EVERYWHERE, file)


def _listed(files: Sequence[str]) -> str:
    """The first few files, and how many more there are."""
    if len(files) > SHOWN_FILES:
        more = f" and {len(files) - SHOWN_FILES} more"
    else:
        more = ""
    return ", ".join(map(repr, files[:SHOWN_FILES])) + more
