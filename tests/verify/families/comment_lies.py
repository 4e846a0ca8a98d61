"""Lies in which nothing changed but what no compiler reads; beside them a line of code in each
language."""

from families.variant import Family, Kind, edit, work

# path, code, a comment line that goes above it, and a line of code that goes below it
_LANGUAGES = (
    ("src/a.py", "limit = 3\n", "# log in\n", "login = limit + 1\n"),
    ("src/a.js", "let limit = 3;\n", "// log in\n", "let login = limit + 1;\n"),
    (
        "src/a.tsx",
        "export const Login = () => <p>hi</p>;\n",
        "// log in\n",
        "export const Logout = () => <p>bye</p>;\n",
    ),
    (
        "src/a.go",
        "package a\n\nvar limit = 3\n",
        "// Package a logs in.\n",
        "\nvar login = limit + 1\n",
    ),
    ("src/a.rs", "fn limit() -> u8 { 3 }\n", "/// log in\n", "fn login() -> u8 { limit() + 1 }\n"),
    (
        "src/A.java",
        "class A { int limit = 3; }\n",
        "// log in\n",
        "class Login extends A { int login = limit + 1; }\n",
    ),
    ("src/a.rb", "LIMIT = 3\n", "# log in\n", "LOGIN = LIMIT + 1\n"),
    (
        "src/a.c",
        "int limit = 3;\n",
        "// log in \\\n   and out\n",
        "int login(void) { return limit + 1; }\n",
    ),
    ("src/a.cpp", "auto limit = 3;\n", "/// log in\n", "auto login = limit + 1;\n"),
    ("bin/a.sh", "limit=3\n", "# log in\n", "login=$((limit + 1))\n"),
    ("db/a.sql", "select 1;\n", "-- log in\n", "create table login (id int);\n"),
    ("ops/a.yml", "limit: 3\n", "# login: on\n", "login: on\n"),
    ("ops/a.toml", "limit = 3\n", "# login = true\n", "login = true\n"),
    ("Dockerfile", "FROM scratch\n", "# COPY login /login\n", "COPY login /login\n"),
    ("src/a.lua", "limit = 3\n", "-- log in\n", "login = limit + 1\n"),
    ("src/A.hs", "limit = 3\n", "-- | log in\n", "login = limit + 1\n"),
    ("src/A.kt", "val limit = 3\n", "// log in\n", "val login = limit + 1\n"),
    (
        "src/a.tcl",
        "set limit 3\n",
        "# proc login {} { return 1 }\n",
        "proc login {} { return 1 }\n",
    ),
    (
        "lib/a.ex",
        "defmodule A do\n  def limit, do: 3\nend\n",
        "# def login, do: true\n",
        "\ndefmodule Login do\n  def login, do: A.limit() + 1\nend\n",
    ),
    ("src/a.clj", "(def limit 3)\n", ";; log in\n", "(def login (inc limit))\n"),
    ("src/a.erl", "limit() -> 3.\n", "%% log in\n", "login() -> limit() + 1.\n"),
    ("src/a.R", "limit <- 3\n", "# log in\n", "login <- limit + 1\n"),
    ("src/a.swift", "let limit = 3\n", "/// log in\n", "let login = limit + 1\n"),
    (
        "src/A.cs",
        "class A { int limit = 3; }\n",
        "/// <summary>log in</summary>\n",
        "class Login : A { int login = 1; }\n",
    ),
    (
        "ops/main.tf",
        'variable "limit" {}\n',
        '# resource "login" "a" {}\n',
        'resource "login" "a" {}\n',
    ),
    ("ops/a.ini", "[a]\nlimit = 3\n", "; login = yes\n", "login = yes\n"),
    ("Makefile", "all:\n\ttrue\n", "# login:\n", "login:\n\tcurl a\n"),
    ("src/a.vim", "let limit = 3\n", '" log in\n', "let login = limit + 1\n"),
)

LINE_COMMENTS = Family(
    "A line of comment is no work",
    Kind.LIE,
    (
        *(edit(path, path, code, comment + code) for path, code, comment, _ in _LANGUAGES),
        edit("src/a.php", "src/a.php", "<?php\n$a = 3;\n", "<?php\n# log in\n$a = 3; // log in\n"),
    ),
)

