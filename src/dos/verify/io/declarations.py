"""Where a unit declared that its work would be, read from a tree of git, never from disk.

What counts for a commit is the tree before it: an agent that writes its own declaration together
with the work must not widen what the work may touch.
"""

from collections.abc import Iterable, Iterator
from functools import lru_cache
from pathlib import Path

from msgspec import structs

from dos import globs, regions
from dos.config.load import parse
from dos.config.schema import Config
from dos.errors import RegionInvalid
from dos.git.objects import Objects
from dos.text import ascii_lower
from dos.units.markdown import document, fields
from dos.units.markdown.document import Document
from dos.units.policy import DeclaredUnit, Grammar, settings_of
from dos.units.unit import Unit
from dos.verify import content
from dos.verify.footprint import Purpose, Scope
from dos.verify.naming import UnitName
from dos.workspace import Workspace

LARGEST_DOCUMENT = 4_000_000


class Declarations:
    """What trees declare about units. What two trees share is read once, by its blob."""

    def __init__(self, objects: Objects, workspace: Workspace, config: Config) -> None:
        self._objects = objects
        self._config = config
        self._prefix = workspace.prefix
        self._texts: dict[str, tuple[str, str]] = {}  # as written, and with case folded
        self._documents: dict[str, Document] = {}
        self._ids: dict[str, dict[str, list[tuple[int, Unit]]]] = {}
        self._configs: dict[str, Config] = {}
        self._listed: dict[tuple[str, str], list[tuple[str, str]]] = {}
        self._scopes: dict[tuple[str, str, str], Scope] = {}

    def scope_for(self, tree: str, name: UnitName) -> Scope:
        """What a tree declares about a unit; an empty scope if it declares nothing."""
        key = tree, name.plan, name.phase
        if key not in self._scopes:
            self._scopes[key] = self._read_scope(tree, name)
        return self._scopes[key]

    def declares(self, tree: str, name: UnitName) -> bool:
        """Whether [units] of a tree's dos.toml or one of its plan documents has the unit."""
        configured = set(map(ascii_lower, self.config(tree).units))
        if not configured.isdisjoint(map(ascii_lower, _config_keys(name))):
            return True
        return next(self._declaring_units(tree, name), None) is not None

    def declared_name(self, tree: str, name: UnitName) -> str:
        """The unit's name as a plan document writes it; as it was asked for if none declares it.

        Receipts and recorded test runs have the name as the plan writes it, and people may type it
        in another case.
        """
        asked = f"{name.plan}/{name.phase}"
        for unit in self._declaring_units(tree, name):
            if ascii_lower(unit.name) == ascii_lower(asked):
                return unit.name
        return asked

    def _read_scope(self, tree: str, name: UnitName) -> Scope:
        """What the plan documents declare, and what [units] adds to it."""
        folder = self._folder(tree)
        settings = settings_of(self.config(tree).units, _config_keys(name))
        scopes = [self._scope(unit, folder, settings) for unit in self._declaring_units(tree, name)]
        if scopes:
            others = tuple(scope for scope in scopes[1:] if scope.is_declared)
            return structs.replace(scopes[0], others=others)
        if settings is None:
            return Scope()
        return Scope(
            paths=_below(folder, settings.paths),
            purpose=Purpose(settings.kind),
            acceptance=settings.accept,
        )

    def config(self, tree: str) -> Config:
        """A tree's dos.toml; what cannot be read of an old one has its default."""
        entry = self._objects.entry_at(tree, self._folder(tree) + "dos.toml")
        if entry is None or entry.is_tree:
            return Config()
        if entry.sha not in self._configs:
            text = content.decode(self._objects.blob(entry.sha) or b"")
            self._configs[entry.sha] = parse(text, Path("dos.toml"), lenient=True).config
        return self._configs[entry.sha]

    def strict_config(self, tree: str) -> Config:
        """The dos.toml to judge by. Raises if it has errors."""
        text = self.text(tree, "dos.toml")
        if not text:
            return Config()
        return parse(text, Path("dos.toml as it is committed")).config

    def _folder(self, tree: str) -> str:
        """The folder of a tree's dos.toml, from the workspace's root upwards.

        A folder whose dos.toml was never committed is no root in that tree.
        """
        folder = self._prefix
        while folder and self._objects.entry_at(tree, folder + "dos.toml") is None:
            parent = folder[:-1].rpartition("/")[0]
            folder = ""
            if parent:
                folder = f"{parent}/"
        return folder

    def text(self, tree: str, path: str) -> str:
        """A file of a tree by its path from the workspace's root; empty if there is none."""
        entry = self._objects.entry_at(tree, self._folder(tree) + path)
        if entry is None or entry.is_tree:
            return ""
        return content.decode(self._objects.blob(entry.sha) or b"")

    def _scope(self, unit: Unit, folder: str, settings: DeclaredUnit | None) -> Scope:
        """The scope that a plan document states, else [units], else that its text implies."""
        stamp = self._config.stamp
        purpose = Purpose.CODE
        if settings is not None:
            unit = settings.complete(unit)
            purpose = Purpose(settings.kind)
        if unit.plan_class.lower() == "docs":
            purpose = Purpose.DOCS
        named: tuple[str, ...] = ()
        if not unit.paths:
            hubs = (*stamp.infra_basenames, *stamp.infra_doc_basenames)
            named = fields.mentioned_files(unit.text, code_dirs=stamp.code_dirs, hubs=hubs)
        return Scope(
            title=unit.title,
            paths=_below(folder, _valid_globs(unit.paths)),
            files=named,
            purpose=purpose,
            acceptance=unit.acceptance,
        )

    def units(self, tree: str) -> list[Unit]:
        """Every unit that the plan documents of a tree declare; of two with one name, the first."""
        declared: list[Unit] = []
        for path, sha in self.documents(tree):
            declared += self._document(path, sha).units
        # The first of a name stands, in the place of the last.
        by_name = {unit.name: unit for unit in reversed(declared)}
        return list(by_name.values())[::-1]

    def _declaring_units(self, tree: str, name: UnitName) -> Iterator[Unit]:
        """The unit in each document that declares it, in their order."""
        spellings = dict.fromkeys(map(ascii_lower, name.spellings))
        for path, sha in self.documents(tree):
            _, folded_text = self._text(sha)
            if not any(spelling in folded_text for spelling in spellings):
                continue  # cheap: most documents are about something else
            by_id = self._by_id(path, sha)
            possible: list[tuple[int, Unit]] = []
            for spelling in spellings:
                possible += by_id.get(spelling, ())
            for _, unit in sorted(possible, key=_place):
                if name.is_declared_as(unit.plan, unit.id):
                    yield unit

    def _by_id(self, path: str, sha: str) -> dict[str, list[tuple[int, Unit]]]:
        """A document's units, with their places in it, by their ids with case folded."""
        if sha not in self._ids:
            self._ids[sha] = {}
            for place, unit in enumerate(self._document(path, sha).units):
                self._ids[sha].setdefault(ascii_lower(unit.id), []).append((place, unit))
        return self._ids[sha]

    def _document(self, path: str, sha: str) -> Document:
        """A parsed document, by its blob."""
        if sha not in self._documents:
            self._documents[sha] = _parsed(self._text(sha)[0], path, self._config.enumerate)
        return self._documents[sha]

    def _text(self, sha: str) -> tuple[str, str]:
        """A blob's text as written, and with case folded."""
        if sha not in self._texts:
            text = content.decode((self._objects.blob(sha) or b"")[:LARGEST_DOCUMENT])
            self._texts[sha] = text, ascii_lower(text)
        return self._texts[sha]

    def is_plan_document(self, tree: str, path: str) -> bool:
        """Whether a file of a tree is a document that declares units."""
        for document_path, sha in self.documents(tree):
            if document_path == path:
                return bool(self._document(path, sha).units)
        return False

    def documents(self, tree: str) -> list[tuple[str, str]]:
        """Path and blob of each plan document. Most trees share one folder of them."""
        glob = self._folder(tree) + self._config.paths.plans_glob
        folder = globs.literal_folder(glob)
        top = self._objects.entry_at(tree, folder) if folder else None
        if folder and top is None:
            return []
        key = glob, top.sha if top else tree
        if key not in self._listed:
            documents = []
            for path, entry in self._objects.files(tree, folder):
                folded = globs.path_key(path)
                if folded is not None and globs.matches(glob, folded):
                    documents.append((path, entry.sha))
            self._listed[key] = documents
        return self._listed[key]


def _config_keys(name: UnitName) -> Iterator[str]:
    """The keys under which [units] may have a unit: with its plan first, then its id alone."""
    for spelling in name.spellings:
        yield f"{name.plan}/{spelling}"
    for spelling in name.spellings:
        if name.contains_plan(spelling) or spelling == name.phase:
            yield spelling


@lru_cache(maxsize=8)  # one process verifies the same few documents again and again
def _parsed(text: str, path: str, grammar: Grammar) -> Document:
    """Parse a document; cached by its text, because documents seldom change."""
    return document.read(text, plan=document.plan_name(path), document=path, grammar=grammar)


def _place(entry: tuple[int, Unit]) -> int:
    """The sort key: the place in the document."""
    return entry[0]


def _below(folder: str, paths: Iterable[str]) -> tuple[str, ...]:
    """Globs from the top of the tree, as git names files; plans write them from dos.toml."""
    return tuple(f"{globs.escape_folder(folder)}{path}" for path in paths)


def _valid_globs(paths: Iterable[str]) -> tuple[str, ...]:
    """The paths without what is no glob: an old document may state anything."""
    valid = []
    for glob in paths:
        try:
            regions.region((glob,))
        except RegionInvalid:
            continue
        valid.append(glob)
    return tuple(valid)
