"""What of a text means something."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dos.verify import content
from dos.verify.code import languages, lexers
from dos.verify.content import decode, differs_in_substance, is_binary, significant_lines

SUFFIXES = sorted(languages._BY_SUFFIX | lexers._lexer_names())
KEPT = [
    ("a.py", 'url = "http://x  y"  # no\n', ['url="http://x  y"']),
    ("a.py", "x = '# not a comment'\n", ["x='# not a comment'"]),
    ("a.py", '#!/usr/bin/env python\n"""doc\nmore"""\nimport os  # c\n',
     ["#!/usr/bin/env python", "import os"]),
    ("a.py", 'def f( a , b ):\n  r"""d"""\n  return a[ 1 ]\n', ["def f(a,b):", " return a[1]"]),
    ("a.py", 'x = (\n    "kept"\n    "too"\n)\n', ["x=(", ' "kept"', ' "too"', ")"]),
    ("a.py", 's = """a\n   b # c\n\n"""\n', ['s="""a', "   b # c", "", '"""']),
    ("a.py", 'x = \\\n"kept"\n', ["x=\\", '"kept"']),
    ("a.py", 'if x:\n\t"gone"\n\ty()\n', ["if x:", " y()"]),
    ("a.js", 'const u = "http://x"; /* a\n b */ let y\n', ['const u="http://x";let y']),
    ("a.js", "x = /[\"'`//]/.test(y) // c\n", ["x=/[\"'`//]/.test(y)"]),
    ("a.js", "const t = `a // b\n  c`; // d\n", ["const t=`a // b", "  c`;"]),
    ("a.ts", "let x = a / b; // c / d\n", ["let x=a / b;"]),
    ("a.c", "/* unclosed\n a = 1;", ["/* unclosed", " a = 1;"]),
    ("a.c", "char c = '\"'; // \"\n", ["char c='\"';"]),
    ("a.cpp", 'auto s = R"x(// no )" )x"; // c\n', ['auto s=R"x(// no )" )x";']),
    ("a.rs", "fn f<'a>(x: &'a str) {} /* a /* b */ c */\n", ["fn f<'a>(x:&'a str){}"]),
    ("a.rs", 'let r = r#"// "no" "#; // c\n', ['let r=r#"// "no" "#;']),
    ("a.go", "//go:build linux\n// c\nx := `// no`\n", ["//go:build linux", "x:=`// no`"]),
    ("a.cs", 'var s = @"a""// no"; // c\n', ['var s=@"a""// no";']),
    ("a.kt", 'val s = """ // no """ // c\n', ['val s=""" // no """']),
    ("a.lua", "--[==[ x ]] ]==] a = [[ -- k ]] -- c", ["a = [[ -- k ]]"]),
    ("a.hs", "{-# LANGUAGE X #-}\nf x = x -- c\n  where y = {- a {- b -} -} 1\nop --> x\n",
     ["{-# LANGUAGE X #-}", "f x = x", " where y = 1", "op --> x"]),
    ("a.ml", "let x = 1 (* a (* b *) c *)\n", ["let x = 1"]),
    ("a.sh", '#!/bin/sh\n# c\necho "$#" a#b # d\necho ${x#y}\n',
     ["#!/bin/sh", 'echo "$#" a#b', "echo ${x#y}"]),
    ("a.yml", "# c\na: \"x # y\" # z\nb:\n    - don't # q\n", ['a: "x # y"', "b:", " - don't"]),
    ("a.sql", "select 'a--b' -- c\n/* x */ from t", ["select 'a--b'", "from t"]),
    ("a.rb", '=begin\nfoo\n=end\nx = "#{a}" # c\n', ['x = "#{a}"']),
    ("a.pl", "x;\n=pod\nfoo\n=cut\n$#y # c\n", ["x;", "$#y"]),
    ("a.ini", "; c\n[a]\nx = 1 ; kept\n", ["[a]", "x = 1 ; kept"]),
    ("a.html", "<p>it's</p> <!-- c\nd --> <b>\n", ["<p>it's</p> <b>"]),
    ("a.css", "a { /* c */ color: url(//x) }\n", ["a { color: url(//x) }"]),
    ("a.json", '{ "a" : "//" }\n', ['{"a":"//"}']),
    ("a.ps1", "<# c #>\n$x = 1 # d\n", ["$x = 1"]),
    ("a.bat", "REM c\n:: d\necho x\n", ["echo x"]),
    ("a.vb", "x = \"'\" ' c\n", ["x = \"'\""]),
    ("a.erl", 'x() -> "%". % c\n', ['x() -> "%".']),
    ("a.clj", '(f "; no") ; c\n', ['(f "; no")']),
    ("Dockerfile", "# c\nRUN a  b\n", ["RUN a b"]),
    ("Makefile", "all:\n\tx # c\n", ["all:", "\tx"]),
    ("a.unheard", "# kept\n\n b   c", ["# kept", "b c"]),
]  # fmt: skip