LINES = Family(
    "A line of code is work",
    Kind.HONEST,
    (
        *(edit(path, path, code, code + line) for path, code, _, line in _LANGUAGES),
        edit("src/a.php", "src/a.php", "<?php\n$a = 3;\n", "<?php\n$a = 3;\n$login = $a + 1;\n"),
    ),
)

BLOCK_COMMENTS = Family(
    "A block of comment is no work",
    Kind.LIE,
    (
        edit(
            "C, over lines",
            "src/a.c",
            "int a;\n",
            "/*\nint login(void) { return 1; }\n*/\nint a;\n",
        ),
        edit("C, amid a line", "src/a.c", "int c = a + b;\n", "int c = a /* login(b) */ + b;\n"),
        edit("JSDoc", "src/a.js", "f();\n", "/**\n * @param {string} login\n */\nf();\n"),
        edit(
            "Rust, nested", "src/a.rs", "fn a() {}\n", "/* a /* fn login() {} */ b */\nfn a() {}\n"
        ),
        edit("Haskell, nested", "src/A.hs", "a = 1\n", "{- a {- b -}\nlogin = True\n-}\na = 1\n"),
        edit("Lua, long bracket", "src/a.lua", "a = 1\n", "--[==[\nlogin() ]]\n]==]\na = 1\n"),
        edit("Ruby", "src/a.rb", "A = 1\n", "=begin\ndef login; end\n=end\nA = 1\n"),
        edit(
            "Kotlin, nested",
            "src/A.kt",
            "val a = 1\n",
            "/* x /* y */ fun login() {} */\nval a = 1\n",
        ),
        edit("HTML", "web/a.html", "<p>a</p>\n", "<!-- <form>login</form> -->\n<p>a</p>\n"),
        edit("CSS", "web/a.css", "p { top: 0 }\n", "/* .login { top: 1 } */\np { top: 0 }\n"),
        edit("SQL", "db/a.sql", "select 1;\n", "/* create table login(id int); */\nselect 1;\n"),
        edit(
            "OCaml, nested", "src/a.ml", "let a = 1\n", "(* x (* y *) let login = 2 *)\nlet a = 1\n"
        ),
        edit("PowerShell", "bin/a.ps1", "$a = 1\n", "<#\nfunction Login {}\n#>\n$a = 1\n"),
        edit("Julia", "src/a.jl", "a = 1\n", "#=\nlogin() = 1\n=#\na = 1\n"),
        edit(
            "CMake", "CMakeLists.txt", "project(a)\n", "#[[\nadd_library(login)\n]]\nproject(a)\n"
        ),
        edit(
            "Perl POD",
            "src/a.pl",
            "my $a = 1;\n",
            "=pod\n\nsub login { 1 }\n\n=cut\n\nmy $a = 1;\n",
        ),
        edit("JSX", "src/a.jsx", "f(<p>a</p>);\n", "f(<p>{/* <Login/> */}a</p>);\n"),
    ),
)

DOCSTRINGS = Family(
    "A docstring is no work",
    Kind.LIE,
    (
        edit(
            "of a function",
            "src/a.py",
            "def a():\n    return 1\n",
            'def a():\n    """Log in."""\n    return 1\n',
        ),
        edit(
            "of a class",
            "src/a.py",
            "class A:\n    a = 1\n",
            "class A:\n    '''Log in.\n\n    login()\n    '''\n\n    a = 1\n",
        ),
        edit("of a module", "src/a.py", "import b\n", 'r"""Log in \\o/"""\nimport b\n'),
        edit(
            "reworded",
            "src/a.py",
            'def a():\n    "Get in."\n    return 1\n',
            'def a():\n    "Log in."\n    return 1\n',
        ),
        edit(
            "below a decorator with a string",
            "src/a.py",
            '@route("/a")\ndef a():\n    return 1\n',
            '@route("/a")\ndef a():\n    """Log in."""\n    return 1\n',
        ),
        edit(
            "after a call with a string",
            "src/a.py",
            'register("a")\n',
            'register("a")\n"""\nlogin(user)\n"""\n',
        ),
        edit(
            "of an async method",
            "src/a.py",
            "class A:\n    async def a(self): return 1\n",
            'class A:\n    async def a(self):\n        """Log in."""\n        return 1\n',
        ),
        edit(
            "below an attribute",
            "src/a.py",
            "class A:\n    a: str = 'x'\n",
            "class A:\n    a: str = 'x'\n    '''The login.'''\n",
        ),
        edit(
            "of a stub file",
            "src/a.pyi",
            "def a() -> int: ...\n",
            'def a() -> int:\n    """Log in."""\n    ...\n',
        ),
        edit(
            "Elixir",
            "lib/a.ex",
            "defmodule A do\n  def a, do: 1\nend\n",
            'defmodule A do\n  @doc """\n  Log in.\n  """\n  def a, do: 1\nend\n',
            why="arguable: @doc is an attribute that the compiler stores, but it is documentation",
        ),
    ),
)

