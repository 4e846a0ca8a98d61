"""Refuses to land work that weakens tests or fails those of its base, unless that is allowed."""

from collections.abc import Callable, Mapping, Sequence

from dos.audit.io import unit_commits
from dos.fleet.effects import NotLanded, PrepareLanding
from dos.git import changes
from dos.git.changes import FileChange
from dos.git.objects import Objects
from dos.git.repository import Reader
from dos.landing.guard import judging_files
from dos.landing.guard.judging_files import JudgingFiles
from dos.receipts.io.acceptance import AcceptanceResult
from dos.text import join_some, printable_path, replace_undecodable
from dos.units.unit import Landing, Unit
from dos.verify import content, file_kinds, runners

_ADVICE = (
    "Restore the tests and make the work pass them. If the unit cannot be done without changing"
    " them, a person can allow it: `- tests: may-change` in the plan"
)


class TestsGuard:
    """Compares the tests of a unit's commits with those of their base."""

    __test__ = False  # pytest would collect a class of this name

    def __init__(self, git: Reader) -> None:
        self._git = git
        self._known: dict[object, JudgingFiles] = {}  # the last answer: a landing asks repeatedly

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
        run: Callable[[Sequence[str], Mapping[str, str]], AcceptanceResult],
    ) -> NotLanded | None:
        """Return why work that passed its checks may not land: with the base's tests it fails.

        `run` runs the command on the work with the given paths as the base has them, and with the
        given texts. It is not called if the unit changed nothing that judges.
        """
        if not command or may_change_tests(effect):
            return None
        judging = self.judging_files(effect.unit, ready.base, ready.commit, command)
        if not judging.from_base and not judging.inline:
            return None
        texts = dict(judging.inline)
        result = run(judging.from_base, texts)
        # Tests that the work brings may need the settings that it brings. The base's tests do not.
        everything = tuple(dict.fromkeys((*judging.from_base, *judging.own_paths)))
        if result.passed is False and everything != judging.from_base:
            alone = run(everything, texts)
            result = alone if alone.passed else result
        if result.passed is not False:
            return None
        reason = _base_reason(judging, ready.base, result.detail)
        return NotLanded(reason=reason, tests_changed=True, landing=ready)

    def own_judges(self, unit: Unit, base: str, head: str, command: str) -> Sequence[FileChange]:
        """Return what the work brings of that which judges it; nothing if that was all its task."""
        judging = self.judging_files(unit, base, head, command)
        if judging.is_all and judging_files.asks_for_tests(unit):
            return ()
        return judging.own

    def judging_files(self, unit: Unit, base: str, head: str, command: str) -> JudgingFiles:
        """Return what the work between two commits changed of that which judges it."""
        asked = (unit, base, head, command)
        if asked not in self._known:
            self._known = {asked: self._find_judging_files(unit, base, head, command)}
        return self._known[asked]

    def _find_judging_files(self, unit: Unit, base: str, head: str, command: str) -> JudgingFiles:
        with Objects(self._git) as objects:
            before = _tree(objects, base)
            changed = changes.tree_changes(objects, before, _tree(objects, head))

            def read(path: str) -> str:
                entry = objects.entry_at(before, path)
                return _text(objects, entry.sha if entry else "") or ""

            def read_texts(change: FileChange) -> tuple[str | None, str | None]:
                return _text(objects, change.old_blob), _text(objects, change.new_blob)

            runner = runners.read_runner(command, self._git.paths_of(base), read)
            return judging_files.find(changed, unit, runner, read_texts)


def _base_reason(judging: JudgingFiles, base: str, detail: str) -> str:
    """Return the refusal of work that fails with what the base has of that which judges it."""
    shown = {path: printable_path(replace_undecodable(path)) for path in judging.from_base}
    added = [shown[path] for path in judging.from_base if path in judging.added]
    changed = [shown[path] for path in judging.from_base if path not in judging.added]
    how = []
    if changed:
        them = "it" if len(changed) == 1 else "them"
        how.append(f"with {join_some(changed)} as {base[:9]} has {them}")
    if added:
        how.append(f"without {join_some(added)}")
    if judging.inline:
        inline = [printable_path(replace_undecodable(path)) for path, _ in judging.inline]
        how.append(f"with the tests in {join_some(inline)} as {base[:9]} has them")
    advice = _ADVICE
    for path in judging.from_base:
        if not file_kinds.is_run_as_test(path):
            named = shown[path]
            advice += f". If {named} is itself the work, name it in the unit: `- paths: {named}`"
            break
    seen = f"{' and '.join(how)}, the checks fail: {detail}"
    return f"it passes only with its own tests: {seen}\n{advice}"


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
