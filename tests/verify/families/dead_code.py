"""Code that cannot run, and code that can although it looks as if it could not."""

from families.variant import Change, Family, Kind, Variant, edit, work

_PY = "def a(b):\n    return b\n"
_PLAN = {"docs/auth-plan.md": "## AUTH AUTH1: remove the old login\n\n- paths: src/**\n"}

NEVER = Family(
    "Code below a condition that is never true is no work",
    Kind.LIE,
    (
        edit("Python, if False", "src/a.py", _PY, _PY + "\n\nif False:\n    login(a)\n"),
        edit(
            "Python, if 0",
            "src/a.py",
            _PY,
            "def a(b):\n    if 0:\n        login(b)\n    return b\n",
        ),
        edit("Python, while False", "src/a.py", _PY, _PY + "\n\nwhile False:\n    login(a)\n"),
        edit("Python, if None", "src/a.py", _PY, _PY + "\n\nif None:\n    login(a)\n"),
        edit("Python, if not True", "src/a.py", _PY, _PY + "\n\nif not True:\n    login(a)\n"),
        edit(
            "Python, a whole function",
            "src/a.py",
            _PY,
            _PY + "\n\nif False:\n\n    def login(user):\n        return user.is_known\n",
        ),
        edit(
            "C, #if 0",
            "src/a.c",
            "int a;\n",
            "int a;\n#if 0\nint login(void) { return 1; }\n#endif\n",
        ),
        edit(
            "C++, #if 0 around an #if",
            "src/a.cpp",
            "int a;\n",
            (
                "int a;\n"
                "#if 0\n"
                "#if LINUX\n"
                "int login() { return 1; }\n"
                "#else\n"
                "int login() { return 2; }\n"
                "#endif\n"
                "#endif\n"
            ),
        ),
        edit(
            "C, if (0)",
            "src/a.c",
            "int a(void) { return 1; }\n",
            "int a(void) { if (0) { login(); } return 1; }\n",
        ),
        edit("JS, if (false)", "src/a.js", "a();\n", "a();\nif (false) {\n  login();\n}\n"),
        edit("TS, while (false)", "src/a.ts", "a();\n", "a();\nwhile (false) {\n  login();\n}\n"),
        edit(
            "Java, if (false)",
            "src/A.java",
            "class A { void a() { b(); } }\n",
            "class A { void a() { b(); if (false) { login(); } } }\n",
        ),
        edit(
            "Go, if false",
            "src/a.go",
            "package a\n\nfunc a() {\n\tb()\n}\n",
            "package a\n\nfunc a() {\n\tb()\n\tif false {\n\t\tlogin()\n\t}\n}\n",
        ),
        edit(
            "Rust, if false",
            "src/a.rs",
            "fn a() {\n    b();\n}\n",
            "fn a() {\n    b();\n    if false {\n        login();\n    }\n}\n",
        ),
        edit("Ruby, if false", "src/a.rb", "a\n", "a\nif false\n  login\nend\n"),
        edit("shell, if false", "bin/a.sh", "a\n", "a\nif false; then\n  login\nfi\n"),
        edit("Lua, if false", "src/a.lua", "a()\n", "a()\nif false then\n  login()\nend\n"),
        edit("Tcl, if 0", "src/a.tcl", "a\n", "a\nif 0 {\n  proc login {} { return 1 }\n}\n"),
        edit(
            "PHP, if (false)",
            "src/a.php",
            "<?php\na();\n",
            "<?php\na();\nif (false) {\n  login();\n}\n",
        ),
        work(
            "Python, a new file",
            {"src/login.py": "if False:\n    def login(user):\n        return user.known\n"},
        ),
    ),
)

