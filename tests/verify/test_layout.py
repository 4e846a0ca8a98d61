"""Which changes are only another layout of the same program, and which are work."""

import ast
import re
import time

import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st
from repository import Repository

from dos.verify import content
from dos.verify.code import lexers, python_code
from dos.verify.content import differs_in_substance, significant_lines
from dos.verify.shipped import Answer

LAYOUT = {
    "a wrapped call": ("a.py", "x = f(a, b)\n", "x = f(\n    a,\n    b,\n)\n"),
    "a wrapped call of javascript": ("a.js", "f(a, b);\n", "f(\n  a,\n  b,\n);\n"),
    "a wrapped call of rust": ("a.rs", "f(a);\n", "f(\n    a,\n);\n"),
    "a wrapped list of go": ("a.go", "x := []int{1, 2}\n", "x := []int{\n\t1,\n\t2,\n}\n"),
    "a wrapped condition": ("a.c", "if (a && b) f();\n", "if (a\n    && b)\n  f();\n"),
    "a wrapped chain": ("a.ts", "a.b().c();\n", "a\n  .b()\n  .c();\n"),
    "a wrapped command": ("a.sh", "run --one --two\n", "run --one \\\n  --two\n"),
    "brackets instead of a backslash": ("a.py", "x = a + \\\n  b\n", "x = (\n    a\n    + b\n)\n"),
    "wider indentation": ("a.py", "if x:\n  y()\n", "if x:\n        y()\n"),
    "tabs": ("a.go", "func f() {\n  g()\n}\n", "func f() {\n\tg()\n}\n"),
    "spaces in json": ("a.json", '{"a":[1,2]}', '{\n  "a": [\n    1,\n    2\n  ]\n}\n'),
    "one statement a line": ("a.py", "a = 1; b = 2\n", "a = 1\nb = 2\n"),
    "a body on its own line": ("a.py", "if x: y()\n", "if x:\n    y()\n"),
    "a last comma": ("a.py", "x = [\n    1,\n    2\n]\n", "x = [\n    1,\n    2,\n]\n"),
    "a last comma after a string": ("a.py", 'x = [\n    "a"\n]\n', 'x = [\n    "a",\n]\n'),
    "a last comma of an object": ("a.js", "x = {\n  a: 1\n};\n", "x = {\n  a: 1,\n};\n"),
    "a last comma of toml": ("a.toml", "x = [1, 2]\n", "x = [\n  1,\n  2,\n]\n"),
    "braces around one statement": ("a.c", "if (a) f();\n", "if (a) {\n  f();\n}\n"),
    "braces of an else": (
        "a.java",
        "if (a) f(); else g();\n",
        "if (a) {\n  f();\n} else {\n  g();\n}\n",
    ),
    "braces of javascript": ("a.js", "for (;;)\n  f();\ng();\n", "for (;;) {\n  f();\n}\ng();\n"),
    "braces on a line of their own": (
        "a.cs",
        "if (a) {\n f(); g();\n}\n",
        "if (a)\n{\n f(); g();\n}\n",
    ),
    "other quotes": ("a.py", "x = 'a'\n", 'x = "a"\n'),
    "other quotes around a quote": ("a.py", "x = 'it\\'s'\n", 'x = "it\'s"\n'),
    "other quotes of javascript": ("a.ts", "x = 'a';\n", 'x = "a";\n'),
    "a prefix of old": ("a.py", "x = u'a'\n", "x = 'a'\n"),
    "a number in other digits": ("a.py", "x = 0x10\n", "x = 16\n"),
    "joined strings": ("a.py", "x = 'ab'\n", "x = 'a' 'b'\n"),
    "a parameter in brackets": ("a.js", "x = a => a;\n", "x = (a) => a;\n"),
    "else and if": (
        "a.py",
        "if a:\n    f()\nelif b:\n    g()\n",
        "if a:\n    f()\nelse:\n    if b:\n        g()\n",
    ),
    "a pass too many": ("a.py", "def f():\n    g()\n", "def f():\n    pass\n    g()\n"),
    "a comment in markup": ("a.jsx", "f(<p>a</p>);\n", "f(<p>{/* why */}a</p>);\n"),
    "no semicolons": ("a.js", "let a = 1;\nf(a);\n", "let a = 1\nf(a)\n"),
    "no semicolon at the end of a block": (
        "a.ts",
        "if (a) { f(); g(); }\n",
        "if (a) { f()\ng() }\n",
    ),
    "one statement a line, of javascript": ("a.js", "f(); g();\n", "f();\ng();\n"),
    "a wrapped query": ("a.sql", "select a, b from c;\n", "select\n  a,\n  b\nfrom c;\n"),
    "other quotes of yaml": ("a.yml", "a: 'b c'\n", 'a: "b c"\n'),
    "a mapping of yaml over lines": ("a.yml", "a: {b: 'c'}\n", 'a:\n  b: "c"\n'),
    "an empty statement": ("a.c", "f();\n", "f();\n;\n{}\n"),
}
COMMENTS = {
    "after a call with a string": ("a.py", 'f("a")\nx = 1\n', 'f("a")  # why\nx = 1  # how\n'),
    "a docstring after such a comment": (
        "a.py",
        'f("a")  # why\n\n\ndef g():\n    return 1\n',
        'f("a")  # why\n\n\ndef g():\n    """Say it."""\n    return 1\n',
    ),
    "a docstring after an open bracket in a comment": (
        "a.py",
        'x = ["a"]  # (\ndef g():\n    return 1\n',
        'x = ["a"]  # (\ndef g():\n    """Say it."""\n    return 1\n',
    ),
    "of a shell": ("a.sh", "x=${#a}\ny=$#\n", "x=${#a} # the length\ny=$# # how many\n"),
    "after a here document": ("a.sh", "cat <<EOF\na\nEOF\nb\n", "cat <<EOF\na\nEOF\nb # why\n"),
    "of ruby beside a here document": (
        "a.rb",
        "x = <<~A\n  # a\nA\n",
        "# why\nx = <<~A\n  # a\nA\n",
    ),
    "of yaml beside a text": ("a.yml", "a: |\n  # b\nc: 1\n", "a: |\n  # b\nc: 1 # why\n"),
    "nested": ("a.rs", "f();\n", "/* a /* b */ c */ f();\n"),
    "nested, of julia": ("a.jl", "f()\n", "#= a #= b =# c =#\nf()\n"),
    "of elixir": ("a.ex", 'f "# no"\n', 'f "# no" # yes\n'),
    "of clojure": ("a.clj", '(f "; no")\n', '(f "; no") ; yes\n'),
    "of haskell": ("a.hs", "f x = x\n", "-- | Itself.\nf x = x\n"),
    "of cmake": ("a.cmake", "set(A 1)\n", "#[[ why\n]]\nset(A 1) # how\n"),
    "a hint for a linter": ("a.py", "import a\n", "import a  # noqa: F401\n"),
    "a hint for a type checker": ("a.ts", "f(a);\n", "// @ts-ignore\nf(a);\n"),
    "that goes on after a backslash": ("a.c", "int a;\n", "// why \\\n   int b;\nint a;\n"),
    "documentation of elixir": ("a.ex", "def a, do: 1\n", '@doc """\nWhy.\n"""\ndef a, do: 1\n'),
    "above another import of go": ("a.go", 'import "fmt"\n', '// #why\nimport "fmt"\n'),
    "at the end of the code of php": ("a.php", "<?php f(); ?>\nx\n", "<?php f(); // why ?>\nx\n"),
    "of rust documentation": ("a.rs", "fn f() {}\n", "/// Does it.\nfn f() {}\n"),
}
WORK = {
    "a line that does not go on": ("a.rs", "fn f() {}\n", "// why \\\nfn g() {}\nfn f() {}\n"),
    "a semicolon before a bracket": ("a.js", "a = b\n(c)\n", "a = b;\n(c)\n"),
    "a semicolon after a condition": ("a.js", "if (a)\n  f()\n", "if (a);\n  f()\n"),
    "a semicolon after a keyword": (
        "a.js",
        "class A { get\nb() {} }\n",
        "class A { get;\nb() {} }\n",
    ),
    "a semicolon in a text": ("a.jsx", "f(<p>a\nb</p>)\n", "f(<p>a;\nb</p>)\n"),
    "an object without a comment": ("a.js", "f({});\n", "f();\n"),
    "a client's line of a query": ("a.sql", "select 1\ngo\n", "select 1 go\n"),
    "a line of a text in a query": ("a.sql", "select $$a b$$;\n", "select $$a\nb$$;\n"),
    "quotes that make yaml a text": ("a.yml", "a: 1\n", "a: '1'\n"),
    "another word for true of yaml": ("a.yml", "a: on\n", "a: true\n"),
    "a key of yaml twice": ("a.yml", "a: 'b'\n", 'a: "b"\na: "b"\n'),
    "an anchor of yaml": ("a.yml", "a: 'b'\n", "a: &c 'b'\n"),
    "a tag of yaml": ("a.yml", "a: 'b'\n", "a: !c 'b'\n"),
    "a test in documentation of elixir": (
        "a.ex",
        "def a, do: 1\n",
        '@doc """\niex> a()\n1\n"""\ndef a, do: 1\n',
    ),
    "hidden from the documentation of elixir": (
        "a.ex",
        "def a, do: 1\n",
        "@doc false\ndef a, do: 1\n",
    ),
    "lines of c for go": ("a.go", '// int f();\nimport "C"\n', '// int g();\nimport "C"\n'),
    "types of typescript": ("a.ts", "f();\n", '/// <reference types="node" />\nf();\n'),
    "the name of a chunk": ("a.js", "import('a');\n", "import(/* webpackChunkName: 'b' */ 'a');\n"),
    "text before the code of php": (
        "a.php",
        "<p># a</p>\n<?php f();\n",
        "<p># b</p>\n<?php f();\n",
    ),
    "text after the code of php": ("a.php", "<?php f(); ?>\n# a\n", "<?php f(); ?>\n# b\n"),
    "a blank line in a string": ("a.py", 'x = """a\nb"""\n', 'x = """a\n\nb"""\n'),
    "a tab of a recipe": ("Makefile", "a:\n    b\n", "a:\n\tb\n"),
    "a statement moved out of a condition": (
        "a.c",
        "if (a) {\n  f();\n  g();\n}\n",
        "if (a) {\n  f();\n}\n  g();\n",
    ),
    "a statement moved out of an indented condition": (
        "a.py",
        "if a:\n    f()\n    g()\n",
        "if a:\n    f()\ng()\n",
    ),
    "two lines in another order": ("a.py", "f()\ng()\n", "g()\nf()\n"),
    "two lines of javascript in another order": ("a.js", "f();\ng();\n", "g();\nf();\n"),
    "two keys of yaml in another order": ("a.yml", "- a\n- b\n", "- b\n- a\n"),
    "two arguments in another order": ("a.go", "f(a, b)\n", "f(b, a)\n"),
    "a tuple of one": ("a.py", "x = (1)\n", "x = (1,)\n"),
    "a tuple of one, of rust": ("a.rs", "let x = (1);\n", "let x = (1,);\n"),
    "a hole in an array": ("a.js", "x = [1,];\n", "x = [1,,];\n"),
    "a line end after return": (
        "a.js",
        "function f() { return a; }\n",
        "function f() { return\n a; }\n",
    ),
    "a space in a string": ("a.js", 'f("a b");\n', 'f("a  b");\n'),
    "another string": ("a.py", "x = 'it\\'s'\n", "x = 'it\\\\s'\n"),
    "bytes of a string": ("a.py", "x = 'a'\n", "x = b'a'\n"),
    "quotes that expand": ("a.sh", "f '$a'\n", 'f "$a"\n'),
    "a brace more": ("a.c", "if (a) f(); g();\n", "if (a) { f(); g(); }\n"),
    "another operator": ("a.c", "x = a < -b;\n", "x = a <- b;\n"),
    "signs apart": ("a.c", "x = a + +b;\n", "x = a++ b;\n"),
    "an early end": ("a.c", "f();\ng();\n", "f();\nreturn;\ng();\n"),
    "a line of a directive": ("a.c", "#define A 1\nint x;\n", "#define A 1 int x;\n"),
    "a directive": ("a.c", "int x;\n", "#pragma once\nint x;\n"),
    "an attribute of rust": ("a.rs", "fn f() {}\n", "#[inline]\nfn f() {}\n"),
    "an attribute of php": ("a.php", "<?php\nf();\n", "<?php\n#[Pure]\nf();\n"),
    "a shebang": ("a.sh", "f\n", "#!/bin/bash\nf\n"),
    "another shebang": ("a.py", "#!/usr/bin/python2\nf()\n", "#!/usr/bin/python3\nf()\n"),
    "an encoding": ("a.py", "f()\n", "# -*- coding: latin-1 -*-\nf()\n"),
    "a build constraint": ("a.go", "package a\n", "//go:build linux\n\npackage a\n"),
    "an old build constraint": ("a.go", "package a\n", "// +build linux\n\npackage a\n"),
    "an embedded file": ("a.go", "var a string\n", "//go:embed a.txt\nvar a string\n"),
    "c for go": (
        "a.go",
        '/*\nint f();\n*/\nimport "C"\n',
        '/*\nint f();\nint g();\n*/\nimport "C"\n',
    ),
    "a magic comment of ruby": ("a.rb", "f\n", "# frozen_string_literal: true\nf\n"),
    "a hint for a query": ("a.sql", "select 1;\n", "select /*+ FULL(t) */ 1;\n"),
    "a query for one server": ("a.sql", "select 1;\n", "select /*! STRAIGHT_JOIN */ 1;\n"),
    "a pragma of haskell": ("a.hs", "f = 1\n", "{-# LANGUAGE GADTs #-}\nf = 1\n"),
    "a directive of docker": ("Dockerfile", "FROM a\n", "# syntax=docker/dockerfile:1\nFROM a\n"),
    "a length": ("a.sh", "x=${#a}\n", "x=${#b}\n"),
    "a line of a here document": ("a.sh", "cat <<EOF\n# a\nEOF\n", "cat <<EOF\n# b\nEOF\n"),
    "a line of a quoted here document": (
        "a.sh",
        "cat <<-'EOF'\n\t# a\n\tEOF\n",
        "cat <<-'EOF'\n\t# b\n\tEOF\n",
    ),
    "a line of a here document of ruby": ("a.rb", "x = <<~A\n  # a\nA\n", "x = <<~A\n  # b\nA\n"),
    "a line of a here document of php": (
        "a.php",
        "<?php\n$x = <<<A\n# a\nA;\n",
        "<?php\n$x = <<<A\n# b\nA;\n",
    ),
    "a line of a text in yaml": ("a.yml", "run: |\n  # a\n  b\n", "run: |\n  # c\n  b\n"),
    "a conditional comment": (
        "a.html",
        "<p>a</p>\n",
        "<!--[if IE]><p>b</p><![endif]-->\n<p>a</p>\n",
    ),
}


