"""Tells whether a change of a test file only adds tests, so that it still has all that it had.

New tests beside old ones, which are as they were, take nothing away: the file of the base need not
be run again. Python is parsed, because a new definition can hide an old one; of other languages
only lines may be added, and none that could skip or replace something.
"""

import ast
import re
import warnings
from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher

# What decides about other tests than its own, wherever it is written.
_STEERING = re.compile(
    r"\b(?:autouse|collect_ignore\w*|pytestmark|pytest_\w+|__test__|load_tests|setup_module"
    r"|setUpModule|tearDownModule|teardown_module|setup_method|setup_class|setUpClass|setUp"
    r"|tearDown|atexit|_exit|settrace|setprofile|skip\w*|xfail|only|todo|exit|abort|process\.exit"
    r"|jest\.mock|vi\.mock|beforeAll|beforeEach|afterAll|afterEach|TestMain|os\.Exit)\b"
)
# What ends the whole run of the tests, with the exit code of its choice.
_ENDING = re.compile(
    r"\bos\._exit\b|\bos\.abort\b|\bpytest\.exit\b|\batexit\.register\b|\bos\.Exit\(0\)"
    r"|\bprocess\.exit\b|\bDeno\.exit\b|\bprocess::exit\b|\bSystem\.exit\b|\bexit!"
)
_WORD = re.compile(r"[^\W\d]\w*")
_CODE = ("js", "jsx", "mjs", "cjs", "ts", "tsx", "go", "rs", "java", "kt", "cs", "rb", "c", "cpp")
MOST_COMPARED = 20_000  # lines of a file


def only_adds_tests(path: str, old: str, new: str) -> bool:
    """Whether a file has everything that it had, unchanged, and new tests besides."""
    suffix = path.rpartition(".")[2].lower()
    if suffix == "py":
        return _adds_to_python(old, new)
    return suffix in _CODE and _adds_lines(old, new)


def steers(path: str, text: str) -> bool:
    """Whether a file of the runner decides which tests run or pass; True if it is not understood.

    A conftest.py with nothing but fixtures that tests ask for by name does not.
    """
    if path.rpartition("/")[2] != "conftest.py":
        return True
    return _parsed(text) is None or _STEERING.search(text) is not None


def ends_the_run(text: str) -> bool:
    """Whether a test file contains what can end the run of all tests, and call it passed."""
    return _ENDING.search(text) is not None


def _adds_lines(old: str, new: str) -> bool:
    before, after = old.split("\n"), new.split("\n")
    if max(len(before), len(after)) > MOST_COMPARED:
        return False
    for kind, _, _, begin, end in SequenceMatcher(a=before, b=after, autojunk=False).get_opcodes():
        if kind in ("delete", "replace"):
            return False
        if kind == "insert" and _STEERING.search("\n".join(after[begin:end])):
            return False
    return True


def _adds_to_python(old: str, new: str) -> bool:
    before = _parsed(old)
    after = _parsed(new)
    if before is None or after is None:
        return False
    return _adds_nodes(before.body, after.body, frozenset(_WORD.findall(old)))


def _parsed(text: str) -> ast.Module | None:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # about escapes in strings of the user's code
            return ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def _adds_nodes(
    old: Sequence[ast.stmt],
    new: Sequence[ast.stmt],
    known: frozenset[str],
    *,
    in_class: bool = False,
) -> bool:
    """Whether a block has all its old statements in their order, and only new definitions besides.

    `known` are the words of the old file: a new definition of one of them could replace something.
    """
    left = list(old)
    for statement in new:
        if left and _is_same(left[0], statement, known):
            left.pop(0)
        elif not _is_harmless(statement, known, in_class=in_class):
            return False
    return not left


def _is_same(old: ast.stmt, new: ast.stmt, known: frozenset[str]) -> bool:
    """Whether a statement is as it was; an import may name more, and a class have more methods."""
    if isinstance(old, ast.ImportFrom) and isinstance(new, ast.ImportFrom):
        return _imports_more(old, new, known)
    if isinstance(old, ast.ClassDef) and isinstance(new, ast.ClassDef):
        if old.name != new.name or _head(old) != _head(new):
            return False
        return _adds_nodes(old.body, new.body, known, in_class=True)
    return ast.dump(old) == ast.dump(new)


def _imports_more(old: ast.ImportFrom, new: ast.ImportFrom, known: frozenset[str]) -> bool:
    if (old.module, old.level) != (new.module, new.level):
        return False
    before = {ast.dump(name) for name in old.names}
    after = {ast.dump(name): name for name in new.names}
    added = [name for key, name in after.items() if key not in before]
    return before <= after.keys() and not any(_bound(name) in known for name in added)


def _is_harmless(node: ast.stmt, known: frozenset[str], *, in_class: bool) -> bool:
    """Whether a new statement defines something of a new name, and decides about nothing else."""
    if _STEERING.search(ast.unparse(node)):
        return False
    names = list(_defined(node))
    if not names or (in_class and not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)):
        return False
    return known.isdisjoint(names)


def _defined(node: ast.stmt) -> Iterator[str]:
    """Yield the names that a definition, an import or a plain assignment binds."""
    match node:
        case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
            yield name
        case ast.Import(names=names) | ast.ImportFrom(names=names):
            yield from map(_bound, names)
        case ast.Assign(targets=[ast.Name(id=name)]) | ast.AnnAssign(target=ast.Name(id=name)):
            yield name


def _bound(name: ast.alias) -> str:
    """The name that an import binds; `*` may bind any."""
    return name.asname or name.name.partition(".")[0]


def _head(node: ast.ClassDef) -> str:
    return "".join(map(ast.dump, [*node.bases, *node.keywords, *node.decorator_list]))
