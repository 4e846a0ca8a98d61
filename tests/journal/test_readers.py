"""Facts are a closed set, and whoever reads them has decided about every kind."""

import ast
from collections import Counter
from collections.abc import Iterator
from functools import cache
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import get_args

import pytest

import dos
from dos.journal.events.envelope import Fact
from dos.journal.events.kinds import KINDS, AnyFact
from dos.journal.events.reader import FactReader

SOURCE = Path(dos.__file__).parent
NAMES = {fact.__name__ for fact in get_args(AnyFact)}
# They ask only whether an event can be decoded, or show every kind by its text.
DECODE_EVERYTHING = {
    "journal/check.py",
    "journal/transfer/transfer.py",
    "report/timeline.py",
}


@cache
def texts() -> dict[str, str]:
    return {str(path.relative_to(SOURCE)): path.read_text() for path in SOURCE.rglob("*.py")}


def imported(path: str) -> ModuleType:
    return import_module(f"dos.{path.removesuffix('.py').replace('/', '.')}")


def all_facts() -> Iterator[type[Fact]]:
    waiting = [Fact]
    while waiting:
        found = waiting.pop().__subclasses__()
        waiting += found
        yield from found


@cache
def readers() -> dict[str, FactReader]:
    """Each reader of the product, by where it is: found, not listed."""
    makers = [path for path, text in texts().items() if "FactReader(" in text]
    rows = ((path, *named) for path in makers for named in vars(imported(path)).items())
    return {f"{path}:{name}": value for path, name, value in rows if isinstance(value, FactReader)}


def test_the_catalog_has_every_kind_once():
    for path in texts():
        if path.startswith("journal/events/"):
            imported(path)
    ours = [fact for fact in all_facts() if fact.__module__.startswith("dos.")]
    assert {fact.__name__ for fact in ours} == NAMES
    assert Counter(fact.kind for fact in ours) == Counter(list(KINDS))


@pytest.mark.parametrize(("where", "reader"), readers().items(), ids=readers())
def test_a_reader_handles_each_kind_or_is_silent_about_it(where: str, reader: FactReader):
    decided = Counter([*reader.handles, *reader.silent])
    assert not set(KINDS) - set(decided), "decide about them: handle them, or name them as silent"
    assert not set(decided) - set(KINDS), "there are no such kinds"
    assert not [kind for kind, count in decided.items() if count > 1], "named twice"


def test_a_reader_hands_out_the_facts_that_its_type_names():
    """Else mypy would look for cases of other kinds than those that come."""
    count = 0
    for path, text in texts().items():
        if "FactReader(" not in text:
            continue
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, ast.Call) and ast.unparse(node.func) == "FactReader":
                count += 1
                declaration = f"FactReader[{ast.unparse(node.args[0])}] = FactReader("
                assert declaration in text, f"{path}:{node.lineno}"
    assert count == len(readers())


def test_there_are_readers_to_be_found():
    assert {"fleet/state/entries.py:reader", "report/event_lines.py:_reader"} <= set(readers())


def test_only_readers_decode_facts():
    users = {path for path, text in texts().items() if imports_decode(ast.parse(text))}
    assert users == DECODE_EVERYTHING


def imports_decode(module: ast.Module) -> bool:
    """Whether a module imports the function that decodes events of every kind."""
    for node in ast.walk(module):
        if isinstance(node, ast.ImportFrom) and node.module == "dos.journal.events.reader":
            return "decode" in {name.name for name in node.names}
    return False


def facts_of(module: ast.Module) -> set[str]:
    """How a module spells the facts that it imports: `UnitLanded`, `events.UnitLanded`. Questions
    have such names."""
    homes = {fact.__module__ for fact in get_args(AnyFact)}
    spelled = set()
    for node in ast.walk(module):
        if not isinstance(node, ast.ImportFrom):
            continue
        for alias in node.names:
            name, known = alias.asname or alias.name, f"{node.module}.{alias.name}"
            spelled |= {name} if node.module in homes else set()
            spelled |= {f"{name}.{fact}" for fact in NAMES} if known in homes else set()
    return spelled


def classes_in(match: ast.Match) -> set[str]:
    patterns = (node for case in match.cases for node in ast.walk(case.pattern))
    return {ast.unparse(node.cls) for node in patterns if isinstance(node, ast.MatchClass)}


def is_closed(match: ast.Match) -> bool:
    """Its last case takes the rest and hands it to a function: `assert_never`, or one that takes
    just those kinds."""
    last = match.cases[-1]
    takes_all = (
        isinstance(last.pattern, ast.MatchAs)
        and last.pattern.pattern is None
        and last.guard is None
    )
    handed_on = isinstance(last.body[0], ast.Expr) and isinstance(last.body[0].value, ast.Call)
    return takes_all and handed_on and len(last.body) == 1


def test_whoever_tells_facts_apart_has_a_case_for_each():
    """That the cases are all there are is seen by mypy, where the last is closed."""
    on_facts = []
    for path, text in texts().items():
        if " match " not in text or "events" not in text:
            continue
        module = ast.parse(text)
        facts, matches = (
            facts_of(module),
            (node for node in ast.walk(module) if isinstance(node, ast.Match)),
        )
        on_facts += [(path, match) for match in matches if facts & classes_in(match)]
    assert len(on_facts) > 30
    assert [f"{path}:{match.lineno}" for path, match in on_facts if not is_closed(match)] == []