@pytest.mark.parametrize("name", LAYOUT | COMMENTS)
def test_another_layout_or_comment_is_no_work(name):
    path, old, new = (LAYOUT | COMMENTS)[name]
    assert not differs_in_substance(path, old, new)
    assert not differs_in_substance(path, new, old)


@pytest.mark.parametrize("name", COMMENTS)
def test_lines_and_tokens_agree_what_a_comment_is(name):
    path, old, new = COMMENTS[name]
    assert significant_lines(path, old) == significant_lines(path, new)


@pytest.mark.parametrize("name", WORK)
def test_what_a_program_could_notice_is_work(name):
    path, old, new = WORK[name]
    assert differs_in_substance(path, old, new)
    assert differs_in_substance(path, new, old)


@pytest.mark.parametrize("name", LAYOUT | WORK)
def test_the_same_change_deep_in_a_file_is_read_alike(name):
    path, old, new = (LAYOUT | WORK)[name]
    if path.endswith(("json", "yml", "toml", "Dockerfile", "php")) or "shebang" in name:
        return
    if "encoding" in name or path.endswith("go"):
        return
    around = {"py": "def before():\n    return [1]\n{}\nafter = (2)\n", "c": "int a;\n{}\nint b;\n"}
    frame = around.get(path.rpartition(".")[2], "{}\n")
    changed = differs_in_substance(path, frame.replace("{}", old), frame.replace("{}", new))
    assert changed is (name in WORK)


