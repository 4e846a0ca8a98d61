"""Read what a commit changed that counts for a unit, and what is left of it at a tip."""

import posixpath
from collections.abc import Sequence
from functools import cached_property
from typing import TYPE_CHECKING

from msgspec import structs

from dos.git import changes
from dos.git.changes import FileChange
from dos.git.objects import SUBMODULE, Commit, Objects
from dos.git.repository import Reader
from dos.git.survival import LaterHistory
from dos.verify import content, file_kinds, footprint
from dos.verify.candidate import CandidateCommit
from dos.verify.footprint import Change, Footprint, Purpose, Scope
from dos.verify.io.declarations import Declarations
from dos.verify.io.file_contents import LINK, FileContents
from dos.verify.io.file_survival import SurvivalReader
from dos.verify.survival import File

if TYPE_CHECKING:
    from dos.verify.io.copies import Copies
    from dos.verify.stubs.only_stubs import TextChange

FEWEST_COPIED_LINES = 3


class FootprintReader:
    """Reads footprints and their survival at one tip.

    With `looks_for_importers`, new modules that nothing at the tip imports are noted; that depends
    on all files of the tip.
    """

    def __init__(
        self,
        git: Reader,
        objects: Objects,
        tip: Commit,
        declarations: Declarations,
        *,
        looks_for_importers: bool = False,
    ) -> None:
        self._git = git
        self._objects = objects
        self._contents = FileContents(git, objects)
        self._tip = tip
        self._declarations = declarations
        self._looks_for_importers = looks_for_importers

    def inspect(
        self,
        candidate: CandidateCommit,
        commit: Commit,
        parent: Commit | None,
        before: Scope,
        later: Scope,
    ) -> CandidateCommit:
        """The candidate with its footprint and, if that has no flaw, its survival.

        `before` is the unit's scope in the parent's tree, `later` the one at the tip. Raises
        GitFailed if an object is missing.
        """
        parent_tree = ""
        if parent:
            parent_tree = parent.tree
        file_changes = changes.tree_changes(self._objects, parent_tree, commit.tree)
        changed = [self._change(change, commit.tree, before) for change in file_changes]
        found = footprint.judge(changed, before, later, candidate.summary)
        title = footprint.request_title(before, later, candidate.summary)
        is_whole = not found.flaw and parent and self._is_restored(commit, parent)
        if is_whole and self._is_put_back(found, file_changes, title):
            found = footprint.restored([file.path for file in found.files])
        if parent and not found.flaw and all(map(_may_be_copy, found.files)):
            found = self._copies.judge(found, file_changes, parent_tree, before, title)
        found = self._unless_idle(file_changes, found, before)
        candidate = structs.replace(candidate, footprint=found, is_scoped=before.is_declared)
        if found.flaw:
            return candidate
        history = LaterHistory(self._git, self._objects, commit.sha, self._tip)
        candidate = SurvivalReader(self._contents, history, before).with_survival(candidate)
        return structs.replace(
            candidate,
            looked_at=frozenset(history.paths),
            is_walked=history.is_walked,
            unimported=self._unimported(candidate),
        )

    @cached_property
    def _copies(self) -> "Copies":
        from dos.verify.io.copies import Copies  # at use: most commits change what is there

        return Copies(self._objects)

    def _is_put_back(self, found: Footprint, changed: Sequence[FileChange], title: str) -> bool:
        """Whether every file that counts is new, and the unit does not ask for old work."""
        counting = {file.path for file in found.files}
        if any(change.status != "A" for change in changed if change.path in counting):
            return False
        from dos.verify.work.request import Request  # at use: it is rare that it comes to this

        return not Request(title).is_for_restoring

    def _is_restored(self, commit: Commit, parent: Commit) -> bool:
        """Whether a commit put back exactly what its parent took out, and that was no revert."""
        if not parent.parents or "This reverts commit" in parent.message:
            return False
        before = self._objects.commit(parent.parents[0])
        return before is not None and before.tree == commit.tree

    def _unimported(self, candidate: CandidateCommit) -> str:
        """The first module that nothing imports, if the commit added such modules alone."""
        if not self._looks_for_importers or candidate.survival is None:
            return ""
        from dos.verify.dead_code import importers  # at use: most commits change what is there
        from dos.verify.io.tree_texts import tree_texts

        files = [file for file in candidate.footprint.files if not file_kinds.is_test(file.path)]
        modules = [file.now_path or file.path for file in files]
        is_new = bool(files) and all(file.old is None for file in files)
        if not is_new or not all(map(importers.may_need_importer, modules)):
            return ""
        texts = tree_texts(self._objects, self._tip.tree)
        if texts is None or not texts.has_no_importer(modules):
            return ""
        return modules[0]

    def _unless_idle(
        self, file_changes: Sequence[FileChange], found: Footprint, scope: Scope
    ) -> Footprint:
        """The footprint; with a flaw if the files that count gained only stubs or dead code."""
        if found.flaw or found.out_of_scope or scope.purpose is not Purpose.CODE:
            return found
        from dos.verify.dead_code import only_dead  # at use: most answers need no diff
        from dos.verify.stubs import only_stubs

        program = [file for file in found.files if not file_kinds.is_test(file.path)]
        is_real = any(only_stubs.has_work(file.added) for file in program)
        has_dead = any(only_dead.may_be(file.old or (), file.new or ()) for file in program)
        if only_stubs.is_asked_for(scope.title) or (is_real and not has_dead):
            return found
        texts = self._texts(file_changes, {file.path for file in found.files})
        stubs = "" if is_real else only_stubs.only_stubs(texts)
        if stubs:
            return footprint.only_stubs(stubs)
        dead = only_dead.only_dead(texts) if has_dead else ""
        if dead:
            why = f"only code that cannot run was added: {dead}"
            return Footprint(flaw="dead_code_only", why=why)
        return found

    def _texts(self, file_changes: Sequence[FileChange], counting: set[str]) -> "list[TextChange]":
        """The files that count before and after; none at all if one of them is no text."""
        from dos.verify.stubs import only_stubs  # at use, as above

        texts = []
        for change in file_changes:
            if change.path not in counting:
                continue
            old = self._contents.text(change.old_blob, change.old_mode)
            new = self._contents.text(change.new_blob, change.new_mode)
            if change.new_blob and new is None:
                return []  # a link, a submodule or a binary file is neither stub nor dead
            texts.append(only_stubs.TextChange(path=change.path, old=old, new=new))
        return texts

    def _change(self, change: FileChange, tree: str, scope: Scope) -> Change:
        """A change of git with the significant lines of both sides."""
        old_path = change.old_path or change.path
        old, is_old_text = self._contents.lines(old_path, change.old_blob, change.old_mode)
        new, is_new_text = self._contents.lines(change.path, change.new_blob, change.new_mode)
        is_text = is_old_text and is_new_text
        is_link = change.new_mode == f"{LINK:06o}"
        has_new_mode = bool(change.old_mode) and change.old_mode != change.new_mode
        file = File(
            path=change.path,
            old=old,
            new=new,
            now=None,
            old_mode=change.old_mode,
            new_mode=change.new_mode,
        )
        if is_text and old is not None and new is not None:
            file = self._as_tokens(file, change)
        return Change(
            file=file,
            old_path=change.old_path,
            is_text=is_text,
            is_submodule=f"{SUBMODULE:06o}" in (change.old_mode, change.new_mode),
            leads_somewhere=is_link and self._leads_somewhere(tree, change),
            is_script=has_new_mode and self._is_script(change),
            is_plan=self._is_plan(tree, change.path, scope),
        )

    def _as_tokens(self, file: File, change: FileChange) -> File:
        """A changed text with its lines, as far as its tokens agree with them.

        Where only the layout is new, no line is. Where only the order is new, the pairs of adjacent
        lines are: they tell later whether the order is still there.
        """
        old = self._contents.text(change.old_blob, change.old_mode) or ""
        new = self._contents.text(change.new_blob, change.new_mode) or ""
        if not content.differs_in_substance(file.path, old, new):
            return structs.replace(file, old=file.new)
        if file.is_change:
            return file
        return structs.replace(
            file,
            old=content.adjacent_lines(file.old or ()),
            new=content.adjacent_lines(file.new or ()),
            is_order=True,
        )

    def _leads_somewhere(self, tree: str, change: FileChange) -> bool:
        """Whether a symbolic link leads to something in the same tree."""
        target = content.decode(self._objects.blob(change.new_blob) or b"")
        if not target or target.startswith("/"):
            return False
        path = posixpath.normpath(posixpath.join(posixpath.dirname(change.path), target))
        return self._objects.entry_at(tree, path) is not None

    def _is_script(self, change: FileChange) -> bool:
        """Whether a file is meant to be run by its name: it says so, or its own name does."""
        if file_kinds.is_script_name(change.path):
            return True
        raw = self._objects.blob(change.new_blob) if change.new_blob else None
        return raw is not None and raw.startswith(b"#!")

    def _is_plan(self, tree: str, path: str, scope: Scope) -> bool:
        """Whether a document that could count for a unit is one that declares units."""
        if not file_kinds.is_docs(path):
            return False
        if scope.purpose is not Purpose.DOCS and not scope.is_declared:
            return False  # it does not count anyway
        return self._declarations.is_plan_document(tree, path)


def _may_be_copy(file: File) -> bool:
    """Whether a file is new, and too long to say what another does by chance."""
    return file.old is None and len(file.new or ()) >= FEWEST_COPIED_LINES
