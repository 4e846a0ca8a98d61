"""Do the files that were touched belong to the lane that touched them?"""

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
    IN_SCOPE = "IN_SCOPE"
    SCOPE_CREEP = "SCOPE_CREEP"  # its own files, and others
    WRONG_TARGET = "WRONG_TARGET"  # none of its own files, or nobody knows which are its own


EXIT_CODES = {Answer.IN_SCOPE: 0, Answer.SCOPE_CREEP: 5, Answer.WRONG_TARGET: 6}


class Evidence(Struct, frozen=True, kw_only=True):
    """Make it with `evidence_from_typed_paths` of what people typed, with `evidence_from_paths` of what git names."""

    lane: str
    touched_files: tuple[str, ...]
    lane_tree: tuple[str, ...]


class Policy(Struct, frozen=True, kw_only=True):
    allow_shared_infra: bool = (
        False  # files that every lane edits, by their name, are nobody's trespass
    )
    creep_tolerance: int = 0  # so many files outside are let through
    refuse_on: tuple[Answer, ...] = (Answer.SCOPE_CREEP, Answer.WRONG_TARGET)

    def __post_init__(self) -> None:
        if self.creep_tolerance < 0:
            raise BadInput(
                f"a creep tolerance of {self.creep_tolerance} means nothing",
                hint="Give 0 or more files.",
            )
        for answer in self.refuse_on:
            if answer not in (Answer.SCOPE_CREEP, Answer.WRONG_TARGET):
                raise BadInput(
                    f"the scope gate cannot refuse on {str(answer)!r}",
                    hint=f"It can refuse on {Answer.SCOPE_CREEP} and {Answer.WRONG_TARGET}.",
                )


class Classification(Struct, frozen=True, kw_only=True):
    verdict: Answer
    reason: str
    in_scope_files: tuple[str, ...]
    out_of_scope_files: tuple[str, ...]
    evidence: Evidence


class Verdict(Struct, frozen=True, kw_only=True):
    allowed: bool
    verdict: Answer
    reason: str
    refused_files: tuple[str, ...]
    scope: Classification

    @property
    def exit_code(self) -> int:
        return 0 if self.allowed else EXIT_CODES[self.verdict]


def evidence_from_typed_paths(lane: str, files: Sequence[str], tree: Sequence[str]) -> Evidence:
    """Of paths as people type them; blank ones are dropped."""
    return evidence_from_paths(lane, [normalize_path(file) for file in files if file.strip()], tree)


def evidence_from_paths(lane: str, names: Iterable[str], tree: Sequence[str]) -> Evidence:
    """Of names that git gives, or that are in their one spelling."""
    return Evidence(lane=lane, touched_files=tuple(dict.fromkeys(names)), lane_tree=tuple(tree))


def normalize_path(path: str) -> str:
    """The one spelling of a path that people typed: `./a` is `a`, `a/../b` is `b`, and a backslash parts folders."""
    return posixpath.normpath(path.replace("\\", "/"))


def lane_tree(lane: str, roster: Roster) -> tuple[str, ...]:
    """A lane's globs; the whole repository when no lane is named, none for a lane that nobody declared."""
    return roster.tree(lane) if lane.strip() else WHOLE_REPOSITORY


def judge(seen: Evidence, policy: Policy = Policy()) -> Verdict:
    scope = _classified(seen, policy)
    allowed = scope.verdict not in policy.refuse_on
    return Verdict(
        allowed=allowed,
        verdict=scope.verdict,
        reason=scope.reason,
        refused_files=() if allowed else scope.out_of_scope_files,
        scope=scope,
    )


def _classified(seen: Evidence, policy: Policy) -> Classification:
    def scope(
        verdict: Answer, reason: str, inside: Sequence[str] = (), outside: Sequence[str] = ()
    ) -> Classification:
        return Classification(
            verdict=verdict,
            reason=reason,
            in_scope_files=tuple(inside),
            out_of_scope_files=tuple(outside),
            evidence=seen,
        )

    files = seen.touched_files
    if not files:
        return scope(Answer.IN_SCOPE, "no file was touched")
    lane = f"lane {seen.lane!r}" if seen.lane else "the repository"
    region = regions.region(seen.lane_tree)
    if not region.is_known:
        return scope(
            Answer.WRONG_TARGET, f"{lane} has no tree: unknown blast radius", outside=files
        )

    inside = [file for file in files if regions.lane_holds(region, file)]
    strays = [file for file in files if not regions.lane_holds(region, file)]
    outside = [file for file in strays if not (policy.allow_shared_infra and _is_shared(file))]
    if len(outside) > policy.creep_tolerance:
        verdict = Answer.SCOPE_CREEP if inside else Answer.WRONG_TARGET
        reason = f"{len(outside)} of {len(files)} files are outside {lane}: {_listed(outside)}"
        return scope(verdict, reason, inside, outside)
    if strays:
        reason = f"{_listed(strays)} outside {lane}: tolerated, not counted as creep"
        return scope(Answer.IN_SCOPE, reason, inside, outside)
    return scope(Answer.IN_SCOPE, f"all {len(files)} files are inside {lane}", inside)


def _is_shared(file: str) -> bool:
    """By its name; but a path that leads out of the repository is nobody's."""
    return posixpath.basename(file) in SHARED_BASENAMES and regions.lane_holds(_EVERYWHERE, file)


def _listed(files: Sequence[str]) -> str:
    more = f" and {len(files) - SHOWN_FILES} more" if len(files) > SHOWN_FILES else ""
    return ", ".join(map(repr, files[:SHOWN_FILES])) + more