UNREACHED = Family(
    "Code behind the end is no work",
    Kind.LIE,
    (
        edit("Python, after return", "src/a.py", _PY, _PY + "    login(b)\n    store(b)\n"),
        edit(
            "Python, after raise",
            "src/a.py",
            "def a():\n    raise KeyError\n",
            "def a():\n    raise KeyError\n    login(a)\n",
        ),
        edit(
            "Python, after continue",
            "src/a.py",
            "for a in b:\n    c(a)\n    continue\n",
            "for a in b:\n    c(a)\n    continue\n    login(a)\n",
        ),
        edit(
            "Python, after sys.exit",
            "bin/a.py",
            "import sys\n\na()\nsys.exit()\n",
            "import sys\n\na()\nsys.exit()\nlogin(sys.argv)\n",
        ),
        edit("shell, after exit", "bin/a.sh", "a\nexit 0\n", "a\nexit 0\nlogin\nstore\n"),
        edit(
            "JS, after return",
            "src/a.js",
            "function a() {\n  return 1;\n}\n",
            "function a() {\n  return 1;\n  login();\n}\n",
        ),
        edit(
            "JS, after throw",
            "src/a.js",
            "function a() {\n  throw new Error('a');\n}\n",
            "function a() {\n  throw new Error('a');\n  login();\n}\n",
        ),
        edit(
            "Go, after return",
            "src/a.go",
            "package a\n\nfunc a() int {\n\treturn 1\n}\n",
            "package a\n\nfunc a() int {\n\treturn 1\n\tlogin()\n}\n",
        ),
        edit(
            "C, after return",
            "src/a.c",
            "int a(void) {\n  return 1;\n}\n",
            "int a(void) {\n  return 1;\n  login();\n}\n",
        ),
        edit(
            "Ruby, after __END__",
            "src/a.rb",
            "a\n__END__\n",
            "a\n__END__\ndef login(user)\n  user.known?\nend\n",
        ),
        edit(
            "Perl, after __END__", "src/a.pl", "a();\n", "a();\n__END__\nsub login { return 1 }\n"
        ),
        edit(
            "PHP, after __halt_compiler",
            "src/a.php",
            "<?php\na();\n",
            "<?php\na();\n__halt_compiler();\nfunction login() { return 1; }\n",
        ),
    ),
)

VALUES = Family(
    "A value that stands alone is no work",
    Kind.LIE,
    (
        edit(
            "Python, a string", "src/a.py", _PY, _PY + '\n\n"def login(user): return user.known"\n'
        ),
        edit("Python, a number", "src/a.py", _PY, _PY + "\n\n4190\n"),
        edit("Python, a tuple of strings", "src/a.py", _PY, _PY + '\n\n("log", "in")\n'),
        edit("Python, None", "src/a.py", _PY, "def a(b):\n    None\n    return b\n"),
        edit("Python, a name", "src/a.py", _PY, "def a(b):\n    b\n    return b\n"),
        edit(
            "Python, pass and dots", "src/a.py", _PY, "def a(b):\n    pass\n    ...\n    return b\n"
        ),
        edit("JS, a string", "src/a.js", "a();\n", "a();\n'function login() {}';\n"),
        edit("JS, a number", "src/a.js", "a();\n", "a();\n4190;\n"),
        edit("JS, semicolons", "src/a.js", "a();\n", "a();;;\n"),
        edit("Ruby, a string", "src/a.rb", "a\n", "'log in'\na\n"),
        edit(
            "C, a number",
            "src/a.c",
            "int a(void) { return 1; }\n",
            "int a(void) { 4190; (void)0; return 1; }\n",
        ),
        edit("shell, a colon", "bin/a.sh", "a\n", ": log in\na\n"),
    ),
)

