"""How one run stands: what git, the journal and the system say of it. What it says of itself is not shown."""

from typing import Any

from msgspec import Struct

from dos.verdicts.recovery import resume
from dos.verdicts.work.declared import Declared, is_done

SCHEMA = 1


class Progress(Struct, frozen=True, kw_only=True):
    verified_count: int
    declared_count: int
    verified_steps: list[str]


class Status(Struct, frozen=True, kw_only=True):
    schema: int = SCHEMA
    run_id: str
    liveness: dict[str, Any]  # its verdict, as `dos liveness` gives it
    progress: Progress
    region: list[str]
    resume: resume.Verdict | None  # only of a run that has stopped


def progress(declared: Declared) -> Progress:
    done = sorted(step.id for step in declared.steps if is_done(step))
    return Progress(verified_count=len(done), declared_count=len(declared.steps), verified_steps=done)


def render(seen: Status) -> str:
    made = seen.progress
    lines = [
        f"{seen.liveness['verdict']}  {seen.liveness['reason']}",
        f"verified : {made.verified_count}/{made.declared_count} {', '.join(made.verified_steps)}".rstrip(),
    ]
    lines += [f"region   : {', '.join(seen.region)}"] if seen.region else []
    lines += [f"resume   : {seen.resume.answer}  {seen.resume.reason}"] if seen.resume else []
    return "\n".join(lines)
