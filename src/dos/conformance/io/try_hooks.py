"""Run a real agent program in a repository with our hooks, and look at the disk afterwards."""

import shutil
from collections.abc import Callable

from dos.conformance import hook_trial
from dos.conformance.hook_trial import Evidence, HookVerdict, Result
from dos.conformance.io.drive import last_words
from dos.conformance.io.scratch import Scratch, TrialFailed, scratch
from dos.conformance.programs import BY_HOST, Trial
from dos.errors import DosError
from dos.machine import execute
from dos.machine.commands import program_version
from dos.testing.scripted_model import ScriptedModel
from dos.unknown import Unknown

RUN_SECONDS = 180.0
VERSION_SECONDS = 60.0
OWNER = "dos-hooks-test"
Progress = Callable[[str], None]


def try_host(host: str, progress: Progress) -> HookVerdict:
    """Return what the hooks of one program stop. Nothing of the user is read or changed."""
    trial = BY_HOST.get(host)
    if trial is None:
        return HookVerdict(
            host=host,
            result=Result.NOT_TRIED,
            reason="it cannot be run here without its vendor; dos was only tested with its"
            " documented events",
        )
    found = shutil.which(trial.program)
    if found is None:
        return HookVerdict(
            host=host, result=Result.NOT_FOUND, reason=f"{trial.program} is not on the PATH"
        )
    progress(f"{host}: asking {found} for its version")
    version = read_version(found)
    try:
        with scratch() as place:
            progress(f"{host}: {version or 'unknown version'} makes 4 writes, 2 of them forbidden")
            evidence = _run(trial, found, place)
    except (DosError, OSError) as error:
        return HookVerdict(
            host=host, result=Result.FAILED, reason=str(error), version=version, program=found
        )
    result, reason = hook_trial.judge(evidence)
    return HookVerdict(host=host, result=result, reason=reason, version=version, program=found)


def read_version(program: str) -> str:
    """Return the version that a program prints; empty where it prints none in time.

    It runs in a home of its own: some programs write into theirs at every start.
    """
    try:
        with scratch() as place:
            version = program_version(program, VERSION_SECONDS, environment=place.environment)
    except (OSError, TrialFailed):
        return ""
    return "" if isinstance(version, Unknown) else version


def _run(trial: Trial, program: str, place: Scratch) -> Evidence:
    """Let the program work in a repository in which another worker holds a lane."""
    (place.repository / "dos.toml").write_text(hook_trial.CONFIG, encoding="utf-8")
    with ScriptedModel(hook_trial.steps(trial, str(place.repository))) as model:
        place.settle(trial, model.url)
        place.dos("lease-lane", "acquire", "--lane", hook_trial.LANE, "--owner", OWNER)
        place.dos("hooks", "install", trial.host)
        if trial.first:
            place.run_once([program, *trial.first])
        done = execute.run(
            [program, *trial.words],
            cwd=place.repository,
            environment=place.environment,
            limits=execute.Limits(wall_seconds=RUN_SECONDS),
        )
        told = model.told()
        calls = max((request["results"] for request in model.requests), default=0)
    return Evidence(
        written=place.written(),
        told_refusals=sum(hook_trial.SENTENCE in text for text in told),
        calls=calls,
        ending=_ending(done),
        last_words=last_words(done),
    )


def _ending(done: execute.ProcessResult) -> str:
    """How the program ended, where something about it is to be said."""
    if done.timed_out:
        return f"it had not ended after {RUN_SECONDS:.0f} s, and was stopped"
    if done.exit_code:
        return f"it exited {done.exit_code}"
    return ""
