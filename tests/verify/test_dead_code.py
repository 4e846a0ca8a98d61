"""Code that cannot run, in several languages, and honest work that looks like it."""

import time

import pytest
from repository import Repository

from dos.verify.candidate import Tier
from dos.verify.content import significant_lines
from dos.verify.dead_code import only_dead
from dos.verify.shipped import Answer
from dos.verify.stubs.only_stubs import TextChange

PYTHON = "def total(items):\n    return sum(items)\n"
JAVASCRIPT = "function total(items) {\n  return items.length;\n}\n"
C = "int total(int n) {\n  return n + 1;\n}\n"
GO = "package a\n\nfunc Total(n int) int {\n\treturn n + 1\n}\n"
RUST = "fn total(n: u32) -> u32 {\n    return n + 1;\n}\n"
RUBY = "def total(n)\n  return n + 1\nend\n"
SHELL = "total() {\n  return 0\n}\n"

# A path, the text before, and the text after.
LIES = {
    "a text after a statement": ("a.js", "f();\ng();\n", "f();\n'retry(3)';\ng();\n"),
    "a text of ruby": ("a.rb", "f\ng\n", "f\n'retry 3'\ng\n"),
    "a here document of ruby": ("a.rb", "f\ng\n", "f\n<<~A\n  retry 3\nA\ng\n"),
    "a text of perl": ("a.pl", "f();\ng();\n", "f();\n'retry 3';\ng();\n"),
    "a text of php": ("a.php", "<?php\nf();\n", "<?php\nf();\n'retry(3)';\n"),
    "a text for nobody": ("a.sh", "f\n", ": 'retry\nand again'\nf\n"),
    "a quoted document for nobody": ("a.sh", "f\n", ": <<'A'\n$(retry)\nA\nf\n"),
    "below a condition amid a line": (
        "a.c",
        "int f(void) { return 1; }\n",
        "int f(void) { if (0) { retry(3); } return 1; }\n",
    ),
    "numbers amid a line": ("a.c", "int f(void) { g(); }\n", "int f(void) { 7; (void)0; g(); }\n"),
    "if false of lua": ("a.lua", "f()\n", "f()\nif false then\n  retry(3)\nend\n"),
    "if 0 of tcl": ("a.tcl", "f\n", "f\nif 0 {\n  retry 3\n}\n"),
    "behind the end of php": (
        "a.php",
        "<?php\nf();\n",
        "<?php\nf();\n__halt_compiler();\nretry(3);\n",
    ),
    "if False": ("a.py", PYTHON, PYTHON + "\n\nif False:\n    retry(3)\n"),
    "if 0": ("a.py", PYTHON, PYTHON + "if 0:\n    for x in y:\n        retry(x)\n"),
    "if not True": ("a.py", PYTHON, PYTHON + "if not True:\n    retry(3)\n"),
    "if False and": ("a.py", PYTHON, PYTHON + "if False and ready:\n    retry(3)\n"),
    "if 1 == 2": ("a.py", PYTHON, PYTHON + "if 1 == 2:\n    retry(3)\n"),
    "while False": ("a.py", PYTHON, PYTHON + "while False:\n    retry(3)\n"),
    "for nothing": ("a.py", PYTHON, PYTHON + "for x in []:\n    retry(x)\n"),
    "else of if True": ("a.py", PYTHON, PYTHON + "if True:\n    pass\nelse:\n    retry(3)\n"),
    "an elif": (
        "a.py",
        "if a:\n    b()\n",
        "if a:\n    b()\nelif False:\n    while x:\n        retry(3)\n",
    ),
    "after return": ("a.py", PYTHON, PYTHON + "    for item in items:\n        retry(item)\n"),
    "after raise": (
        "a.py",
        "def f():\n    raise ValueError(1)\n",
        "def f():\n    raise ValueError(1)\n    return retry(3)\n",
    ),
    "after break": (
        "a.py",
        "for x in y:\n    break\n",
        "for x in y:\n    break\n    retry(x)\n",
    ),
    "after exit": ("a.py", "sys.exit(main())\n", "sys.exit(main())\n\n\ndef f():\n    return 1\n"),
    "after both branches": (
        "a.py",
        "def f(a):\n    if a:\n        return 1\n    else:\n        return 2\n",
        "def f(a):\n    if a:\n        return 1\n    else:\n        return 2\n    retry(3)\n",
    ),
    "a new function that is dead": (
        "a.py",
        None,
        "def retry(call):\n    if False:\n        for x in call:\n            x()\n",
    ),
    "a stub with dead code": (
        "a.py",
        None,
        "def retry(call):\n    raise NotImplementedError\n    return call() + call()\n",
    ),
    "a number alone": ("a.py", PYTHON, PYTHON + "\n\n42\n"),
    "a name alone": ("a.py", PYTHON, PYTHON + "\n\ntotal\n"),
    "names alone": ("a.py", PYTHON, PYTHON + "\n\n(total, 3)\n"),
    "cut short": ("a.py", PYTHON, PYTHON + "\n\nFalse and retry(3)\n"),
    "c, if 0": ("a.c", C, C + "#if 0\nint retry(int n) { return n * 2; }\n#endif\n"),
    "c, else of if 1": (
        "a.c",
        "int a;\n",
        "#if 1\nint a;\n#else\nint retry(int n) { return n * 2; }\n#endif\n",
    ),
    "c, nested directives": (
        "a.c",
        C,
        C + "#if 0 /* later */\n#ifdef A\nint b(void) { return 2; }\n#endif\n#endif\n",
    ),
    "c, if (0)": (
        "a.c",
        C,
        C.replace("  return", "  if (0) {\n    retry(n);\n  }\n  return"),
    ),
    "c, after return": ("a.c", C, C.replace("1;\n", "1;\n  retry(n);\n  return 2;\n")),
    "c, on one line": ("a.c", C, C.replace("return n + 1;", "return n + 1; retry(n);")),
    "javascript, if (false)": ("a.js", JAVASCRIPT, JAVASCRIPT + "if (false) {\n  retry(3);\n}\n"),
    "javascript, without braces": ("a.js", JAVASCRIPT, JAVASCRIPT + "if (false) retry(3);\n"),
    "javascript, an else if": (
        "a.js",
        "if (a) {\n  b();\n}\n",
        "if (a) {\n  b();\n} else if (false) {\n  while (x) retry(3);\n}\n",
    ),
    "javascript, after return": (
        "a.ts",
        JAVASCRIPT,
        JAVASCRIPT.replace("length;\n", "length;\n  for (const x of items) retry(x);\n"),
    ),
    "javascript, after throw": (
        "a.js",
        "function f() {\n  throw new Error('no');\n}\n",
        "function f() {\n  throw new Error('no');\n  return retry(3);\n}\n",
    ),
    "javascript, a constant after throw": (
        "a.js",
        "function f() {\n  throw new Error('no');\n}\n",
        "function f() {\n  throw new Error('no');\n  const a = retry(3);\n  a.save();\n}\n",
    ),
    "c, a constant after return": (
        "a.c",
        C,
        C.replace("1;\n", "1;\n  const int m = retry(n);\n"),
    ),
    "javascript, without semicolons": (
        "a.js",
        "function f() {\n  return g(1)\n}\n",
        "function f() {\n  return g(1)\n  retry(3)\n}\n",
    ),
    "javascript, cut short": ("a.js", JAVASCRIPT, JAVASCRIPT + "false && retry(3);\n"),
    "java": (
        "A.java",
        "class A {\n  int f() {\n    return 1;\n  }\n}\n",
        "class A {\n  int f() {\n    if (false) {\n      retry();\n    }\n    return 1;\n  }\n}\n",
    ),
    "go, if false": (
        "a.go",
        GO,
        GO.replace("\treturn", "\tif false {\n\t\tretry(n)\n\t}\n\treturn"),
    ),
    "go, after return": ("a.go", GO, GO.replace("+ 1\n", "+ 1\n\tretry(n)\n\treturn 2\n")),
    "go, after panic": (
        "a.go",
        'func f() {\n\tpanic("no")\n}\n',
        'func f() {\n\tpanic("no")\n\tretry(3)\n}\n',
    ),
    "rust, if false": (
        "a.rs",
        RUST,
        RUST.replace("    return", "    if false { retry(n); }\n    return"),
    ),
    "rust, after return": ("a.rs", RUST, RUST.replace("1;\n", "1;\n    retry(n);\n")),
    "php": ("a.php", "<?php\nf();\n", "<?php\nf();\nif (false) {\n  retry(3);\n}\n"),
    "c#": ("a.cs", "#if false\n#endif\nint a;\n", "#if false\nint b = Retry(3);\n#endif\nint a;\n"),
    "ruby, if false": ("a.rb", RUBY, RUBY + "if false\n  retry_it(3)\nend\n"),
    "ruby, after return": ("a.rb", RUBY, RUBY.replace("+ 1\n", "+ 1\n  retry_it(n)\n")),
    "ruby, after the end": ("a.rb", RUBY, RUBY + "__END__\ndef retry_it(n)\n  n * 2\nend\n"),
    "perl, after the end": ("a.pl", "f();\n", "f();\n__END__\nsub retry { return f() * 2 }\n"),
    "shell, if false": ("a.sh", SHELL, SHELL + "if false; then\n  retry 3\nfi\n"),
    "shell, after exit": (
        "a.sh",
        SHELL + "exit 0\n",
        SHELL + "exit 0\nretry 3\nfor x; do f; done\n",
    ),
    "shell, after return": ("a.sh", SHELL, SHELL.replace("return 0\n", "return 0\n  retry 3\n")),
}
HONEST = {
    "a string that a function returns": ("a.js", "f();\n", "f();\nconst g = () =>\n  'x';\n"),
    "a number that a function returns": ("a.js", "f();\n", "f();\nconst g = () =>\n  7;\n"),
    "a condition that a function returns": (
        "a.js",
        "f();\n",
        "const g = () =>\n  false && h();\nf();\n",
    ),
    "a module on the next line": ("a.js", "f();\n", "import g from\n  'g';\nf();\n"),
    "a directive of a file": ("a.js", "f();\n", "'use strict';\nf();\n"),
    "a directive of a function": (
        "a.ts",
        "function f() {\n  g();\n}\n",
        "function f() {\n  'use client';\n  'use strict';\n  g();\n}\n",
    ),
    "the last value of a method": ("a.rb", "def f\n  g\nend\n", "def f\n  g\n  'x'\nend\n"),
    "the last value of a branch": (
        "a.rb",
        "if a\n  f\nelse\n  g\nend\n",
        "if a\n  f\n  'x'\nelse\n  g\nend\n",
    ),
    "a string that goes on": ("a.rb", "f(1)\ng\n", "f(1) ||\n  'x'\ng\n"),
    "a word of a list": ("a.rb", "x = [\n]\nf\n", "x = [\n  'x'\n]\nf\n"),
    "a string with code in it": ("a.rb", "f\ng\n", 'f\n"#{h}"\ng\n'),
    "a text that is an argument": ("a.rb", "f\ng\n", "f <<~A\n  x\nA\ng\n"),
    "a text of ruby with a call": ("a.rb", "f\ng\n", "f\n<<~A.each_line { |x| h x }\n  x\nA\ng\n"),
    "a text of php with code in it": ("a.php", "<?php\nf();\n", '<?php\nf();\n"{$a->b()}";\n'),
    "text around the code of php": ("a.php", "<?php f(); ?>\n", "<?php f(); ?>\n'x';\n"),
    "the true value of a module": ("a.pm", "package A;\nf();\n", "package A;\nf();\n1;\n"),
    "the last value of perl": ("a.pl", "sub f { g(); }\n", "sub f { g(); 'x'; }\n"),
    "a default of a shell": ("a.sh", "f\n", ': "${A:=1}"\nf\n'),
    "a file that a shell empties": ("a.sh", "f\n", ": > log\nf\n"),
    "a document that a shell expands": ("a.sh", "f\n", ": <<A\n$(g)\nA\nf\n"),
    "a command beside a document": ("a.sh", "f\n", ": <<A; g\nx\nA\nf\n"),
    "a document that a command reads": ("a.sh", "f\n", "g <<'A'\nx\nA\nf\n"),
    "a loop of a shell": ("a.sh", "f\n", "while :; do\n  f\ndone\n"),
    "a branch of lua": (
        "a.lua",
        "f()\n",
        "if false then\n  f()\nelse\n  g()\nend\n",
    ),
    "a branch of tcl": ("a.tcl", "f\n", "if 0 {\n  f\n} else {\n  g\n}\n"),
    "a flag of lua": ("a.lua", "f()\n", "f()\nif falsey then\n  g()\nend\n"),
    "data of php": (
        "a.php",
        "<?php\nread(__COMPILER_HALT_OFFSET__);\n",
        "<?php\nread(__COMPILER_HALT_OFFSET__);\n__halt_compiler();\nabc\n",
    ),
    "an end in a text": (
        "a.php",
        "<?php\n$x = 'a';\n",
        "<?php\n$x = '\n__halt_compiler();\n';\ng();\n",
    ),
    "a value that is used": (
        "a.c",
        "int f(void) { return 1; }\n",
        "int f(void) { return 4190; }\n",
    ),
    "a body": ("a.py", PYTHON, PYTHON + "\n\ndef more(x):\n    return x + 1\n"),
    "live code beside dead": (
        "a.py",
        PYTHON,
        PYTHON + "if False:\n    retry(3)\n\n\ndef more(x):\n    return x + 1\n",
    ),
    "the types of a checker": (
        "a.py",
        PYTHON,
        PYTHON + "if TYPE_CHECKING:\n    from a import B\n    C = list[B]\n",
    ),
    "imports for a tool": ("a.py", PYTHON, PYTHON + "if False:\n    import hidden\n"),
    "a flag": ("a.py", "DEBUG = False\n", "DEBUG = False\nif DEBUG:\n    retry(3)\n"),
    "a debug block": ("a.py", PYTHON, PYTHON + "if __debug__:\n    check(total)\n"),
    "a main guard": ("a.py", PYTHON, PYTHON + 'if __name__ == "__main__":\n    total([])\n'),
    "dead code that is removed": ("a.py", PYTHON + "if False:\n    retry(3)\n", PYTHON),
    "dead code that is let run": (
        "a.py",
        PYTHON + "if False:\n    retry(3)\n",
        PYTHON + "if ready:\n    retry(3)\n",
    ),
    "code that is switched off": (
        "a.py",
        PYTHON + "retry(3)\n",
        PYTHON + "if False:\n    retry(3)\n",
    ),
    "an early return": (
        "a.py",
        "def f(x):\n    retry(x)\n    return x\n",
        "def f(x):\n    return x\n    retry(x)\n",
    ),
    "a loop for ever": ("a.py", PYTHON, PYTHON + "while True:\n    retry(3)\n"),
    "after a loop that breaks": (
        "a.py",
        "while True:\n    if a():\n        break\n",
        "while True:\n    if a():\n        break\nretry(3)\n",
    ),
    "an empty generator": (
        "a.py",
        "def f():\n    return\n",
        "def f():\n    return\n    yield\n",
    ),
    "a name that is tried": (
        "a.py",
        PYTHON,
        PYTHON + "try:\n    unicode\nexcept NameError:\n    unicode = str\n",
    ),
    "tasks that are chained": ("a.py", "a = task()\n", "a = task()\na >> b\n"),
    "a return under a condition": (
        "a.py",
        "def f(x):\n    if x:\n        return 1\n",
        "def f(x):\n    if x:\n        return 1\n    retry(x)\n",
    ),
    "c, an include guard": ("a.h", "", "#ifndef A\n#define A\nint retry(int n);\n#endif\n"),
    "c, a feature": ("a.c", C, C + "#if FEATURE\nint retry(int n) { return n; }\n#endif\n"),
    "c, once": ("a.h", "#define A(x) f(x)\n", "#define A(x) do { f(x); g(x); } while (0)\n"),
    "c, a jump": (
        "a.c",
        "int f(int n) {\n  if (n) goto out;\n  return 1;\n}\n",
        "int f(int n) {\n  if (n) goto out;\n  return 1;\nout:\n  retry(n);\n  return 2;\n}\n",
    ),
    "c, a return without braces": (
        "a.c",
        "int f(int n) {\n  if (n)\n    return 1;\n}\n",
        "int f(int n) {\n  if (n)\n    return 1;\n  retry(n);\n}\n",
    ),
    "c, a case": (
        "a.c",
        "int f(int n) {\n  switch (n) {\n  case 1: g(); return 1;\n  }\n}\n",
        "int f(int n) {\n  switch (n) {\n  case 1: g(); return 1;\n  case 2: return h();\n  }\n}\n",
    ),
    "javascript, a function that is known before": (
        "a.js",
        "function f() {\n  return g();\n}\n",
        "function f() {\n  return g();\n  function g() {\n    return 1;\n  }\n}\n",
    ),
    "javascript, a chain over lines": (
        "a.js",
        "function f() {\n  return a\n}\n",
        "function f() {\n  return a\n    .b()\n    .retry(3)\n}\n",
    ),
    "javascript, a flag": ("a.js", JAVASCRIPT, JAVASCRIPT + "if (DEBUG) {\n  retry(3);\n}\n"),
    "go, a guard": (
        "a.go",
        GO,
        GO.replace("\treturn", "\tif n < 0 {\n\t\treturn 0\n\t}\n\treturn"),
    ),
    "rust, an item after a return": (
        "a.rs",
        RUST,
        RUST.replace("1;\n", "1;\n    fn more(n: u32) -> u32 {\n        n * 2\n    }\n"),
    ),
    "ruby, a guard": (
        "a.rb",
        RUBY,
        RUBY.replace("  return", "  return 0 if n.nil?\n  f(n)\n  return"),
    ),
    "ruby, data": ("a.rb", "puts DATA.read\n", "puts DATA.read\n__END__\nthe text\n"),
    "ruby, a rescue": (
        "a.rb",
        "def f\n  raise A\nend\n",
        "def f\n  raise A\nrescue A\n  retry_it(3)\nend\n",
    ),
    "shell, a check": ("a.sh", SHELL, SHELL + "if ! ready; then\n  exit 1\nfi\nretry 3\n"),
    "shell, a usage": (
        "a.sh",
        "case $1 in\nesac\n",
        "case $1 in\n-h)\n  exit 0\n  ;;\n*)\n  retry 3\n  ;;\nesac\n",
    ),
    "shell, an archive": (
        "a.sh",
        "tail -n +3 $0 | tar x\nexit 0\n",
        "tail -n +3 $0 | tar x\nexit 0\nARCHIVE\n",
    ),
    "settings": ("a.toml", "", "retry = false\n"),
}


