"""A repository whose commits are the steps of a run, and a run's history written in two ways: by a
released ledger that is imported, and by the verbs."""

import json
import shutil
from pathlib import Path

from commanding import Answer, git, in_process

RUN = "RID-0MC0FFEE00000AB"
UNKNOWN_SHA = "dead" * 10
STEPS = ("s1", "s2", "s3")


class Repository:
    """root, start, c1 edits api/1, c2 edits api/2, e1 edits nothing, c3 edits worker/3."""

    def __init__(self, root: Path, names: dict[str, str]) -> None:
        self.place = root
        self.names = names

    def commit(self, name: str, path: str = "", text: str = "x\n") -> str:
        if path:
            (self.place / path).parent.mkdir(exist_ok=True)
            (self.place / path).write_text(text)
            git("add", "--all", cwd=self.place)
        git("commit", "--quiet", "--allow-empty", "--message", name, cwd=self.place)
        return self.name(name)

    def revert(self, name: str) -> str:
        git("revert", "--no-edit", self.names[name], cwd=self.place)
        return self.name(f"revert {name}")

    def name(self, name: str) -> str:
        self.names[name] = git("rev-parse", "HEAD", cwd=self.place).strip()
        return self.names[name]

    def sha(self, name: str) -> str:
        """The commit of a name; `c1:7` is its first seven characters, and what is no name stays as
        it is."""
        known, _, length = name.partition(":")
        return self.names.get(known, known)[: int(length) if length else None]

    def copy(self, root: Path) -> "Repository":
        shutil.copytree(self.place, root)
        return Repository(root, dict(self.names))


def made(template: Path, root: Path) -> Repository:
    shutil.copytree(template, root)
    repository = Repository(root, {})
    repository.name("root")
    repository.commit("start", "api/0")
    repository.commit("c1", "api/1")
    repository.commit("c2", "api/2")
    repository.commit("e1")
    repository.commit("c3", "worker/3")
    return repository


# One entry of a history, as the verbs of a ledger


def intent(
    *steps: str, goal: str = "g", start: str = "start", **regions: str
) -> tuple[object, ...]:
    return ("INTENT", {"goal": goal, "start": start, "steps": steps, "regions": regions})


def claimed(step: str, commit: str) -> tuple[object, ...]:
    return ("STEP_CLAIMED", step, commit)


def verified(step: str, commit: str, via: str = "file-path") -> tuple[object, ...]:
    return ("STEP_VERIFIED", step, commit, via)


SUSPENDED = ("SUSPEND",)
PROPOSED = ("RESUME_PROPOSED",)


def reverted(commit: str) -> tuple[object, ...]:
    return ("revert", commit)


def raw(line: str) -> tuple[object, ...]:
    return ("raw", line)


ALL = intent(*STEPS)


def imported(repository: Repository, history: list[tuple[object, ...]]) -> Answer:
    """The history as the intent ledger of a released version, read by `journal import`."""
    folder = repository.place.parent / "runs" / RUN
    folder.mkdir(parents=True, exist_ok=True)
    lines = [line for entry in history if (line := _line(repository, entry))]
    (folder / "intent.jsonl").write_text("\n".join(lines) + "\n")
    return in_process("journal", "import", str(folder / "intent.jsonl"))


def _line(repository: Repository, entry: tuple[object, ...]) -> str:
    match entry:
        case ("INTENT", dict() as said):
            record = {"goal": said["goal"], "start_sha": repository.sha(said["start"])}
            record["declared_steps"] = list(said["steps"])
            record["step_regions"] = {step: [glob] for step, glob in said["regions"].items()}
        case ("STEP_CLAIMED", str() as step, str() as commit):
            record = {"step_id": step, "sha": repository.sha(commit)}
        case ("STEP_VERIFIED", str() as step, str() as commit, str() as via):
            record = {"step_id": step, "sha": repository.sha(commit), "via": via, "verdicts": []}
        case ("SUSPEND",):
            record = {"reason": "night"}
        case ("RESUME_PROPOSED",):
            record = {"predecessor_run_id": RUN, "resume_sha": repository.sha("start")}
        case ("revert", str() as commit):
            repository.revert(commit)
            return ""
        case ("raw", str() as line):
            return line
        case _:
            raise AssertionError(entry)
    tagged = {"op": entry[0], "run_id": RUN, "ts": "2026-01-02T03:04:05Z", **record}
    return json.dumps(
        {**tagged, "schema": {"family": "intent-ledger", "version": 1}}, sort_keys=True
    )


def told(repository: Repository, history: list[tuple[object, ...]]) -> list[Answer]:
    """The history by the verbs, which may refuse: then nothing is written."""
    return [_told(repository, entry) for entry in history]


def _told(repository: Repository, entry: tuple[object, ...]) -> Answer:
    match entry:
        case ("INTENT", dict() as said):
            words = ["run", "begin", "--run-id", RUN, "--goal", said["goal"]]
            words += [word for step in said["steps"] for word in ("--step", step)]
            words += [
                word
                for step, glob in said["regions"].items()
                for word in ("--region", f"{step}={glob}")
            ]
            begun = in_process(*words, "--start-sha", repository.sha(said["start"]))
            return (
                begun if begun.code != 2 else in_process(*words)
            )  # it began before, and where it began stays
        case ("STEP_CLAIMED", str() as step, str() as commit):
            return in_process("run", "claim", RUN, step, "--sha", repository.sha(commit))
        case ("STEP_VERIFIED", str() as step, str() as commit, _):
            return in_process("run", "verify", RUN, step, "--sha", repository.sha(commit))
        case ("SUSPEND",):
            return in_process("run", "suspend", RUN, "--reason", "night")
        case ("RESUME_PROPOSED",):
            return in_process("resume", "--run-id", RUN)
        case ("revert", str() as commit):
            repository.revert(commit)
            return Answer(0, "", "")
        case _:
            raise AssertionError(entry)
