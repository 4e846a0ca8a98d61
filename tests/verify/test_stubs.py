"""Bodies that do nothing yet, in several languages, and honest work that looks like them."""

import time

import pytest
from repository import Repository

from dos.verify.candidate import Tier
from dos.verify.shipped import Answer
from dos.verify.stubs import only_stubs
from dos.verify.stubs.only_stubs import TextChange

REAL = "def total(items):\n    return sum(item.price for item in items)\n"

LIES = {
    "pass": ("a.py", "def retry(call):\n    pass\n"),
    "dots": ("a.py", "def retry(call): ...\n"),
    "a docstring alone": ("a.py", 'def retry(call):\n    """Call again after a failure."""\n'),
    "not implemented": ("a.py", "def retry(call):\n    raise NotImplementedError\n"),
    "not implemented, with a reason": (
        "a.py",
        (
            'import time\n\n\ndef retry(call):\n    """Call again."""\n'
            '    raise NotImplementedError("retry is coming")\n'
        ),
    ),
    "an async one": ("a.py", "async def retry(call):\n    raise NotImplementedError()\n"),
    "None and a note": ("a.py", "def retry(call):\n    return None  # TODO\n"),
    "zero and a note": ("a.py", "def count(items):\n    # TODO: add them up\n    return 0\n"),
    "a list for now": ("a.py", "def rows():\n    return []  # empty for now\n"),
    "another exception": (
        "a.py",
        'def retry(call):\n    raise RuntimeError("not implemented yet")\n',
    ),
    "a print": ("a.py", 'def retry(call):\n    print("TODO: retry")\n'),
    "a log line and pass": (
        "a.py",
        (
            "import logging\n\nlogger = logging.getLogger(__name__)\n\n\n"
            'def retry(call):\n    logger.warning("retry is not implemented")\n    return None\n'
        ),
    ),
    "an empty class": ("a.py", "class Retry:\n    pass\n"),
    "a documented empty class": ("a.py", 'class Retry:\n    """Calls again."""\n'),
    "an empty class of a base": ("a.py", "class Retry(Policy):\n    pass\n"),
    "a class of stubs": (
        "a.py",
        (
            "class Retry:\n    limit: int = 3\n\n    def __init__(self, call):\n"
            "        self.call = call\n"
            "\n    def run(self):\n        raise NotImplementedError\n"
        ),
    ),
    "a stub beside its exception": (
        "a.py",
        "class RetryError(Exception):\n    pass\n\n\ndef retry(call):\n    ...\n",
    ),
    "a lambda": ("a.py", "retry = lambda call: None\n"),
    "an assignment": ("a.py", "retry = None  # TODO: write it\n"),
    "a test without a body": ("tests/test_a.py", "def test_retry():\n    pass\n"),
    "javascript, thrown": (
        "a.js",
        "export function retry(call) {\n  throw new Error('not implemented');\n}\n",
    ),
    "javascript, empty": ("a.js", "function retry(call) {\n}\n\nmodule.exports = { retry };\n"),
    "an arrow": ("a.ts", "export const retry = (call: Call): Result => {\n  // TODO\n};\n"),
    "an arrow to null": ("a.ts", "export const retry = (call: Call) => null; // TODO\n"),
    "typescript, a class": (
        "a.ts",
        (
            "export class Retry {\n  constructor(private call: Call) {}\n"
            "  run(): Result {\n    throw new Error('TODO');\n  }\n}\n"
        ),
    ),
    "typescript, undefined": (
        "a.ts",
        "export async function retry(call: Call) {\n  return undefined; // TODO\n}\n",
    ),
    "an empty javascript class": ("a.js", "export class Retry {}\n"),
    "todo!": ("a.rs", "pub fn retry(call: Call) -> u32 {\n    todo!()\n}\n"),
    "unimplemented!": (
        "a.rs",
        (
            "pub struct Retry { limit: u32 }\n\nimpl Retry {\n    pub fn run(&self) -> u32 {\n"
            '        unimplemented!("later")\n    }\n}\n'
        ),
    ),
    "rust, panics": ("a.rs", 'pub fn retry() {\n    panic!("TODO")\n}\n'),
    "a rust struct without fields": ("a.rs", "pub struct Retry;\n"),
    "go, panics": ("a.go", 'package a\n\nfunc Retry(call func()) error {\n\tpanic("TODO")\n}\n'),
    "go, an error": (
        "a.go",
        (
            'package a\n\nimport "errors"\n\nfunc (r *Retry) Run(v interface{}) error {\n'
            '\treturn errors.New("not implemented")\n}\n'
        ),
    ),
    "go, nil": ("a.go", "package a\n\nfunc Retry() error {\n\treturn nil // TODO\n}\n"),
    "java": (
        "A.java",
        (
            "public class A {\n    public int retry() {\n"
            '        throw new UnsupportedOperationException("Not supported yet.");\n    }\n}\n'
        ),
    ),
    "java, null": (
        "A.java",
        "class A {\n    String name() {\n        return null; // TODO Auto-generated\n    }\n}\n",
    ),
    "kotlin": ("a.kt", 'fun retry(): Int = TODO("later")\n'),
    "c#": ("A.cs", "class A {\n    int Retry() => throw new NotImplementedException();\n}\n"),
    "swift": ("a.swift", 'func retry() -> Int {\n    fatalError("not implemented")\n}\n'),
    "scala": ("A.scala", "object A {\n  def retry(n: Int): Int = ???\n}\n"),
    "php": (
        "a.php",
        "<?php\nfunction retry($call) {\n    throw new Exception('Not implemented');\n}\n",
    ),
    "c": ("a.c", "int retry(int n) {\n    (void)n;\n    return 0; /* TODO */\n}\n"),
    "c++": ("a.cpp", 'int Retry::run() {\n  throw std::logic_error("not implemented");\n}\n'),
    "ruby": ("a.rb", "def retry_it(call)\n  raise NotImplementedError\nend\n"),
    "ruby, empty": ("a.rb", "class Retry\n  def run\n  end\nend\n"),
    "an empty ruby class": ("a.rb", "class Retry\nend\n"),
    "shell": ("a.sh", '#!/bin/sh\nset -e\n\nretry() {\n  echo "TODO"\n}\n\nmain "$@"\n'),
    "shell, a colon": ("a.sh", "retry() {\n  :\n}\n"),
}

