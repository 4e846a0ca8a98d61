"""Decide whether anything refers to the modules that a commit adds.

A module that nothing imports has no effect. Only languages that import by name are read, and what
may be found or started in another way counts as referred to.
"""

import re
from collections.abc import Mapping, Sequence
from functools import cached_property

from dos.verify import file_kinds

_SCRIPTS = frozenset(("js", "jsx", "mjs", "cjs", "ts", "tsx"))
SUFFIXES = _SCRIPTS | {"py", "rs", "rb"}
# Files that a tool or a person starts, or that a framework finds by their names.
_ENTRY_NAMES = frozenset(
    (
        "admin", "app", "apps", "asgi", "build", "cli", "config", "conftest", "fabfile", "index",
        "lib", "main", "manage", "mod", "models", "noxfile", "server", "settings", "setup",
        "sitecustomize", "tasks", "urls", "wsgi",
    )
)  # fmt: skip
_ENTRY_BEGINS = (".", "_", *"0123456789")
_ENTRY_ENDS = (".config", ".d", ".stories", "hook", "plugin", "script", "worker")
_ENTRY_FOLDERS = frozenset(
    (
        "bin", "commands", "config", "contrib", "examples", "hooks", "initializers",
        "management", "migrate", "migrations", "pages", "plugins", "routes", "scripts", "tools",
        "bench", "benches", "benchmarks", "docs", "versions",
    )
)  # fmt: skip
_FOUND_FOLDERS = frozenset(("app",))  # whose files frameworks of Ruby and JavaScript find
_STARTED = re.compile(r"\A#!|__name__ == ['\"]__main__['\"]|\bfn main\(|require\.main === module")
# Programs that import what they find in a folder.
_DISCOVERY = re.compile(
    r"\b(?:pkgutil|import_module|__import__|iter_modules|require\.context|import\.meta\.glob|Zeitwerk"
    r"|eager_load|autodiscover|entry_points|readdirSync|Dir\[)"
)


def may_need_importer(path: str) -> bool:
    """Whether a new file by this name does nothing unless another file imports it."""
    folder, _, name = path.rpartition("/")
    stem, _, suffix = name.rpartition(".")
    if suffix.lower() not in SUFFIXES or file_kinds.is_test(path):
        return False
    folders = set(folder.lower().split("/"))
    if not _ENTRY_FOLDERS.isdisjoint(folders):
        return False
    if suffix.lower() != "py" and not _FOUND_FOLDERS.isdisjoint(folders):
        return False
    return not _is_entry(stem.lower())


def _is_entry(stem: str) -> bool:
    """Whether a file of this name is started, or found by a framework."""
    if stem in _ENTRY_NAMES or stem.startswith(_ENTRY_BEGINS):
        return True
    return stem.endswith(_ENTRY_ENDS) or stem.removesuffix("s").endswith(_ENTRY_ENDS)


class Texts:
    """The texts of a tree by path, in which modules are looked for."""

    def __init__(self, texts: Mapping[str, str]) -> None:
        self._texts = texts

    def has_no_importer(self, modules: Sequence[str]) -> bool:
        """Whether no other text refers to any of these modules; False in doubt."""
        if self._imports_what_it_finds:
            return False
        if any(_STARTED.search(self._texts.get(module, "")) for module in modules):
            return False
        return not any(self._is_named(module, modules) for module in modules)

    @cached_property
    def _imports_what_it_finds(self) -> bool:
        return any(map(_DISCOVERY.search, self._texts.values()))

    def _is_named(self, module: str, modules: Sequence[str]) -> bool:
        """Whether a text that is none of the modules refers to one."""
        stem = module.rpartition("/")[2].rpartition(".")[0]
        reference = _reference(module)
        for path, text in self._texts.items():
            is_likely = stem in text or _constant(stem) in text
            if is_likely and path not in modules and reference.search(text):
                return True
        return False


def _reference(module: str) -> re.Pattern[str]:
    """Matches how other files refer to a module."""
    folder, _, name = module.rpartition("/")
    stem, _, suffix = name.rpartition(".")
    word = rf"(?<![\w-]){re.escape(stem)}(?![\w-])"
    parent = re.escape(folder.rpartition("/")[2])
    forms = [rf"\b{parent}[./:]{{1,2}}{re.escape(stem)}\b"] if parent else []
    if suffix == "py":
        forms += [
            rf"^[ \t]*+(?:from|import)\b[^\n]{{0,500}}{word}",
            rf"\bimport[ \t]*+\([^)]{{0,2000}}{word}",
        ]
    elif suffix == "rs":
        forms += [rf"\bmod\s+{word}", rf"{word}::", rf"\buse\b[^;]{{0,500}}{word}"]
    elif suffix == "rb":
        forms += [rf"require[^\n]{{0,200}}{word}", rf"\b{_constant(stem)}\b"]
    else:
        forms.append(rf"[\"'`/]{re.escape(stem)}(?:\.\w+)?[\"'`]")
    return re.compile("|".join(forms), re.MULTILINE)


def _constant(stem: str) -> str:
    """The name of a class for a file: `UserSession` for `user_session`."""
    return "".join(part.capitalize() for part in stem.split("_"))