def added(path: str, old: str | None, new: str) -> str:
    return only_dead.only_dead([TextChange(path=path, old=old, new=new)])


@pytest.mark.parametrize("name", LIES)
def test_code_that_cannot_run_is_told_with_its_line(name):
    path, old, new = LIES[name]
    assert added(path, old, new).startswith(f"{path}:")
    assert only_dead.may_be(significant_lines(path, old or ""), significant_lines(path, new))


@pytest.mark.parametrize("name", HONEST)
def test_honest_work_is_not_dead(name):
    assert added(*HONEST[name]) == ""


def test_the_line_is_that_of_the_new_part():
    old = PYTHON + "if False:\n    one()\n"
    assert added("a.py", old, old + "if False:\n    two()\n") == "a.py:5"


def test_live_work_in_another_file_is_enough():
    dead = TextChange(path="src/a.py", old=PYTHON, new=LIES["if False"][2])
    live = TextChange(path="src/b.py", old=None, new=PYTHON)
    assert only_dead.only_dead([dead, live]) == ""


def test_a_test_beside_dead_code_is_no_work_on_it():
    dead = TextChange(path="src/a.py", old=PYTHON, new=LIES["if False"][2])
    test = TextChange(path="tests/test_a.py", old=None, new="def test_a():\n    assert f()\n")
    assert only_dead.only_dead([dead, test]) == "src/a.py:5"
    assert only_dead.only_dead([test]) == ""


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("a.py", "if 0:\n" * 1_000),
        ("a.py", "return\n" * 20_000),
        ("a.py", "if False:\n x\n" * 9_000),
        ("a.js", "{return;" * 20_000 + "}" * 20_000),
        ("a.js", "if (false) " * 20_000),
        ("a.c", "#if 0\n" * 20_000),
        ("a.c", "else if (0) {" * 20_000),
        ("a.go", "return " * 30_000),
        ("a.rb", "return\n" * 30_000),
        ("a.rb", "if false\n" * 30_000),
        ("a.sh", "exit 0\n" * 30_000),
        ("a.js", "false && " * 30_000),
        ("a.c", "0;" * 50_000),
        ("a.rs", "panic!(" * 30_000),
        ("a.js", "'a';" * 40_000),
        ("a.php", "<?php" * 30_000),
        ("a.pl", "<<A;\n" * 30_000),
        ("a.rb", "'a'\n" * 40_000),
        ("a.rb", "x\n" + "\n" * 90_000 + "'a'\n" + "\n" * 90_000),
        ("a.sh", ": 'a'\n" * 30_000),
        ("a.sh", ": " * 80_000),
        ("a.lua", "if false then\n" * 12_000),
        ("a.tcl", "if 0 {\n" * 25_000),
        ("a.py", "'" * 180_000),
        ("a.py", "<<" * 90_000),
        ("a.php", "__halt_compiler" + " " * 180_000),
    ],
)
def test_a_hostile_file_is_read_in_bounded_time(path, text):
    begun = time.process_time()
    added(path, None, text)
    only_dead.may_be([], text.split("\n"))
    assert time.process_time() - begun < 10