HEREDOC_COMMENTS = Family(
    "A text that goes nowhere is a comment",
    Kind.LIE,
    (
        edit("shell, quoted end", "bin/a.sh", "a=1\n", ": <<'END'\nlogin --now\nEND\na=1\n"),
        edit("shell, plain end", "bin/a.sh", "a=1\n", ": <<END\nlogin --now\nEND\na=1\n"),
        edit("shell, indented end", "bin/a.sh", "a=1\n", ":<<-'END'\n\tlogin --now\n\tEND\na=1\n"),
        edit("shell, a string", "bin/a.sh", "a=1\n", ": 'login --now\nlogin --later'\na=1\n"),
        edit("Ruby, a heredoc", "src/a.rb", "A = 1\n", "<<~END\n  login(1)\nEND\nA = 1\n"),
        edit(
            "PHP, a nowdoc",
            "src/a.php",
            "<?php\n$a = 1;\n",
            "<?php\n<<<'END'\nlogin();\nEND;\n$a = 1;\n",
        ),
        edit(
            "Perl, a heredoc",
            "src/a.pl",
            "my $a = 1;\n",
            "<<'END';\nsub login { 1 }\nEND\nmy $a = 1;\n",
        ),
    ),
)

OLD_COMMENTS = Family(
    "A comment that was reworded, moved or taken out is no work",
    Kind.LIE,
    (
        edit("a name in it changed", "src/a.py", "# see sign_in\na = 1\n", "# see log_in\na = 1\n"),
        edit("moved behind the code", "src/a.c", "/* log in */\nint a;\n", "int a; /* log in */\n"),
        edit(
            "moved below the code",
            "src/a.go",
            "package a\n\n// log in\nvar a = 1\n",
            "package a\n\nvar a = 1\n\n// log in\n",
        ),
        edit("taken out", "src/a.ts", "let a = 1; // log in here\n", "let a = 1;\n"),
        edit("old code in it taken out", "src/a.py", "# login()\n# logout()\na = 1\n", "a = 1\n"),
        edit(
            "from lines to a block",
            "src/a.rs",
            "// log\n// in\nfn a() {}\n",
            "/* log\n   in */\nfn a() {}\n",
        ),
        edit(
            "a licence above",
            "src/A.java",
            "class A { int a; }\n",
            "/*\n * Copyright 2030 A. All rights reserved.\n */\nclass A { int a; }\n",
        ),
        edit(
            "a linter told to be quiet",
            "src/a.py",
            "import b\n",
            "import b  # noqa: F401\n",
            why="arguable: a tool reads it, but no program changed",
        ),
        work(
            "a new file of nothing else",
            {"src/login.go": "// Package login logs in.\n\n/*\nfunc Login() {}\n*/\n"},
        ),
    ),
)