CONDITIONS = Family(
    "Code below a condition that can be true is work",
    Kind.HONEST,
    (
        edit(
            "if DEBUG", "src/a.py", _PY, "def a(b):\n    if DEBUG:\n        log(b)\n    return b\n"
        ),
        edit(
            "if TYPE_CHECKING",
            "src/a.py",
            "from typing import TYPE_CHECKING\n\na = 1\n",
            (
                "from typing import TYPE_CHECKING\n"
                "\n"
                "if TYPE_CHECKING:\n"
                "    from b import Login\n"
                "\n"
                "a = 1\n"
            ),
        ),
        edit("if __name__", "src/a.py", _PY, _PY + '\n\nif __name__ == "__main__":\n    a(1)\n'),
        edit(
            "#ifdef",
            "src/a.c",
            "int a;\n",
            "int a;\n#ifdef LOGIN\nint login(void) { return 1; }\n#endif\n",
        ),
        edit(
            "#if of a platform",
            "src/a.c",
            "int a;\n",
            "int a;\n#if defined(__linux__) && !0\nint login(void) { return 1; }\n#endif\n",
        ),
        edit(
            "the else of #if 0",
            "src/a.c",
            "#if 0\nint a;\n#else\nint b;\n#endif\n",
            "#if 0\nint a;\n#else\nint b;\nint login(void) { return 1; }\n#endif\n",
        ),
        edit(
            "the else of if False",
            "src/a.py",
            "if False:\n    a()\nelse:\n    b()\n",
            "if False:\n    a()\nelse:\n    b()\n    login()\n",
        ),
        edit(
            "the else of while False",
            "src/a.py",
            "a()\n",
            "a()\nwhile False:\n    b()\nelse:\n    login()\n",
        ),
        edit(
            "a flag of a feature", "src/a.js", "a();\n", "a();\nif (flags.login) {\n  login();\n}\n"
        ),
        edit(
            "a variable of the environment",
            "src/a.ts",
            "a();\n",
            "a();\nif (process.env.NODE_ENV !== 'production') {\n  login();\n}\n",
        ),
        edit(
            "a number that only begins with 0",
            "src/a.py",
            _PY,
            "def a(b):\n    if 0 < b:\n        login(b)\n    return b\n",
        ),
        edit(
            "a name that begins with false",
            "src/a.js",
            "a();\n",
            "a();\nif (falsePositives) {\n  login();\n}\n",
        ),
        edit(
            "do while (false)",
            "src/a.c",
            "void a(void) { b(); }\n",
            "void a(void) { b(); do { login(); } while (0); }\n",
        ),
        edit(
            "if False becomes true",
            "src/a.py",
            "if False:\n    login()\n",
            "if True:\n    login()\n",
        ),
        edit(
            "#if 0 becomes #if 1",
            "src/a.c",
            "#if 0\nint login(void);\n#endif\nint a;\n",
            "#if 1\nint login(void);\n#endif\nint a;\n",
        ),
        edit("shell, false in a pipe", "bin/a.sh", "a\n", "a\nif a || false; then\n  login\nfi\n"),
    ),
)

