#!/usr/bin/env python3
"""Print how densely a package is written: lines, prose, ternaries, comprehensions and import
aliases.

    measure_density.py [FOLDER ...]      one row per folder (default: src/dos)
    measure_density.py --by-package      one row per package of src/dos
    measure_density.py --places FOLDER   list each ternary, comprehension and alias

A code line is one with a token that is neither comment nor docstring. Ternaries and comprehensions
are counted per thousand code lines; the prose share is comment and docstring lines over all lines
that are not blank.
"""

import argparse
import ast
import io
import sys
import tokenize
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

SOURCE = Path(__file__).parent.parent / "src" / "dos"
COMPREHENSIONS = ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp
LAYOUT = {
    tokenize.NEWLINE,
    tokenize.NL,
    tokenize.INDENT,
    tokenize.DEDENT,
    tokenize.ENDMARKER,
    tokenize.COMMENT,
}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folders", nargs="*", type=Path)
    parser.add_argument("--by-package", action="store_true")
    parser.add_argument("--places", action="store_true")
    arguments = parser.parse_args()
    folders = arguments.folders or [SOURCE]
    if arguments.places:
        for folder in folders:
            for file in places(folder):
                print(file)
        return 0
    print(
        f"{'files':>5} {'lines':>6} {'code':>6} {'mean':>5} {'prose':>6} {'ternary':>8}"
        f" {'compreh.':>8} {'aliases':>7}  folder"
    )
    if arguments.by_package:
        for package in sorted({path.parent for path in SOURCE.rglob("*.py")}):
            print(row(sorted(package.glob("*.py")), str(package.relative_to(SOURCE.parent))))
    for folder in folders:
        print(row(sorted(folder.rglob("*.py")), str(folder)))
    return 0


def row(files: list[Path], name: str) -> str:
    total: Counter[str] = Counter()
    for path in files:
        total += measure(path.read_text())
    code = total["code"] or 1
    shown = total["code"] + total["prose"] or 1
    return (
        f"{len(files):>5} {total['lines']:>6} {total['code']:>6} {total['chars'] / code:>5.1f}"
        f" {100 * total['prose'] / shown:>5.1f}% {1000 * total['ternaries'] / code:>8.1f}"
        f" {1000 * total['comprehensions'] / code:>8.1f} {total['aliases']:>7}  {name}"
    )


def measure(text: str) -> Counter[str]:
    """Count the lines of each sort, and the expressions that hide a decision or a loop."""
    tree = ast.parse(text)
    lines = text.splitlines()
    docstrings = set(docstring_lines(tree))
    code, comments = token_lines(text)
    code -= docstrings
    prose = (docstrings | comments) - code
    counts = Counter(kind for kind, _ in expressions(tree))
    counts["lines"] = len(lines)
    counts["code"] = len(code)
    counts["prose"] = sum(1 for number in prose if lines[number - 1].strip())
    counts["chars"] = sum(len(lines[number - 1].strip()) for number in code)
    return counts


def token_lines(text: str) -> tuple[set[int], set[int]]:
    """The numbers of lines with code, and of those with a comment."""
    code: set[int] = set()
    comments: set[int] = set()
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type == tokenize.COMMENT:
            comments.add(token.start[0])
        elif token.type not in LAYOUT:
            code.update(range(token.start[0], token.end[0] + 1))
    return code, comments


def docstring_lines(tree: ast.Module) -> Iterator[int]:
    for node in ast.walk(tree):
        match node:
            case ast.Expr(value=ast.Constant(value=str()), end_lineno=int(last)):
                yield from range(node.lineno, last + 1)


def expressions(tree: ast.Module) -> Iterator[tuple[str, int]]:
    """Each ternary, comprehension and renaming import, with its line."""
    for node in ast.walk(tree):
        if isinstance(node, ast.IfExp):
            yield "ternaries", node.lineno
        elif isinstance(node, COMPREHENSIONS):
            yield "comprehensions", node.lineno
        elif isinstance(node, ast.Import | ast.ImportFrom):
            for alias in node.names:
                if alias.asname is not None and alias.asname != alias.name:
                    yield "aliases", node.lineno


def places(folder: Path) -> Iterator[str]:
    for path in sorted(folder.rglob("*.py")):
        text = path.read_text()
        for kind, line in sorted(expressions(ast.parse(text)), key=lambda found: found[1]):
            yield f"{path}:{line}: {kind.removesuffix('s')}: {text.splitlines()[line - 1].strip()}"


if __name__ == "__main__":
    sys.exit(main())