# Laws.

STATEMENTS = [
    "x = 1", "y = [a, 'b', \"c\"]", "def f(a, *, b=2):\n    '''Do.'''\n    return a + b",
    "class A(B):\n    c: int = 3\n\n    def d(self):\n        yield self.c",
    "if a and b:\n    f()\nelif c:\n    g()\nelse:\n    h()", "for i in range(3): print(i)",
    "z = (lambda q: q)(1)", "with open('a') as b, c: pass", "s = f'{a!r:>{w}} b'",
    "try:\n    f()\nexcept (A, B) as e:\n    raise C from e\nfinally:\n    g()",
    "d = {'a': 1, **e}", "t = a if b else c", "assert a, 'it\\'s'", "n = 0xFF + 1_000 + 1e3 + .5",
    "u = u'a' 'b'", "@d\nasync def w():\n    await x\n    return [i async for i in y if i]",
    "match a:\n    case [1, *_]:\n        f()\n    case {'k': v}:\n        g(v)", "del a[1:2, ...]",
    "b = not (a == 1) and -x ** 2 < 3", "global_name: 'T' = None", "import a.b as c, d",
    "from . import a as b", "x = y = (1,)", "w = b'\\x41' + rb'\\d'",
]  # fmt: skip
PROGRAMS = st.lists(st.sampled_from(STATEMENTS), min_size=1, max_size=6).map("\n".join)


