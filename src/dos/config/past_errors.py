"""Where the journal is, by a dos.toml that has errors.

Whoever breaks the policy must not keep a holder from giving a lane back, and [store] alone says where that is written.
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

# Wherever a table of that name begins: as a header, as a dotted key, as a table on one line.
_STORE = re.compile(r"""^[ \t]*[\[ \t]*["']?store["']?[ \t]*[].=]""", re.MULTILINE)
_HEADER = re.compile(r"^[ \t]*\[[ \t]*store[ \t]*\][ \t]*(#.*)?\r?$", re.MULTILINE)
_NEXT_HEADER = re.compile(r"^[ \t]*\[", re.MULTILINE)


def with_store_only(loaded: LoadedConfig, path: Path, state: Path) -> LoadedConfig:
    """What a lenient load left over, with the store as the file has it; an error when nobody can tell which that is."""
    for problem in loaded.problems:
        if problem.key[:1] == ("store",):
            raise _refused(problem)
    if (
        loaded.text or not loaded.problems
    ):  # it is TOML, and what is wrong is in other tables; or there is no file
        return loaded
    store = _store_of_broken_text(read_text(path) or "")
    if store is None:
        raise _refused(loaded.problems[0])
    # A file that was cut off may have named another store: what is not there cannot be it.
    found = embedded_path(store.url, state)
    if found is not None and not found.exists():
        raise _refused(loaded.problems[0])
    return structs.replace(loaded, config=Config(store=store))


def _store_of_broken_text(text: str) -> Store | None:
    """[store] of a text that is not TOML as a whole; None when it has one that cannot be read by itself."""
    places = len(_STORE.findall(text))
    if places == 0:
        return Store()
    header = _HEADER.search(text)
    if header is None or places > 1:
        return None
    after = text[header.end() :]
    following = _NEXT_HEADER.search(after)
    try:
        table = tomllib.loads(after[: following.start()] if following else after)
        return msgspec.convert(table, Store)
    except (ValueError, msgspec.ValidationError):
        return None


def _refused(problem: Problem) -> ConfigInvalid:
    return ConfigInvalid(str(problem), hint=problem.hint or "Run `dos lint` to see what is wrong.")