@pytest.mark.parametrize(("path", "text", "lines"), KEPT, ids=lambda value: repr(value)[:40])
def test_comments_blank_lines_and_spaces_go_and_strings_stay(path, text, lines):
    assert significant_lines(path, text) == lines
    assert significant_lines(path, "\n".join(lines)) == lines


@pytest.mark.parametrize(
    ("path", "old", "new"),
    [
        ("a.py", "if x:\n  y()\n", "if x:\n        y()\n"),
        ("a.py", "f(a,b)\n", "f( a, b )\n"),
        ("a.js", "f(a,b)\n", "\n\nf( a, b ) // c\n"),
        ("a.py", "x = 1\n", '"""Why."""\nx = 1\n'),
        ("a.yml", "a:\n  - b\n", "a:\n    - b # c\n"),
    ],
)
def test_the_same_in_other_clothes_does_not_differ(path, old, new):
    assert not differs_in_substance(path, old, new)


@pytest.mark.parametrize(
    ("path", "old", "new"),
    [
        ("a.py", "if x:\n    y()\n    z()\n", "if x:\n    y()\nz()\n"),
        ("a.py", 'x = "a b"\n', 'x = "a  b"\n'),
        ("a.py", "x = 1\n", "x = 2\n"),
        ("a.py", 's = """\na\n"""\n', 's = """\nb\n"""\n'),
        ("a.sh", "a=b\n", "a = b\n"),
        ("a.js", "a = 1 /* b */\n", "a = 1 /* b */ + c\n"),
        ("a.c", "/*\n*/ x();\n", "/*\nx(); */\n"),
        ("a.py", "", "x = 1\n"),
    ],
)
def test_another_meaning_differs(path, old, new):
    assert differs_in_substance(path, old, new) and differs_in_substance(path, new, old)


@given(st.sampled_from(SUFFIXES), st.text(max_size=400))
def test_any_text_in_any_language_can_be_read(suffix, text):
    lines = significant_lines(f"a.{suffix}", text)
    assert all(line.strip() and "\n" not in line and "\0" not in line for line in lines)


HOSTILE = st.text("ab =(){}[]'\"`#/*-<>!\\%;:,\n\t@$r", max_size=200)


@given(st.sampled_from(SUFFIXES), HOSTILE, HOSTILE)
def test_the_short_way_to_compare_agrees_with_the_long_one(suffix, old, new):
    path = f"a.{suffix}"
    if suffix in ("py", "pyi", "bzl", "star", "bazel"):
        # Whether a string stands alone depends on brackets before the change; the short way
        # may then say "differs".
        return
    alike = significant_lines(path, old) == significant_lines(path, new)
    assert not differs_in_substance(path, old, new) or not alike


STATEMENTS = {
    "a.py": ["x = 1", "def f(a):\n    return a", 's = "# no"', 't = """\n# in\n"""',
    "g(\n    'a',\n)", "if x:\n  y()"],
    "a.js": ["let x = 1;", "function f(a) {\n  return a;\n}", 's = "// no";', "t = `\n// in\n`;",
    "a = b / c;"],
    "a.c": ["int x = 1;", "int f(int a) {\n  return a;\n}", 's = "/* no */";', "c = '\"';"],
    "a.go": ["x := 1", "s := `// no\n`", 't := "/*"'],
    "a.rb": ["x = 1", 's = "# no"', "def f\n  1\nend"],
    "a.sh": ["x=1", "echo '# no'", "if a; then\n  b\nfi"],
    "a.rs": ["let x = 1;", "let s = \"// no\";", "fn f<'a>(x: &'a str) {}"],
    "a.yml": ["a: 1", "b:\n  - '# no'\n  - c"],
    "a.sql": ["select 1;", "select '-- no';"],
    "a.hs": ["f x = x", 's = "-- no"'],
    "a.lua": ["x = 1", "s = [[ -- no ]]"],
    "a.html": ["<p>a</p>", "<b>it's</b>"],
}  # fmt: skip
COMMENTS = {
    "a.py": ["# it's", '# """'],
    "a.js": ["// it's", "/* `a\nb */"],
    "a.c": ["// it's", '/* "a\nb */'],
    "a.go": ["// `", "/* a\nb */"],
    "a.rb": ["# it's"],
    "a.sh": ["# it's"],
    "a.rs": ["// it's", "/* a /* b */ \" */"],
    "a.yml": ["# it's"],
    "a.sql": ["-- it's", "/* ' */"],
    "a.hs": ["-- it's", "{- \" -}"],
    "a.lua": ["-- it's", "--[[ ' ]]"],
    "a.html": ["<!-- a\nb -->"],
}  # fmt: skip


