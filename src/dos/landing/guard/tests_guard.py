"""Refuses to land work that weakens tests or fails those of its base, unless that is allowed."""

from collections.abc import Callable, Sequence

from dos.audit.io import unit_commits
from dos.fleet.effects import NotLanded, PrepareLanding
from dos.git import changes
from dos.git.changes import FileChange
from dos.git.objects import Objects
from dos.git.repository import Reader
from dos.landing.guard import judging_files
from dos.receipts.io.acceptance import AcceptanceResult
from dos.text import join_some, printable_path, replace_undecodable
from dos.units.unit import Landing
from dos.verify import content, runners

_ADVICE = (
    "Restore the tests and make the work pass them. If the unit cannot be done without changing"
    " them, a person can allow it: `- tests: may-change` in the plan"
)


class TestsGuard:
    """Compares the tests of a unit's commits with those of their base."""

    __test__ = False  # pytest would collect a class of this name

    def __init__(self, git: Reader) -> None:
        self._git = git

    def refusal(
        self, effect: PrepareLanding, ready: Landing, commits: Sequence[str]
    ) -> NotLanded | None:
        """Return why the commits of a landing may not land; None if they weaken no test."""
        if may_change_tests(effect):
            return None
        weakened = unit_commits.weakened_tests(
            self._git, commits, base=ready.base, head=ready.commit
        )
        if not weakened:
            return None
        what = unit_commits.describe(weakened)
        return NotLanded(
            reason=f"it weakens tests: {what}\n{_ADVICE}", tests_changed=True, landing=ready
        )

    def base_refusal(
        self,
        effect: PrepareLanding,
        ready: Landing,
        command: str,
        run: Callable[[Sequence[str]], AcceptanceResult],
    ) -> NotLanded | None:
        """Return why work that passed its checks may not land: with the base's tests it fails.

        `run` runs the command on the work with the given paths as the base has them. It is not
        called if the unit changed nothing that judges.
        """
        if not command or may_change_tests(effect):
            return None
        paths = self._judging_paths(effect, ready, command)
        if not paths:
            return None
        result = run(paths)
        if result.passed is not False:
            return None
        listed = join_some([printable_path(replace_undecodable(path)) for path in paths])
        reason = (
            f"it passes only with its own tests: with {listed} as {ready.base[:9]} has them, the"
            f" checks fail: {result.detail}\n{_ADVICE}"
        )
        return NotLanded(reason=reason, tests_changed=True, landing=ready)

    def _judging_paths(self, effect: PrepareLanding, ready: Landing, command: str) -> list[str]:
        """Return what the work changed of that which judges it."""
        with Objects(self._git) as objects:
            before = _tree(objects, ready.base)
            changed = changes.tree_changes(objects, before, _tree(objects, ready.commit))

            def read(path: str) -> str:
                entry = objects.entry_at(before, path)
                return _text(objects, entry.sha if entry else "") or ""

            def read_texts(change: FileChange) -> tuple[str | None, str | None]:
                return _text(objects, change.old_blob), _text(objects, change.new_blob)

            runner = runners.runner_text(command, self._git.paths_of(ready.base), read)
            return judging_files.judging_paths(changed, effect.unit, runner, read_texts)


def _text(objects: Objects, blob: str) -> str | None:
    """The text of a file; None if there is no such file, or it is no text."""
    raw = objects.blob(blob) if blob else None
    if raw is None or content.is_binary(raw):
        return None
    return content.decode(raw)


def _tree(objects: Objects, commit: str) -> str:
    named = objects.commit(commit)
    return named.tree if named else ""


def may_change_tests(effect: PrepareLanding) -> bool:
    """Whether the unit, or a person, lets its commits change tests; a replan has no tests."""
    return effect.is_replan or effect.unit.tests_may_change or effect.tests_accepted
