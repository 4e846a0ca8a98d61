"""The journal's place in a `dos.toml` that has errors.

An error in the policy must not keep a worker from releasing its lane, and for that only [store] is
needed.
"""

import re
import tomllib
from pathlib import Path

import msgspec
from msgspec import structs

from dos.config.load import LoadedConfig, Problem, read_text
from dos.config.schema import Config, Store
from dos.errors import ConfigInvalid
from dos.journal.backends.open import embedded_path

# Where the table starts: as a header, as a dotted key, or as an inline table.
_STORE = re.compile(r"""^[ \t]*[\[ \t]*["']?store["']?[ \t]*[].=]""", re.MULTILINE)
_HEADER = re.compile(r"^[ \t]*\[[ \t]*store[ \t]*\][ \t]*(#.*)?\r?$", re.MULTILINE)
_NEXT_HEADER = re.compile(r"^[ \t]*\[", re.MULTILINE)


def with_store_only(loaded: LoadedConfig, path: Path, state: Path) -> LoadedConfig:
    """Return the lenient configuration with the store that the file names.

    Raises ConfigInvalid when it is not certain which store that is.
    """
    for problem in loaded.problems:
        if problem.key[:1] == ("store",):
            raise _refused(problem)
    if loaded.text or not loaded.problems:
        return loaded  # the problems are in other tables, or there is no file
    store = _store_of_broken_text(read_text(path) or "")
    if store is None:
        raise _refused(loaded.problems[0])
    # A truncated file may have named another store, so the store has to exist.
    journal = embedded_path(store.url, state)
    if journal is not None and not journal.exists():
        raise _refused(loaded.problems[0])
    return structs.replace(loaded, config=Config(store=store))


def _store_of_broken_text(text: str) -> Store | None:
    """[store] of a text that is not TOML as a whole. None: it has one that cannot be read alone."""
    count = len(_STORE.findall(text))
    if count == 0:
        return Store()
    header = _HEADER.search(text)
    if header is None or count > 1:
        return None
    body = text[header.end() :]
    next_header = _NEXT_HEADER.search(body)
    if next_header:
        body = body[: next_header.start()]
    try:
        return msgspec.convert(tomllib.loads(body), Store)
    except (ValueError, msgspec.ValidationError):
        return None


def _refused(problem: Problem) -> ConfigInvalid:
    """The error for a problem that hides which store is meant."""
    return ConfigInvalid(str(problem), hint=problem.hint or "`dos lint` shows what is wrong.")
