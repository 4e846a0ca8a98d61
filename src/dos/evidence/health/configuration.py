"""The file dos.toml: is it there, can it be used, does all of it mean something?"""

import re
from shlex import quote

from dos.config import lint
from dos.config.checks import Problem
from dos.evidence.health.finding import Finding, error, note, warning
from dos.sources.world import World

OVERLAP_POLICIES = ("prefix",)
LARGEST_STATE_FILE_BYTES = 200_000


def examine(world: World) -> list[Finding]:
    loaded = world.loaded
    found = [_invalid(problem, world) for problem in loaded.problems]
    if loaded.path is None:
        found.append(
            note(
                "CONFIG_MISSING",
                f"{world.workspace.config} is not there: every setting has its default",
                "There is one lane for the whole tree, and no agent to start.",
                "dos init",
            )
        )
    said = {str(problem) for problem in loaded.problems} | {problem.message for problem in loaded.problems}
    for text in loaded.warnings:
        if text not in said:
            found.append(note("CONFIG_WITHOUT_EFFECT", text, "It can be taken out.", edit_command(world)))
    return [*found, *_overlap_policy(world), *_state_file(world)]


def edit_command(world: World, line: int | str | None = None) -> str:
    return f"${{EDITOR:-vi}}{f' +{line}' if line else ''} {quote(str(world.workspace.config))}"


def _invalid(problem: Problem, world: World) -> Finding:
    # A file that is not TOML has no keys to locate; then the place stands in the message alone.
    said = re.match(re.escape(str(world.workspace.config)) + r":(\d+):", problem.message)
    return error(
        lint.Kind.CONFIG_INVALID,
        str(problem),
        f"{problem.hint} Until then verbs that admit or act refuse.".lstrip(),
        edit_command(world, problem.line or (said and said[1])),
    )


def _overlap_policy(world: World) -> list[Finding]:
    name = world.config.overlap.policy
    if name in OVERLAP_POLICIES:
        return []
    return [
        error(
            "OVERLAP_POLICY_UNKNOWN",
            f"[overlap] policy is {name!r}, and there is none of that name",
            f"The policies are: {', '.join(OVERLAP_POLICIES)}.",
            "dos config unset overlap.policy",
        )
    ]


def _state_file(world: World) -> list[Finding]:
    path = world.workspace.root / world.config.paths.execution_state
    size = path.stat().st_size if path.is_file() else 0
    if size <= LARGEST_STATE_FILE_BYTES:
        return []
    return [
        warning(
            "STATE_FILE_LARGE",
            f"{path} is {size:,} bytes",
            f"A run registry above {LARGEST_STATE_FILE_BYTES:,} bytes holds mostly what is long over.",
            f"${{EDITOR:-vi}} {quote(str(path))}",
        )
    ]
