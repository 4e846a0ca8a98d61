"""Where a unit said that its work would be, read from a tree of git and never from the files on disk."""

from collections.abc import Iterable, Iterator
from functools import lru_cache
from pathlib import Path

from msgspec import structs

from dos import globs, regions
from dos.config.load import parse
from dos.config.schema import Config
from dos.errors import RegionInvalid
from dos.git.objects import Objects
from dos.units.markdown import document, fields
from dos.units.markdown.document import Document
from dos.units.policy import Grammar
from dos.units.unit import Unit
from dos.verify import content
from dos.verify.footprint import Purpose, Scope
from dos.verify.naming import UnitName
from dos.workspace import Workspace

LARGEST_DOCUMENT = 4_000_000


class Declarations:
    """What trees declare. Whatever two of them share is read once."""

    def __init__(self, objects: Objects, workspace: Workspace, config: Config) -> None:
        self._objects, self._config = objects, config
        self._inside = workspace.prefix
        self._texts: dict[str, tuple[str, str]] = {}  # as written, and with case folded
        self._documents: dict[str, Document] = {}
        self._ids: dict[str, dict[str, list[tuple[int, Unit]]]] = {}
        self._configs: dict[str, Config] = {}
        self._listed: dict[tuple[str, str], list[tuple[str, str]]] = {}
        self._scopes: dict[tuple[str, str, str], Scope] = {}

    def scope_for(self, tree: str, name: UnitName) -> Scope:
        """What a tree says about a unit; nothing when it says nothing."""
        key = tree, name.plan, name.phase
        if key not in self._scopes:
            self._scopes[key] = self._of(tree, name)
        return self._scopes[key]

    def _of(self, tree: str, name: UnitName) -> Scope:
        written = {key.casefold(): unit for key, unit in self.config(tree).units.items()}
        own = [
            spelling
            for spelling in name.spellings
            if name.contains_plan(spelling) or spelling == name.phase
        ]
        for form in (*(f"{name.plan}/{spelling}" for spelling in name.spellings), *own):
            if (found := written.get(form.casefold())) is not None:
                paths = _below(self._folder(tree), found.paths)
                return Scope(paths=paths, purpose=Purpose(found.kind), acceptance=found.accept)
        first, *others = [
            self._scope(unit, self._folder(tree)) for unit in self._units(tree, name)
        ] or [Scope()]
        return structs.replace(first, others=tuple(other for other in others if other.is_declared))

    def config(self, tree: str) -> Config:
        """A tree's dos.toml; what cannot be read of an old one counts as not written."""
        entry = self._objects.entry_at(tree, self._folder(tree) + "dos.toml")
        if entry is None or entry.is_tree:
            return Config()
        if entry.sha not in self._configs:
            text = content.decode(self._objects.blob(entry.sha) or b"")
            self._configs[entry.sha] = parse(text, Path("dos.toml"), lenient=True).config
        return self._configs[entry.sha]

    def strict_config(self, tree: str) -> Config:
        """The dos.toml to judge by: one with errors is an error."""
        text = self.text(tree, "dos.toml")
        return parse(text, Path("dos.toml as it is committed")).config if text else Config()

    def _folder(self, tree: str) -> str:
        """Where a tree has its dos.toml, from the workspace's root upwards: one that nobody committed is no root."""
        folder = self._inside
        while folder and self._objects.entry_at(tree, folder + "dos.toml") is None:
            folder = folder[:-1].rpartition("/")[0] and folder[:-1].rpartition("/")[0] + "/"
        return folder

    def text(self, tree: str, path: str) -> str:
        """A file of a tree by its path from the workspace's root; empty when there is none."""
        entry = self._objects.entry_at(tree, self._folder(tree) + path)
        return (
            content.decode(self._objects.blob(entry.sha) or b"")
            if entry and not entry.is_tree
            else ""
        )

    def _scope(self, unit: Unit, folder: str) -> Scope:
        stamp = self._config.stamp
        named = (
            ()
            if unit.paths
            else fields.mentioned_files(
                unit.text,
                code_dirs=stamp.code_dirs,
                hubs=(*stamp.infra_basenames, *stamp.infra_doc_basenames),
            )
        )
        purpose = Purpose.DOCS if unit.plan_class.lower() == "docs" else Purpose.CODE
        return Scope(
            title=unit.title,
            paths=_below(folder, _usable(unit.paths)),
            files=named,
            purpose=purpose,
            acceptance=unit.acceptance,
        )

    def units(self, tree: str) -> list[Unit]:
        """Every unit that the plan documents of a tree declare, each once."""
        found = [
            unit for path, sha in self.documents(tree) for unit in self._document(path, sha).units
        ]
        return list({unit.name: unit for unit in reversed(found)}.values())[::-1]

    def _units(self, tree: str, name: UnitName) -> Iterator[Unit]:
        spellings = dict.fromkeys(spelling.casefold() for spelling in name.spellings)
        for path, sha in self.documents(tree):
            text = self._text(sha)[1]
            if any(
                spelling in text for spelling in spellings
            ):  # most documents are about something else
                declared = self._by_id(path, sha)
                found = (each for spelling in spellings for each in declared.get(spelling, ()))
                yield from (
                    unit
                    for _, unit in sorted(found, key=_place)
                    if name.is_declared_as(unit.plan, unit.id)
                )

    def _by_id(self, path: str, sha: str) -> dict[str, list[tuple[int, Unit]]]:
        """A document's units, with their places in it, by their ids with case folded."""
        if sha not in self._ids:
            self._ids[sha] = {}
            for place, unit in enumerate(self._document(path, sha).units):
                self._ids[sha].setdefault(unit.id.casefold(), []).append((place, unit))
        return self._ids[sha]

    def _document(self, path: str, sha: str) -> Document:
        if sha not in self._documents:
            self._documents[sha] = _read(self._text(sha)[0], path, self._config.enumerate)
        return self._documents[sha]

    def _text(self, sha: str) -> tuple[str, str]:
        if sha not in self._texts:
            text = content.decode((self._objects.blob(sha) or b"")[:LARGEST_DOCUMENT])
            self._texts[sha] = text, text.casefold()
        return self._texts[sha]

    def documents(self, tree: str) -> list[tuple[str, str]]:
        """Path and blob of each. Most trees have the same folder of them."""
        glob = self._folder(tree) + self._config.paths.plans_glob
        folder = globs.literal_folder(glob)
        top = self._objects.entry_at(tree, folder) if folder else None
        if folder and top is None:
            return []
        key = glob, top.sha if top else tree
        if key not in self._listed:
            self._listed[key] = [
                (path, entry.sha)
                for path, entry in self._objects.files(tree, folder)
                if (folded := globs.path_key(path)) is not None and globs.matches(glob, folded)
            ]
        return self._listed[key]


@lru_cache(maxsize=8)  # whoever looks again and again finds the same documents
def _read(text: str, path: str, grammar: Grammar) -> Document:
    return document.read(text, plan=document.plan_name(path), document=path, grammar=grammar)


def _place(found: tuple[int, Unit]) -> int:
    return found[0]


def _below(folder: str, paths: Iterable[str]) -> tuple[str, ...]:
    """They are meant from where dos.toml is; git names files from the top."""
    return tuple(f"{globs.escape_folder(folder)}{path}" for path in paths)


def _usable(paths: Iterable[str]) -> tuple[str, ...]:
    """An old document may state what is no glob: it covers nothing."""
    found = []
    for glob in paths:
        try:
            regions.region((glob,))
        except RegionInvalid:
            continue
        found.append(glob)
    return tuple(found)