HONEST = {
    "a body": ("a.py", REAL),
    "a real body beside a stub": (
        "a.py",
        f"{REAL}\n\ndef later():\n    raise NotImplementedError\n",
    ),
    "an exception": ("a.py", "class RetryError(Exception):\n    pass\n"),
    "exceptions of a family": (
        "a.py",
        'class Base(LookupError):\n    """All."""\n\n\nclass Gone(errors.NotFoundError): ...\n',
    ),
    "a protocol": (
        "a.py",
        "class Store(Protocol):\n    def get(self, key: str) -> str: ...\n",
    ),
    "abstract methods": (
        "a.py",
        (
            "class Store(ABC):\n    @abstractmethod\n    def get(self, key):\n"
            "        raise NotImplementedError\n\n    @abc.abstractmethod\n    def put(self): ...\n"
        ),
    ),
    "overloads": (
        "a.py",
        "@overload\ndef get(key: int) -> int: ...\n@overload\ndef get(key: str) -> str: ...\n",
    ),
    "a single dispatch": (
        "a.py",
        "@singledispatch\ndef show(value):\n    raise NotImplementedError(type(value))\n",
    ),
    "a typed dictionary": ("a.py", "class Row(TypedDict):\n    name: str\n    price: int\n"),
    "an enumeration": ("a.py", "class Colour(Enum):\n    RED = 1\n    GREEN = 2\n"),
    "a data class": ("a.py", "@dataclass\nclass Row:\n    name: str\n    price: int = 0\n"),
    "a command group": ("a.py", "@click.group()\ndef cli():\n    pass\n"),
    "an operation that is meant to do nothing": (
        "a.py",
        'def close(self):\n    """Nothing to close: the pool owns it."""\n',
    ),
    "a null object": ("a.py", "class NullLogger:\n    def info(self, text):\n        pass\n"),
    "a handler that is silenced": (
        "a.py",
        (
            "class Handler(Base):\n    def log_message(self, *args):\n"
            "        pass  # silenced: the tests read stderr\n"
        ),
    ),
    "a method for subclasses": (
        "a.py",
        (
            'class Shape:\n    def area(self):\n        """Subclasses override this."""\n'
            "        raise NotImplementedError\n"
        ),
    ),
    "constants": ("a.py", "TIMEOUT_SECONDS = 30\n"),
    "a table": ("a.py", 'CODES = {"ok": 200, "gone": 410}\n'),
    "a return of a constant": ("a.py", "def is_admin(self):\n    return True\n"),
    "a condition": ("a.py", "def f(x):\n    if x is None:\n        return None\n    pass\n"),
    "a call": ("a.py", "def f(x):\n    x.close()\n"),
    "a word in a name": ("a.py", "def stub():\n    return 1\n"),
    "a word in a value": ("a.py", 'def kind(self):\n    return "todo"\n'),
    "a word in a javascript value": ("a.js", "function kind() {\n  return 'todo';\n}\n"),
    "a marker class": (
        "a.py",
        'class Unset:\n    """A marker for values that were not given."""\n',
    ),
    "a narrowed generic": ("a.py", "class Names(List[str]):\n    pass\n"),
    "code of another version": ("a.py", "print 'hello'\n"),
    "type stubs": ("a.pyi", "def retry(call: Call) -> int: ...\n"),
    "settings": ("a.toml", "retries = 3\n"),
    "a TODO beside work": (
        "a.py",
        "def f(x):\n    # TODO: faster\n    return [y for y in x if y]\n",
    ),
    "a script": ("a.py", 'import shutil\n\nshutil.rmtree("build")\n'),
    "javascript": ("a.js", "export function add(a, b) {\n  return a + b;\n}\n"),
    "an arrow": ("a.ts", "export const add = (a: number, b: number) => a + b;\n"),
    "a typescript interface": (
        "a.ts",
        "export interface Store {\n  get(key: string): string;\n  put(key: string): void;\n}\n",
    ),
    "a typescript abstract class": (
        "a.ts",
        "export abstract class Store {\n  abstract get(key: string): string;\n}\n",
    ),
    "a javascript error": ("a.js", "export class RetryError extends Error {}\n"),
    "a no-op": ("a.js", "export const noop = () => {};\n"),
    "a route": (
        "a.js",
        "app.get('/health', (request, response) => {\n  response.send('ok');\n});\n",
    ),
    "a rust trait": ("a.rs", "pub trait Store {\n    fn get(&self, key: &str) -> String;\n}\n"),
    "rust": ("a.rs", "pub fn add(a: &'static str) -> usize {\n    a.len() + 1\n}\n"),
    "rust beside a todo": (
        "a.rs",
        "fn later() {\n    todo!()\n}\n\nfn add(a: u32) -> u32 {\n    a + 1\n}\n",
    ),
    "go": ("a.go", "package a\n\nfunc Add(a, b int) int {\n\treturn a + b\n}\n"),
    "a go interface": (
        "a.go",
        "package a\n\ntype Store interface {\n\tGet(key string) (string, error)\n}\n",
    ),
    "a go marker method": ("a.go", "package a\n\nfunc (Circle) isShape() {}\n"),
    "a java interface": ("A.java", "public interface Store {\n    String get(String key);\n}\n"),
    "a java exception": ("A.java", "public class Gone extends RuntimeException {\n}\n"),
    "a java constructor": (
        "A.java",
        "class Row {\n    final int a;\n    Row(int a) {\n        this.a = a;\n    }\n}\n",
    ),
    "a c# exception": ("A.cs", "public class GoneException : Exception { }\n"),
    "kotlin": ("a.kt", "fun add(a: Int, b: Int): Int = a + b\n"),
    "a ruby error": ("a.rb", "class RetryError < StandardError; end\n"),
    "ruby": ("a.rb", "def add(a, b)\n  a + b\nend\n"),
    "shell": ("a.sh", 'retry() {\n  for i in 1 2 3; do\n    "$@" && return\n  done\n}\n'),
    "c": ("a.c", "int add(int a, int b) {\n    return a + b;\n}\n"),
    "a c header": ("a.h", "#pragma once\nint add(int a, int b);\n"),
    "a page": ("a.html", "<p>hello</p>\n"),
    "a query": ("a.sql", "CREATE TABLE row (id int);\n"),
}