@given(PROGRAMS)
def test_python_that_is_written_anew_from_its_syntax_tree_is_the_same(text):
    again = ast.unparse(ast.parse(text)) + "\n"
    assert not differs_in_substance("a.py", text, again)
    assert not differs_in_substance("a.py", again, text)


@pytest.mark.parametrize("module", [ast, re, python_code, content, lexers])
def test_a_real_module_that_is_written_anew_is_the_same(module):
    with open(module.__file__, encoding="utf-8") as file:
        text = file.read()
    assert not differs_in_substance("a.py", text, ast.unparse(ast.parse(text)))


COMMENTED = {
    "a.py": ("# it's (\n", ["f(", "'a'", ",", "[1]", ")", "\n", "x", "=", "2", "\n"]),
    "a.c": (
        "/* it's\n( */ ",
        ["int", "x", "=", "f", "(", '"/*"', ",", "1", ")", ";", "y", "(", ")"],
    ),
    "a.js": (
        "/* it's ( */ ",
        ["let", "x", "=", "f", "(", "'//'", ",", "1", ")", ";", "y", "(", ")"],
    ),
    "a.rs": (
        "/* a /* b */ ( */ ",
        ["let", "x", "=", "f", "(", '"//"', ")", ";", "y", "(", ")", ";"],
    ),
    "a.go": ("/* `( */ ", ["x", ":=", "f", "(", "`/*`", ",", "1", ")", "\n", "y", "(", ")"]),
    "a.sql": ("/* it's ( */ ", ["select", "'--'", ",", "1", "from", "t", "where", "a", "=", "b"]),
}


