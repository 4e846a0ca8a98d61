"""The file dos.toml: is it there, can it be used, does all of it mean something?"""

from dos.config import edit, lint
from dos.config.edit import EditCommands
from dos.config.problems import Problem
from dos.doctor.subjects.finding import Finding, edit_commands, error, note, warning
from dos.world import World

OVERLAP_POLICIES = ("prefix",)
LARGEST_STATE_FILE_BYTES = 200_000


def examine(world: World) -> list[Finding]:
    loaded = world.loaded_config
    found = [_invalid(problem, edit_commands(world)) for problem in loaded.problems]
    if loaded.path is None:
        found.append(
            note(
                "CONFIG_MISSING",
                f"{world.workspace.config} is not there: every setting has its default",
                "There is one lane for the whole tree, and no agent to start.",
                "dos init",
            )
        )
    for key, text in loaded.without_effect.items():
        fix = edit.unset_command([str(part) for part in key])
        found.append(note("CONFIG_WITHOUT_EFFECT", text, "It can be taken out.", fix))
    return [*found, *_overlap_policy(world), *_state_file(world)]


def _invalid(problem: Problem, editor: EditCommands) -> Finding:
    why = f"Verbs that admit or act refuse until it is right. {problem.hint}".rstrip()
    return error(lint.Kind.CONFIG_INVALID, str(problem), why, editor.for_problem(problem))


def _overlap_policy(world: World) -> list[Finding]:
    name = world.config.overlap.policy
    if name in OVERLAP_POLICIES:
        return []
    return [
        error(
            "OVERLAP_POLICY_UNKNOWN",
            f"[overlap] policy is {name!r}, and there is none of that name",
            f"The policies are: {', '.join(OVERLAP_POLICIES)}.",
            edit.unset_command(("overlap", "policy")),
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
            edit.edit_command(path),
        )
    ]