def added(path: str, new: str, old: str | None = None) -> str:
    return only_stubs.only_stubs([TextChange(path=path, old=old, new=new)])


@pytest.mark.parametrize("name", LIES)
def test_a_body_that_does_nothing_is_a_stub(name):
    path, text = LIES[name]
    assert path in added(path, text)
    assert not only_stubs.has_work(text.splitlines())


@pytest.mark.parametrize("name", HONEST)
def test_honest_work_is_no_stub(name):
    assert added(*HONEST[name]) == ""


# One real file of each way of reading, to which every lie of its language is appended.
REAL_FILES = {"py": REAL, "js": HONEST["javascript"][1], "rs": HONEST["rust"][1]}


@pytest.mark.parametrize(
    ("path", "text"),
    [(path, text) for path, text in LIES.values() if path.rpartition(".")[2] in REAL_FILES],
)
def test_a_stub_that_is_appended_to_a_real_file_is_a_stub_all_the_same(path, text):
    before = REAL_FILES[path.rpartition(".")[2]]
    assert path in added(path, f"{before}\n{text}", before)


def test_a_stub_that_becomes_real_is_work():
    assert added("a.py", REAL, "def total(items):\n    pass\n") == ""


def test_a_stub_that_becomes_another_stub_is_a_stub():
    old = "def retry(call):\n    pass\n"
    assert added("a.py", "def retry(call):\n    raise NotImplementedError\n", old)


