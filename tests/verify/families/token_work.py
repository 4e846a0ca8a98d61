"""Honest work that looks like a comment, a layout or nothing at all."""

from families.variant import Family, Kind, edit

ORDER = Family(
    "The order of statements is work",
    Kind.HONEST,
    (
        edit(
            "out of an if",
            "src/a.py",
            "def a(b):\n    if b:\n        check(b)\n        store(b)\n    return b\n",
            "def a(b):\n    if b:\n        check(b)\n    store(b)\n    return b\n",
        ),
        edit(
            "into a with",
            "src/a.py",
            "def a(b):\n    with lock:\n        check(b)\n    store(b)\n",
            "def a(b):\n    with lock:\n        check(b)\n        store(b)\n",
        ),
        edit("two calls swapped", "src/a.py", "store(b)\ncheck(b)\n", "check(b)\nstore(b)\n"),
        edit(
            "a return moved down",
            "src/a.py",
            "def a(b):\n    if b:\n        return 1\n    log(b)\n",
            "def a(b):\n    log(b)\n    if b:\n        return 1\n",
        ),
        edit("two arguments swapped", "src/a.js", "assign(old, young);\n", "assign(young, old);\n"),
        edit(
            "one minus the other",
            "src/a.go",
            "package a\n\nvar left = a - b\n",
            "package a\n\nvar left = b - a\n",
        ),
        edit(
            "an await before a call",
            "src/a.ts",
            "async function a() {\n  send();\n  await save();\n}\n",
            "async function a() {\n  await save();\n  send();\n}\n",
        ),
        edit(
            "a brace moved",
            "src/a.c",
            "if (a) {\n  b();\n  c();\n}\n",
            "if (a) {\n  b();\n}\nc();\n",
        ),
        edit(
            "two steps of an image",
            "Dockerfile",
            "FROM a\nCOPY . /a\nRUN make deps\n",
            "FROM a\nRUN make deps\nCOPY . /a\n",
        ),
        edit(
            "two rules of a style",
            "web/a.css",
            "p { top: 0 }\np { top: 1px }\n",
            "p { top: 1px }\np { top: 0 }\n",
        ),
        edit(
            "two commands", "bin/a.sh", "cd /srv\nsource env\nrun\n", "source env\ncd /srv\nrun\n"
        ),
        edit("two routes", "src/a.rb", "get '/:id'\nget '/new'\n", "get '/new'\nget '/:id'\n"),
        edit(
            "a line moved to another section",
            "ops/a.toml",
            "[a]\nx = 1\ny = 2\n\n[b]\n",
            "[a]\nx = 1\n\n[b]\ny = 2\n",
        ),
    ),
)

SHELL_SIGNS = Family(
    "A sign of comment in a script or a heredoc is no comment",
    Kind.HONEST,
    (
        edit("the length of a variable", "bin/a.sh", "n=${#a}\n", "n=${#b}\n"),
        edit("a prefix cut off", "bin/a.sh", 'n="${a#v}"\n', 'n="${a##*/}"\n'),
        edit(
            "the number of arguments",
            "bin/a.sh",
            "[ $# -eq 1 ] || exit\n",
            "[ $# -eq 2 ] || exit\n",
        ),
        edit("a base in arithmetic", "bin/a.sh", "n=$((2#101))\n", "n=$((2#110))\n"),
        edit(
            "a line of a heredoc",
            "bin/a.sh",
            "cat >a.md <<END\n# A\nEND\n",
            "cat >a.md <<END\n# A\n# B\nEND\n",
        ),
        edit(
            "a script in a heredoc",
            "bin/a.sh",
            "cat >a.sh <<'END'\n#!/bin/sh\nEND\n",
            "cat >a.sh <<'END'\n#!/bin/bash\nEND\n",
        ),
        edit(
            "a heredoc of Ruby",
            "src/a.rb",
            "A = <<~END\n  # a\nEND\n",
            "A = <<~END\n  # a\n  # b\nEND\n",
        ),
        edit("a string of Python", "src/a.py", 'A = """\n# a\n"""\n', 'A = """\n# a\n# b\n"""\n'),
        edit(
            "a template of JS",
            "src/a.js",
            "const a = `\n// a\n`;\n",
            "const a = `\n// a\n// b\n`;\n",
        ),
        edit(
            "a heredoc of Perl", "src/a.pl", "print <<END;\n# a\nEND\n", "print <<END;\n# b\nEND\n"
        ),
        edit("the last index of an array", "src/a.pl", "my $n = $#a;\n", "my $n = $#b;\n"),
        edit(
            "a heredoc of an image",
            "Dockerfile",
            "FROM a\nRUN <<END\necho 1\nEND\n",
            "FROM a\nRUN <<END\necho 1 #2\necho '# 3'\nEND\n",
        ),
        edit("a recipe of make", "Makefile", "all:\n\techo '#a'\n", "all:\n\techo '#b'\n"),
    ),
)