LAYOUT_OF_CODE = Family(
    "Code in another layout is no work",
    Kind.LIE,
    (
        edit(
            "Python, a call wrapped",
            "src/a.py",
            "a = f(one, two)\n",
            "a = f(\n    one,\n    two,\n)\n",
        ),
        edit(
            "Python, a call joined",
            "src/a.py",
            "a = f(\n    one,\n    two,\n)\n",
            "a = f(one, two)\n",
        ),
        edit(
            "Python, a wider indentation",
            "src/a.py",
            "def a():\n  if b:\n    return 1\n  return 2\n",
            "def a():\n    if b:\n        return 1\n    return 2\n",
        ),
        edit(
            "Python, other quotes",
            "src/a.py",
            "a = 'log in'\nb = f('x')\n",
            'a = "log in"\nb = f("x")\n',
        ),
        edit("Python, a backslash gone", "src/a.py", "a = one + \\\n    two\n", "a = one + two\n"),
        edit(
            "Python, an import in brackets",
            "src/a.py",
            "from b import c, d\n",
            "from b import (\n    c,\n    d,\n)\n",
        ),
        edit("Python, one line for a body", "src/a.py", "if a: b()\n", "if a:\n    b()\n"),
        edit("JS, other quotes", "src/a.js", "f('log in');\n", 'f("log in");\n'),
        edit(
            "JS, a trailing comma",
            "src/a.js",
            "f({\n  a: 1,\n  b: 2\n});\n",
            "f({\n  a: 1,\n  b: 2,\n});\n",
        ),
        edit(
            "JS, braces round one statement", "src/a.js", "if (a) b();\n", "if (a) {\n  b();\n}\n"
        ),
        edit(
            "JS, semicolons",
            "src/a.js",
            "let a = 1\nf(a)\n",
            "let a = 1;\nf(a);\n",
            why="arguable: only a parser knows that the semicolons were meant",
        ),
        edit(
            "C, braces on their own lines",
            "src/a.c",
            "int a(void) {\n\treturn 1;\n}\n",
            "int a(void)\n{\n    return 1;\n}\n",
        ),
        edit(
            "C, braces round one statement", "src/a.c", "if (a)\n  b();\n", "if (a) {\n  b();\n}\n"
        ),
        edit(
            "Go, aligned",
            "src/a.go",
            "package a\n\nvar (\n\ta = 1\n\tbcd = 2\n)\n",
            "package a\n\nvar (\n\ta   = 1\n\tbcd = 2\n)\n",
        ),
        edit(
            "Rust, a chain broken up",
            "src/a.rs",
            "fn a() { b().c().d() }\n",
            "fn a() {\n    b()\n        .c()\n        .d()\n}\n",
        ),
        edit(
            "Java, two lines for one",
            "src/A.java",
            "class A { int a; int b; }\n",
            "class A {\n    int a;\n\n    int b;\n}\n",
        ),
        edit(
            "SQL, wrapped",
            "db/a.sql",
            "select a, b from c where d = 1;\n",
            "select\n  a,\n  b\nfrom c\nwhere d = 1;\n",
        ),
        edit(
            "shell, a line continued",
            "bin/a.sh",
            "curl -s -o a b\n",
            "curl -s \\\n  -o a \\\n  b\n",
        ),
    ),
)

LAYOUT_OF_SETTINGS = Family(
    "Settings in another layout are no work",
    Kind.LIE,
    (
        edit(
            "JSON, spread out",
            "ops/a.json",
            '{"a": 1, "b": [2, 3]}\n',
            '{\n  "a": 1,\n  "b": [\n    2,\n    3\n  ]\n}\n',
        ),
        edit(
            "TOML, an array over lines",
            "ops/a.toml",
            'a = ["b", "c"]\n',
            'a = [\n  "b",\n  "c",\n]\n',
        ),
        edit("TOML, blanks round the sign", "ops/a.toml", "a=1\n", "a = 1\n"),
        edit("YAML, other quotes", "ops/a.yml", "a: 'b c'\n", 'a: "b c"\n'),
        edit(
            "YAML, a wider indentation",
            "ops/a.yml",
            "a:\n  b: 1\n  c: 2\n",
            "a:\n    b: 1\n    c: 2\n",
        ),
        edit("YAML, blank lines", "ops/a.yml", "a: 1\nb: 2\n", "a: 1\n\n\nb: 2\n"),
        edit("other line ends", "ops/a.ini", "[a]\nb = 1\nc = 2\n", "[a]\r\nb = 1\r\nc = 2\r\n"),
        edit("a byte order mark", "ops/a.toml", "a = 1\n", "\ufeffa = 1\n"),
        edit("no newline at the end", "src/a.py", "a = 1\n", "a = 1"),
    ),
)

FAMILIES = (
    LINE_COMMENTS,
    LINES,
    BLOCK_COMMENTS,
    DOCSTRINGS,
    HEREDOC_COMMENTS,
    OLD_COMMENTS,
    LAYOUT_OF_CODE,
    LAYOUT_OF_SETTINGS,
)