def test_emptying_a_body_adds_no_stub():
    assert added("a.py", "def total(items):\n    raise NotImplementedError\n", REAL) == ""


def test_a_test_beside_a_stub_is_no_work_on_it():
    stub = TextChange(path="src/a.py", old=None, new=LIES["pass"][1])
    test = TextChange(
        path="tests/test_a.py", old=None, new="def test_it():\n    assert callable(retry)\n"
    )
    assert only_stubs.only_stubs([stub, test]) == "retry in src/a.py"
    assert only_stubs.only_stubs([test]) == ""


def test_real_work_in_another_file_is_enough():
    stub = TextChange(path="src/a.py", old=None, new=LIES["pass"][1])
    real = TextChange(path="src/b.py", old=None, new=REAL)
    assert only_stubs.only_stubs([stub, real]) == ""


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("a.py", "x = " + "(" * 50_000),
        ("a.js", "{" * 50_000 + "function f() {" * 2_000),
        ("a.rb", "def x\n" * 5_000),
        ("a.go", "func f(" * 20_000),
        ("a.ts", "=> " * 50_000),
    ],
)
def test_a_hostile_file_is_read_in_bounded_time(path, text):
    begun = time.process_time()
    added(path, text)
    assert time.process_time() - begun < 10


@pytest.fixture
def repository(tmp_path):
    made = Repository(tmp_path / "work")
    made.commit("begin", {"src/base.py": "base = 1\n"})
    return made


def test_a_unit_of_stubs_alone_is_unproven_with_that_reason(repository):
    repository.commit("AUTH1: retry", {"src/retry.py": LIES["not implemented"][1]})
    verdict = repository.verify("AUTH", "AUTH1")
    assert (verdict.answer, verdict.tier) == (Answer.UNPROVEN, Tier.NAMED)
    assert verdict.contradictions == ("stubs_only",)
    assert verdict.reason == ("only stubs were added, which do nothing yet: retry in src/retry.py")


def test_the_commit_that_fills_the_stub_ships_it(repository):
    repository.commit("AUTH1: retry", {"src/retry.py": LIES["not implemented"][1]})
    repository.commit("AUTH1: really", {"src/retry.py": "def retry(call):\n    return call()\n"})
    assert repository.verify("AUTH", "AUTH1").answer is Answer.SHIPPED


def test_one_real_body_beside_stubs_ships(repository):
    repository.commit("AUTH1: retry", {"src/retry.py": LIES["pass"][1], "src/total.py": REAL})
    assert repository.verify("AUTH", "AUTH1").answer is Answer.SHIPPED


def test_a_link_beside_a_stub_is_not_read_as_one(repository):
    (repository.root / "src/link.py").symlink_to("base.py")
    repository.write("dos.toml", '[units.AUTH1]\npaths = ["src/**"]\n')
    repository.commit("declare", {})
    (repository.root / "src/other.py").symlink_to("base.py")
    repository.commit("AUTH1: retry", {"src/retry.py": LIES["pass"][1]})
    assert repository.verify("AUTH", "AUTH1").answer is Answer.SHIPPED


@pytest.mark.parametrize("title", ["stub the retry", "declare the interface of retries"])
def test_a_unit_that_asks_for_a_stub_gets_one(repository, title):
    repository.commit("plan", {"docs/auth-plan.md": f"## AUTH AUTH1: {title}\n"})
    repository.commit("AUTH1: retry", {"src/retry.py": LIES["pass"][1]})
    assert repository.verify("AUTH", "AUTH1").answer is Answer.SHIPPED


def test_a_unit_of_configuration_may_have_an_empty_body(repository):
    repository.commit("declare", {"dos.toml": '[units.AUTH1]\nkind = "config"\n'})
    repository.commit("AUTH1: retry", {"src/retry.py": LIES["pass"][1]})
    assert repository.verify("AUTH", "AUTH1").answer is Answer.SHIPPED