STRINGS = Family(
    "A sign of comment in a string or a pattern is no comment",
    Kind.HONEST,
    (
        edit(
            "an address in JS",
            "src/a.js",
            "const a = 'http://old.example';\n",
            "const a = 'http://new.example';\n",
        ),
        edit(
            "an address in Go",
            "src/a.go",
            'package a\n\nvar a = "https://a.example/x"\n',
            'package a\n\nvar a = "https://a.example/y"\n',
        ),
        edit(
            "an address in Java",
            "src/A.java",
            'class A { String a = "ftp://a"; }\n',
            'class A { String a = "ftp://b"; }\n',
        ),
        edit(
            "a pattern with slashes",
            "src/a.js",
            "const a = /^https?:\\/\\//;\n",
            "const a = /^wss?:\\/\\//;\n",
        ),
        edit("a pattern with a class", "src/a.ts", "const a = /[//a]/;\n", "const a = /[//b]/;\n"),
        edit(
            "a pattern with a star",
            "src/a.js",
            "const a = /a/*2;\nlet b = 1;\n",
            "const a = /a/*3;\nlet b = 1;\n",
        ),
        edit(
            "raw string of Rust",
            "src/a.rs",
            'const A: &str = r#"a" // b"#;\n',
            'const A: &str = r#"a" // c"#;\n',
        ),
        edit("interpolated in Ruby", "src/a.rb", 'A = "a#{b}"\n', 'A = "a#{c}"\n'),
        edit("two dashes in SQL", "db/a.sql", "select '--a';\n", "select '--b';\n"),
        edit("two dashes in Lua", "src/a.lua", 'a = "--a"\n', 'a = "--b"\n'),
        edit(
            "a char of Rust with lifetimes",
            "src/a.rs",
            "fn a<'a>(b: &'a str) -> char { '/' } // x\n",
            "fn a<'a>(b: &'a str) -> char { '#' } // x\n",
        ),
        edit(
            "a verbatim string of C#",
            "src/A.cs",
            'class A { string a = @"c:\\//a"; }\n',
            'class A { string a = @"c:\\//b"; }\n',
        ),
        edit("an integer division of Python", "src/a.py", "a = b // c\n", "a = b // d\n"),
        edit("two dashes in Haskell", "src/A.hs", 'a = "--x"\n', 'a = "--y"\n'),
        edit(
            "a link to a part of a page",
            "web/a.html",
            '<a href="#top">a</a>\n',
            '<a href="#end">a</a>\n',
        ),
        edit(
            "an attribute of PHP",
            "src/a.php",
            "<?php\nfunction a() { return b(); }\n",
            "<?php\n#[Route('/login')]\nfunction a() { return b(); }\n",
        ),
    ),
)

SETTINGS = Family(
    "A sign of comment in a setting is no comment",
    Kind.HONEST,
    (
        edit("YAML, inside of a word", "ops/a.yml", "a: b#c\n", "a: b#d\n"),
        edit("YAML, in quotes", "ops/a.yml", 'a: "b # c"\n', 'a: "b # d"\n'),
        edit("YAML, in a block", "ops/a.yml", "text: |\n  # A\n  b\n", "text: |\n  # B\n  b\n"),
        edit("TOML, a colour", "ops/a.toml", 'a = "#fff"\n', 'a = "#000"\n'),
        edit("TOML, a long string", "ops/a.toml", 'a = """\n# b\n"""\n', 'a = """\n# c\n"""\n'),
        edit("CSS, an id", "web/a.css", "#a { top: 0 }\n", "#b { top: 0 }\n"),
        edit("CSS, a colour", "web/a.css", "p { color: #fff }\n", "p { color: #000 }\n"),
        edit("JSON, an address", "ops/a.json", '{"a": "http://b"}\n', '{"a": "http://c"}\n'),
        edit("a make variable", "Makefile", "A = \\#a\nall:\n\ttrue\n", "A = \\#b\nall:\n\ttrue\n"),
        edit("an ini value", "ops/a.cfg", "[a]\nb = c#1\n", "[a]\nb = c#2\n"),
        edit("an environment file", "ops/.env", "A='#1'\n", "A='#2'\n"),
        edit("HCL", "ops/main.tf", 'locals { a = "#1" }\n', 'locals { a = "#2" }\n'),
    ),
)