@given(st.sampled_from(sorted(COMMENTED)), st.data())
def test_a_comment_between_any_two_tokens_is_no_work(path, data):
    comment, tokens = COMMENTED[path]
    if path == "a.py":  # a comment ends its line, so it stands between brackets or lines
        spots = [1, 2, 3, 4, 6, 10]
    else:
        spots = range(len(tokens) + 1)
    at = data.draw(st.sampled_from(list(spots)))
    plain = " ".join(tokens).replace("\n ", "\n")
    before = " ".join(tokens[:at]).replace("\n ", "\n")
    after = " ".join(tokens[at:]).replace("\n ", "\n")
    assert not differs_in_substance(path, plain, f"{before} {comment}{after}")


SIMPLE = {
    "a.py": ["f()", "x = 1", "y = g(2)", "del z", "return_value = 'a'"],
    "a.js": ["f();", "x = 1;", "let y = g(2);", "delete z;", "w = `a`;"],
    "a.c": ["f();", "x = 1;", "y = g(2);", "free(z);", 'puts("a");'],
    "a.rb": ["f", "x = 1", "y = g(2)", "puts 'a'"],
    "a.sh": ["f", "x=1", "echo 'a'", "g 2"],
    "a.go": ["f()", "x = 1", "y := g(2)"],
}