# In real repositories.


@pytest.fixture
def repository(tmp_path):
    return Repository(tmp_path / "work")


@pytest.mark.parametrize(
    "name",
    [
        "if False",
        "after return",
        "c, if 0",
        "go, after return",
        "ruby, after the end",
        "a number alone",
    ],
)
def test_a_unit_of_dead_code_alone_is_unproven_with_that_reason(repository, name):
    path, old, new = LIES[name]
    repository.commit("begin", {f"src/{path}": old})
    repository.commit("AUTH1: retry", {f"src/{path}": new})
    verdict = repository.verify("AUTH", "AUTH1")
    assert (verdict.answer, verdict.tier) == (Answer.UNPROVEN, Tier.NAMED)
    assert verdict.contradictions == ("dead_code_only",)
    assert verdict.reason.startswith(f"only code that cannot run was added: src/{path}:")


@pytest.mark.parametrize(
    "name",
    [
        "live code beside dead",
        "a flag",
        "dead code that is removed",
        "c, a case",
        "ruby, a rescue",
        "code that is switched off",
    ],
)
def test_a_unit_of_honest_work_ships(repository, name):
    path, old, new = HONEST[name]
    repository.commit("begin", {f"src/{path}": old})
    repository.commit("AUTH1: retry", {f"src/{path}": new})
    assert repository.verify("AUTH", "AUTH1").answer is Answer.SHIPPED