COMPILED_COMMENTS = Family(
    "A comment or a directive that a machine reads is work",
    Kind.HONEST,
    (
        edit("a define", "src/a.c", "int a;\n", "#define LOGIN 1\nint a;\n"),
        edit("an include", "src/a.cpp", "int a;\n", '#include "login.h"\nint a;\n'),
        edit("a pragma", "src/a.h", "int a;\n", "#pragma once\nint a;\n"),
        edit("a constraint of Go", "src/a.go", "package a\n", "//go:build linux\n\npackage a\n"),
        edit(
            "an embedded file of Go",
            "src/a.go",
            'package a\n\nimport _ "embed"\n\nvar b string\n',
            'package a\n\nimport _ "embed"\n\n//go:embed b.txt\nvar b string\n',
        ),
        edit("another shell", "bin/a.sh", "#!/bin/sh\na\n", "#!/bin/bash\na\n"),
        edit("another Python", "bin/a", "#!/usr/bin/python2\na()\n", "#!/usr/bin/python3\na()\n"),
        edit(
            "an extension of Haskell",
            "src/A.hs",
            "module A where\n",
            "{-# LANGUAGE GADTs #-}\nmodule A where\n",
        ),
        edit("an attribute of Rust", "src/a.rs", "struct A;\n", "#[derive(Clone)]\nstruct A;\n"),
        edit(
            "frozen strings of Ruby",
            "src/a.rb",
            "A = 'a'\n",
            "# frozen_string_literal: true\n\nA = 'a'\n",
        ),
        edit(
            "a conditional of MySQL",
            "db/a.sql",
            "select 1;\n",
            "/*!40101 SET NAMES utf8 */;\nselect 1;\n",
        ),
        edit(
            "types of TypeScript",
            "src/a.d.ts",
            "declare let a: number;\n",
            '/// <reference types="node" />\ndeclare let a: number;\n',
        ),
        edit(
            "the front end of an image",
            "Dockerfile",
            "FROM a\n",
            "# syntax=docker/dockerfile:1.7\nFROM a\n",
        ),
        edit(
            "cgo",
            "src/a.go",
            'package a\n\n// #include <a.h>\nimport "C"\n',
            'package a\n\n// #include <b.h>\nimport "C"\n',
        ),
        edit(
            "a conditional of JS",
            "src/a.js",
            "import('./a');\n",
            "import(/* webpackChunkName: 'a' */ './a');\n",
            why="arguable: only this bundler reads it",
        ),
    ),
)

BLANKS = Family(
    "A blank that means something is work",
    Kind.HONEST,
    (
        edit("in a string", "src/a.py", 'A = "log in"\n', 'A = "login"\n'),
        edit("two in a string", "src/a.js", "const a = 'a b';\n", "const a = 'a  b';\n"),
        edit(
            "in a string of Go",
            "src/a.go",
            'package a\n\nvar a = "a b"\n',
            'package a\n\nvar a = "a\tb"\n',
        ),
        edit("in a long string", "src/a.py", 'A = """\na\nb\n"""\n', 'A = """\na\n\nb\n"""\n'),
        edit(
            "in a heredoc",
            "bin/a.sh",
            "cat <<END\na: 1\nb: 2\nEND\n",
            "cat <<END\na: 1\n  b: 2\nEND\n",
        ),
        edit("in a template", "src/a.js", "const a = `a\nb`;\n", "const a = `a\n  b`;\n"),
        edit("a tab of a recipe", "Makefile", "all: a\n        echo a\n", "all: a\n\techo a\n"),
        edit(
            "a block of Python",
            "src/a.py",
            "for a in b:\n    c(a)\n    d()\n",
            "for a in b:\n    c(a)\nd()\n",
        ),
        edit(
            "an else of Python",
            "src/a.py",
            "for a in b:\n    if a:\n        c()\n    else:\n        d()\n",
            "for a in b:\n    if a:\n        c()\nelse:\n    d()\n",
        ),
        edit("a level of YAML", "ops/a.yml", "a:\n  b: 1\n  c: 2\n", "a:\n  b: 1\nc: 2\n"),
        edit("a block of YAML", "ops/a.yml", "a: |\n  b\n  c\n", "a: |\n  b\n    c\n"),
        edit("two words become one", "db/a.sql", "select a b from c;\n", "select ab from c;\n"),
    ),
)