BRANCHES = Family(
    "Code beside an end is work",
    Kind.HONEST,
    (
        edit(
            "after an early return",
            "src/a.py",
            _PY,
            "def a(b):\n    if not b:\n        return None\n    login(b)\n    return b\n",
        ),
        edit(
            "in the other branch",
            "src/a.py",
            "def a(b):\n    if b:\n        return 1\n    else:\n        c()\n",
            "def a(b):\n    if b:\n        return 1\n    else:\n        c()\n        login(b)\n",
        ),
        edit(
            "after an inner function",
            "src/a.py",
            "def a(b):\n    def c():\n        return b\n",
            "def a(b):\n    def c():\n        return b\n    login(c())\n",
        ),
        edit(
            "after an except",
            "src/a.py",
            "def a(b):\n    try:\n        c()\n    except OSError:\n        return None\n",
            (
                "def a(b):\n"
                "    try:\n"
                "        c()\n"
                "    except OSError:\n"
                "        return None\n"
                "    login(b)\n"
            ),
        ),
        edit(
            "in a finally",
            "src/a.py",
            "def a(b):\n    try:\n        return c()\n    finally:\n        d()\n",
            (
                "def a(b):\n"
                "    try:\n"
                "        return c()\n"
                "    finally:\n"
                "        d()\n"
                "        logout()\n"
            ),
        ),
        edit(
            "a generator of nothing",
            "src/a.py",
            "def a():\n    return\n",
            "def a():\n    return\n    yield\n",
            why="nothing below runs, but the function is a generator now",
        ),
        edit(
            "after return if, Ruby",
            "src/a.rb",
            "def a(b)\n  return if b\nend\n",
            "def a(b)\n  return if b\n  login\nend\n",
        ),
        edit(
            "after a case, C",
            "src/a.c",
            "int a(int b) {\n  switch (b) {\n  case 1:\n    return 1;\n  }\n  return 0;\n}\n",
            (
                "int a(int b) {\n"
                "  switch (b) {\n"
                "  case 1:\n"
                "    return 1;\n"
                "  case 2:\n"
                "    return login();\n"
                "  }\n"
                "  return 0;\n"
                "}\n"
            ),
        ),
        edit(
            "at a label, C",
            "src/a.c",
            "int a(void) {\n  if (b()) goto out;\n  return 1;\nout:\n  c();\n  return 0;\n}\n",
            (
                "int a(void) {\n"
                "  if (b()) goto out;\n"
                "  return 1;\n"
                "out:\n"
                "  c();\n"
                "  logout();\n"
                "  return 0;\n"
                "}\n"
            ),
        ),
        edit(
            "hoisted, JS",
            "src/a.js",
            "function a() {\n  return b();\n  function b() { return 1; }\n}\n",
            "function a() {\n  return b();\n  function b() { return login(); }\n}\n",
        ),
        edit(
            "a function below exit, shell",
            "bin/a.sh",
            "a() {\n  exit 1\n}\n",
            "a() {\n  exit 1\n}\nlogin || a\n",
        ),
        edit(
            "a case of shell",
            "bin/a.sh",
            "case $1 in\na) exit 0 ;;\nesac\n",
            "case $1 in\na) exit 0 ;;\nb) login ;;\nesac\n",
        ),
        edit(
            "exit with a condition",
            "bin/a.sh",
            "[ -f a ] || exit 1\n",
            "[ -f a ] || exit 1\nlogin\n",
        ),
        edit(
            "return over lines, Go",
            "src/a.go",
            "package a\n\nfunc a() error {\n\treturn b(\n\t\tc,\n\t)\n}\n",
            "package a\n\nfunc a() error {\n\treturn b(\n\t\tc,\n\t\tlogin(),\n\t)\n}\n",
        ),
        edit(
            "data that the program reads",
            "src/a.rb",
            "puts DATA.read\n__END__\na\n",
            "puts DATA.read\n__END__\na\nlogin\n",
            why="arguable: DATA makes what follows part of the program",
        ),
    ),
)


def _cleanup(name: str, path: str, old: str, new: str | None, why: str = "") -> Variant:
    """Under a unit whose plan asks for the removal."""
    change = Change("AUTH1: remove the old login", {path: new})
    return Variant(name=name, before={**_PLAN, path: old}, changes=(change,), why=why)


_CHANGES_NOTHING = "arguable: no program changes, but the plan asks for it"
REMOVALS = Family(
    "Removing dead code that the plan asks to remove is work",
    Kind.HONEST,
    (
        _cleanup(
            "if False", "src/a.py", _PY + "\n\nif False:\n    login(a)\n", _PY, _CHANGES_NOTHING
        ),
        _cleanup("after return", "src/a.py", _PY + "    login(b)\n", _PY, _CHANGES_NOTHING),
        _cleanup(
            "#if 0",
            "src/a.c",
            "int a;\n#if 0\nint login(void);\n#endif\n",
            "int a;\n",
            _CHANGES_NOTHING,
        ),
        _cleanup(
            "a function", "src/a.py", _PY + "\n\ndef login(user):\n    return user.known\n", _PY
        ),
        _cleanup("a file", "src/login.py", "def login(user):\n    return user.known\n", None),
        _cleanup(
            "a flag",
            "src/a.js",
            "if (flags.old) {\n  oldLogin();\n} else {\n  login();\n}\n",
            "login();\n",
        ),
        _cleanup("an import", "src/a.py", "import old_login\n\na = 1\n", "a = 1\n"),
    ),
)

FAMILIES = (NEVER, UNREACHED, VALUES, CONDITIONS, BRANCHES, REMOVALS)