@given(st.sampled_from(sorted(SIMPLE)), st.data())
def test_two_statements_in_another_order_are_work(path, data):
    lines = data.draw(st.lists(st.sampled_from(SIMPLE[path]), min_size=2, max_size=6))
    at = data.draw(st.integers(0, len(lines) - 2))
    assume(lines[at] != lines[at + 1])
    swapped = [*lines[:at], lines[at + 1], lines[at], *lines[at + 2 :]]
    assert differs_in_substance(path, "\n".join(lines), "\n".join(swapped))


SUFFIXES = ["py", "js", "c", "cpp", "rs", "go", "sh", "rb", "php", "yml", "toml", "json", "sql",
            "hs", "ex", "clj", "kt", "scala", "html", "unheard"]  # fmt: skip
TEXTS = st.text("ab1 =(){}[]'\"`#/*-<>!\\;:,\n\t|Er", max_size=80)


@given(st.sampled_from(SUFFIXES), TEXTS, TEXTS)
@example("py", "pass\n", "...\n")
@example("c", "{}", "")
def test_which_text_came_first_means_nothing(suffix, one, other):
    path = f"a.{suffix}"
    assert differs_in_substance(path, one, other) is differs_in_substance(path, other, one)
    assert not differs_in_substance(path, one, one)


@given(st.sampled_from(SUFFIXES), TEXTS)
def test_segments_hold_the_whole_text(suffix, text):
    found = content.segments(f"a.{suffix}", text)
    assert "".join(segment.code + segment.literal for segment in found) == text


# The same in real repositories.


@pytest.fixture
def repository(tmp_path):
    return Repository(tmp_path / "work")


def change(repository: Repository, path: str, old: str, new: str) -> None:
    repository.commit("begin", {f"src/{path}": old})
    repository.commit("AUTH1: add the login", {f"src/{path}": new})


@pytest.mark.parametrize(
    "name",
    ["a wrapped call", "a wrapped list of go", "braces of javascript", "other quotes",
     "after a call with a string", "of a shell", "of clojure", "a pass too many"],
)  # fmt: skip
def test_a_commit_of_layout_or_comments_alone_is_refused_by_verify_and_audit(repository, name):
    change(repository, *(LAYOUT | COMMENTS)[name])
    verdict = repository.verify("AUTH", "AUTH1")
    assert (verdict.answer, verdict.contradictions) == (Answer.UNPROVEN, ("cosmetic_only",))
    assert "only comments or layout changed" in verdict.reason
    assert repository.dos("commit-audit")[0] == 1


@pytest.mark.parametrize(
    "name",
    ["a statement moved out of a condition", "two lines in another order",
     "two lines of javascript in another order", "an early end", "a build constraint",
     "a line of a here document", "a line of a text in yaml", "a length"],
)  # fmt: skip
def test_a_commit_of_order_or_of_text_like_a_comment_is_taken_by_both(repository, name):
    change(repository, *WORK[name])
    assert repository.verify("AUTH", "AUTH1").answer is Answer.SHIPPED
    assert repository.dos("commit-audit")[0] == 0


def test_an_order_that_was_put_back_is_undone(repository):
    path, old, new = WORK["two lines in another order"]
    change(repository, path, old, new)
    repository.commit("tidy", {f"src/{path}": old})
    assert repository.verify("AUTH", "AUTH1").answer is Answer.UNDONE