DATA = Family(
    "A string or a number that the program uses is work",
    Kind.HONEST,
    (
        edit(
            "Python, a list", "src/a.py", 'A = [\n    "b",\n]\n', 'A = [\n    "b",\n    "c",\n]\n'
        ),
        edit("Python, numbers", "src/a.py", "A = [\n    1,\n]\n", "A = [\n    1,\n    2,\n]\n"),
        edit("Python, an argument", "src/a.py", 'f(\n    "a"\n)\n', 'f(\n    "a",\n    "b"\n)\n'),
        edit(
            "Python, a string goes on",
            "src/a.py",
            'a = (\n    "b"\n)\n',
            'a = (\n    "b"\n    "c"\n)\n',
        ),
        edit(
            "Python, a long string",
            "src/a.py",
            'HELP = """\nb\n"""\n',
            'HELP = """\nb\nlog in\n"""\n',
        ),
        edit(
            "Python, a returned string",
            "src/a.py",
            'def a():\n    return """b"""\n',
            'def a():\n    return """c"""\n',
        ),
        edit(
            "Python, a default",
            "src/a.py",
            'def a(b="c"):\n    return b\n',
            'def a(b="d"):\n    return b\n',
        ),
        edit(
            "Python, a query",
            "src/a.py",
            'run("""\nselect 1\n""")\n',
            'run("""\nselect 1\n-- and\nunion select 2\n""")\n',
        ),
        edit(
            "Python, a case",
            "src/a.py",
            'match a:\n    case "b":\n        c()\n',
            'match a:\n    case "b" | "d":\n        c()\n',
        ),
        edit(
            "JS, an array",
            "src/a.js",
            "const a = [\n  'b',\n];\n",
            "const a = [\n  'b',\n  'c',\n];\n",
        ),
        edit(
            "JS, strict",
            "src/a.js",
            "a = 1;\n",
            "'use strict';\na = 1;\n",
            why="a string alone, but the language reads it",
        ),
        edit("C, an array", "src/a.c", "int a[] = {\n  1,\n};\n", "int a[] = {\n  1,\n  2,\n};\n"),
        edit(
            "Go, a slice",
            "src/a.go",
            'package a\n\nvar a = []string{\n\t"b",\n}\n',
            'package a\n\nvar a = []string{\n\t"b",\n\t"c",\n}\n',
        ),
        edit(
            "Rust, the value of a block",
            "src/a.rs",
            "fn a() -> u8 {\n    1\n}\n",
            "fn a() -> u8 {\n    2\n}\n",
        ),
        edit(
            "Ruby, the value of a method", "src/a.rb", "def a\n  'b'\nend\n", "def a\n  'c'\nend\n"
        ),
        edit("Haskell, a list", "src/A.hs", 'a = [\n  "b"\n  ]\n', 'a = [\n  "b",\n  "c"\n  ]\n'),
        edit(
            "SQL, rows",
            "db/a.sql",
            "insert into a values\n(1);\n",
            "insert into a values\n(1),\n(2);\n",
        ),
        edit("YAML, items", "ops/a.yml", 'a:\n- "b"\n', 'a:\n- "b"\n- "c"\n'),
        edit("TOML, items", "ops/a.toml", 'a = [\n  "b",\n]\n', 'a = [\n  "b",\n  "c",\n]\n'),
        edit("shell, words", "bin/a.sh", "a=(\n  b\n)\n", "a=(\n  b\n  c\n)\n"),
    ),
)

FAMILIES = (ORDER, SHELL_SIGNS, STRINGS, SETTINGS, COMPILED_COMMENTS, BLANKS, DATA)