@pytest.mark.parametrize(
    ("path", "body", "switched_off"),
    [
        ("src/a.py", PYTHON, "if False:\n    def total(items):\n        return sum(items)\n"),
        ("src/a.c", C, f"#if 0\n{C}#endif\n"),
        ("src/a.rb", RUBY, f"__END__\n{RUBY}"),
    ],
)
def test_work_that_was_switched_off_later_is_not_there(repository, path, body, switched_off):
    repository.commit("begin", {"README.md": "hello\n"})
    repository.commit("AUTH1: retry", {path: body})
    repository.commit("go on", {path: switched_off})
    assert not repository.verify("AUTH", "AUTH1").shipped


def test_work_beside_code_that_was_switched_off_later_is_there(repository):
    repository.commit("begin", {"src/a.c": "int one;\n"})
    repository.commit("AUTH1: retry", {"src/a.c": f"int one;\n{C}"})
    repository.commit("go on", {"src/a.c": f"#if 0\nint one;\n#endif\n{C}"})
    assert repository.verify("AUTH", "AUTH1").shipped


def test_the_commit_that_lets_it_run_ships_it(repository):
    repository.commit("begin", {"src/a.py": PYTHON})
    repository.commit("AUTH1: retry", {"src/a.py": LIES["if False"][2]})
    repository.commit("AUTH1: on", {"src/a.py": LIES["if False"][2].replace("False", "ready")})
    assert repository.verify("AUTH", "AUTH1").answer is Answer.SHIPPED