@given(st.data())
def test_a_comment_or_a_blank_line_between_statements_changes_nothing(data):
    path = data.draw(st.sampled_from(sorted(STATEMENTS)))
    statements = data.draw(st.lists(st.sampled_from(STATEMENTS[path]), min_size=1, max_size=6))
    more = st.sampled_from(["", "   ", *COMMENTS[path]])
    plain = "\n".join(statements) + "\n"
    dressed = (
        "\n".join(part for statement in statements for part in (data.draw(more), statement))
        + "\n"
        + data.draw(more)
    )
    assert significant_lines(path, dressed) == significant_lines(path, plain)
    assert not differs_in_substance(path, plain, dressed)


@given(st.data())
def test_what_was_kept_is_kept_again(data):
    path = data.draw(st.sampled_from(sorted(STATEMENTS)))
    statements = data.draw(st.lists(st.sampled_from(STATEMENTS[path]), max_size=6))
    once = significant_lines(path, "\n".join(statements))
    assert significant_lines(path, "\n".join(once)) == once


@given(st.data())
def test_a_statement_more_or_less_differs(data):
    path = data.draw(st.sampled_from(sorted(STATEMENTS)))
    statements = data.draw(st.lists(st.sampled_from(STATEMENTS[path]), min_size=1, max_size=6))
    at = data.draw(st.integers(0, len(statements) - 1))
    fewer = statements[:at] + statements[at + 1 :]
    assert differs_in_substance(path, "\n".join(statements), "\n".join(fewer))


def test_binary_is_known_by_a_nul():
    assert is_binary(b"a\0b") and not is_binary(b"ab") and not is_binary(b"")
    assert not is_binary(b"a" * content._BINARY_PROBE_BYTES + b"\0")


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-16-be"])
def test_utf_16_is_text(encoding):
    raw = "login();\r\nlogout();\r\n".encode(encoding)
    assert not is_binary(raw)
    assert decode(raw) == "login();\nlogout();\n"
    assert decode("login(1);\n".encode(encoding)) != decode("login(2);\n".encode(encoding))


@pytest.mark.parametrize("order", ["le", "be"])
def test_with_a_mark_of_its_byte_order_utf_16_may_have_any_letters(order):
    raw = "\ufeffgrüße = '登录'\n".encode(f"utf-16-{order}")
    assert not is_binary(raw)
    assert decode(raw) == "grüße = '登录'\n"


@pytest.mark.parametrize(
    "raw",
    [
        b"\xff\xfea\0b",
        b"\xff\xfea\0\0\0",
        "\ufeffa".encode("utf-32-le"),
        "grüße\n".encode("utf-16-le"),
        b"\xff\xfe\0\xd8a\0",
        bytes(range(8)) * 4,
        b"\1\0\2\0\3\0\4\0",
        b"\0",
        b"\0\0",
    ],
    ids=["half", "nul", "utf-32", "no mark", "half a pair", "bytes", "numbers", "one", "two"],
)
def test_what_is_no_whole_utf_16_is_no_text(raw):
    assert is_binary(raw)
    assert decode(raw) != decode(raw + b"a")


SCRIPT = "{}\nlogin 'a'  # log in\n"


@pytest.mark.parametrize(
    "first",
    [
        "#!/bin/sh",
        "#!/usr/bin/env bash",
        "#!/usr/bin/env -S python3 -u",
        "#! /usr/local/bin/ruby",
        "#!/usr/bin/env LANG=C perl",
    ],
)
def test_a_script_without_a_suffix_is_in_the_language_of_its_interpreter(first):
    script = SCRIPT.format(first)
    assert significant_lines("bin/a", script) == [first, "login 'a'"]
    assert not differs_in_substance("bin/a", script, script + "# more\n")
    assert differs_in_substance("bin/a", script, script + "more\n")
    assert differs_in_substance("bin/a", script, script.replace("#!", "#!/opt"))


@pytest.mark.parametrize("first", ["#!/usr/bin/env", "#!/opt/tool", "# /bin/sh", "#!", ""])
def test_without_a_known_interpreter_all_lines_of_a_script_count(first):
    script = SCRIPT.format(first)
    assert differs_in_substance("bin/a", script, script + "# more\n")


@given(st.binary(max_size=100))
def test_any_bytes_can_be_decoded(raw):
    assert "\r" not in decode(raw)


def test_line_ends_and_marks_of_encodings_mean_nothing():
    assert decode(b"\xef\xbb\xbfa\r\nb\rc") == "a\nb\nc"
    assert decode(b"\xff") != decode(b"\xfe")