def test_an_order_is_still_there_when_lines_are_added_elsewhere(repository):
    change(repository, "a.py", "a()\nb()\nc()\nd()\n", "a()\nc()\nb()\nd()\n")
    repository.commit("more", {"src/a.py": "import x\n\na()\nc()\nb()\nd()\ne()\n"})
    assert repository.verify("AUTH", "AUTH1").answer is Answer.SHIPPED


def test_an_order_that_other_work_replaced_is_overwritten(repository):
    change(repository, "a.py", "a()\nb()\n", "b()\na()\n")
    repository.commit("anew", {"src/a.py": "c()\nd()\n"})
    verdict = repository.verify("AUTH", "AUTH1")
    assert (verdict.answer, verdict.contradictions) == (Answer.UNPROVEN, ("overwritten",))


HOSTILE = [
    ("a.c", "(" * 100_000), ("a.c", "{" * 50_000 + "}" * 50_000), ("a.js", "a,)" * 40_000),
    ("a.py", "x = " + "(" * 50_000), ("a.py", "x = " + "a + " * 20_000 + "a"),
    ("a.py", "x = 0x" + "f" * 20_000), ("a.py", "if a:\n" + "x = 1\n" * 20_000),
    ("a.sh", "<<A " * 40_000), ("a.rb", "<<~A\n" * 40_000), ("a.yml", "a: |\n" * 40_000),
    ("a.c", "f(a);\n" * 400_000), ("a.py", "f(a)\n" * 300_000), ("a.json", "[1]," * 500_000),
    ("a.hs", "{-" * 100_000), ("a.ex", '"\\' * 25_000), ("a.clj", "(" * 55_000),
    ("a.jl", "#=" * 25_000), ("a.cmake", "#[[" * 18_000), ("a.nim", " " * 50_000),
    ("a.yml", "[" * 50_000), ("a.yml", "a: '" * 10_000), ("a.yml", '- "a": b\n' * 6_000),
    ("a.go", "//\n" * 60_000), ("a.go", '//\nimport "C"\n' * 20_000), ("a.php", "?>" * 50_000),
    ("a.php", "<" * 90_000), ("a.php", "//?" * 40_000), ("a.js", "f();\n" * 40_000),
    ("a.js", "/*" + " " * 90_000), ("a.js", "(;" * 40_000), ("a.c", "//\\\n" * 60_000),
    ("a.ex", '@doc """' * 7_000), ("a.ex", "@doc " * 11_000), ("a.sql", "select 1\n" * 30_000),
]  # fmt: skip


@pytest.mark.parametrize(("path", "text"), HOSTILE, ids=lambda value: repr(value)[:20])
def test_a_hostile_text_is_compared_in_bounded_time(path, text):
    begun = time.process_time()
    differs_in_substance(path, text, f"{text}\n#\n//\n")
    differs_in_substance(path, f"a {text}", f"a\n{text}")
    assert time.process_time() - begun < 10


TRIED = [
    "'\\",
    '"\\',
    "(",
    "[",
    "{",
    "#",
    "/",
    "-",
    "a.",
    "a ",
    "a\n",
    '"""',
    "#=",
    "<",
    "@",
    "$",
    "#[[",
    "{-",
    "/*",
    "(*",
    "#|",
]


@pytest.mark.soak
@pytest.mark.parametrize("suffix", sorted(lexers._lexer_names()))
def test_every_lexer_reads_hostile_texts_in_bounded_time(suffix):
    for piece in TRIED:
        text = piece * (lexers.LARGEST_TEXT // len(piece))
        begun = time.process_time()
        assert lexers.segments(suffix, text) is not None
        assert time.process_time() - begun < 10, piece


def test_a_text_too_long_for_a_lexer_is_kept_as_it_is():
    text = "-- a\n" * lexers.LARGEST_TEXT
    assert significant_lines("a.hs", text[:50]) == []
    assert len(significant_lines("a.hs", text)) == lexers.LARGEST_TEXT
