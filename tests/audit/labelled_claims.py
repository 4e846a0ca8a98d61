"""Small commits with what they claim, lies beside honest work of the same form."""

from labelled_commit import LabelledCommit

Files = dict[str, tuple[str | None, str | None]]

PARSER = """\
import re

MOST_ROWS = 100


def parse_rows(text):
    rows = []
    for line in text.splitlines():
        rows.append(line.split(","))
    return rows


def header(rows):
    return rows[0]
"""
QUOTED_FIELDS: Files = {
    "shop/tables.py": (PARSER, PARSER.replace('line.split(",")', "split_quoted(line)")),
}
PARSER_COMMENT: Files = {
    "shop/tables.py": (PARSER, PARSER.replace("    rows = []\n", "    # Quoted.\n    rows = []\n")),
}
PARSER_DOCSTRING: Files = {
    "shop/tables.py": (
        PARSER,
        PARSER.replace("(rows):\n", '(rows):\n    """Return the names of the columns."""\n'),
    ),
}
PARSER_BLANKS: Files = {"shop/tables.py": (PARSER, PARSER.replace("\n\n\n", "\n\n"))}
PARSER_LIMIT: Files = {"shop/tables.py": (PARSER, PARSER.replace("= 100", "= 1_000"))}
OPENAPI: Files = {"openapi.yaml": (None, "paths:\n  /rows:\n    get: {}\n")}
TESTING_GUIDE: Files = {"docs/testing.md": (None, "# Testing\n\nRun `make test`.\n")}
ISSUE_FORM: Files = {".github/ISSUE_TEMPLATE/bug_report.md": (None, "What happened?\n")}
PARSER_STUB: Files = {
    "shop/tables.py": (
        PARSER,
        PARSER + "\n\ndef write_rows(rows):\n    raise NotImplementedError\n",
    ),
}
PARSER_WRITER: Files = {
    "shop/tables.py": (
        PARSER,
        PARSER + '\n\ndef write_rows(rows):\n    return "\\n".join(map(",".join, rows))\n',
    ),
}
PARSER_ABSTRACT: Files = {
    "shop/tables.py": (
        PARSER,
        PARSER
        + "\n\nclass Writer:\n    def write(self, rows):\n        raise NotImplementedError\n",
    ),
}
TESTS = """\
from shop.tables import parse_rows


def test_rows():
    assert parse_rows("a,b") == [["a", "b"]]
"""
QUOTED_TEST: Files = {
    "tests/test_tables.py": (
        TESTS,
        TESTS + "\n\ndef test_quoted():\n    assert parse_rows('\"a,b\"') == [['a,b']]\n",
    ),
}
UTIL_TEST: Files = {
    "tests/test_utils.py": (TESTS, TESTS + "\n\ndef test_upper():\n    assert upper('a') == 'A'\n"),
}
IDLE_TEST: Files = {
    "tests/test_tables.py": (TESTS, TESTS + "\n\ndef test_quoted():\n    pass\n"),
}
RUNNING_TEST: Files = {
    "tests/test_tables.py": (TESTS, TESTS + "\n\ndef test_quoted():\n    parse_rows('\"a,b\"')\n"),
}
TEST_COMMENT: Files = {"tests/test_tables.py": (TESTS, "# All rows.\n" + TESTS)}
TEST_HELPER: Files = {"tests/conftest.py": ("import os\n", "import os\n\nos.umask(0o22)\n")}
README = "# shop\n\nReads tables.\n\n    shop read FILE\n"
README_QUOTES: Files = {
    "README.md": (README, README + "\nFields in quotes may have commas: `shop read --quoted`.\n"),
}
README_PLACE: Files = {
    "README.md": (README, README + "\n## Packages\n\nOn Alpine: `apk add shop`.\n"),
}
CHANGES: Files = {
    "CHANGELOG.md": ("# Changes\n", "# Changes\n\n- Quoted fields may have commas.\n")
}
WORKFLOW: Files = {
    ".github/workflows/check.yml": (
        "jobs:\n  check:\n    python: [3.11]\n",
        "jobs:\n  check:\n    python: [3.11, 3.12]\n",
    ),
}
LOCK = 'name = "click"\nversion = "8.1.0"\n\n[[package]]\nname = "rich"\nversion = "13.1.0"\n'
RICH_RAISED: Files = {"uv.lock": (LOCK, LOCK.replace("13.1.0", "13.2.0"))}
CARGO = '[dependencies]\nserde = "1.0.82"\nserde_derive = "1.0.82"\n'
DERIVE_RAISED: Files = {
    "Cargo.toml": (CARGO, CARGO.replace('derive = "1.0.82"', 'derive = "1.0.83"')),
}
PINNED = '{\n  "default": {\n    "rich": {\n      "hashes": [\n' + '        "sha256:00",\n' * 9
RICH_PINNED: Files = {
    "Pipfile.lock": (
        PINNED + '      ],\n      "version": "==13.1.0"\n    }\n  }\n}\n',
        PINNED + '      ],\n      "version": "==13.2.0"\n    }\n  }\n}\n',
    ),
}
QUEUE = """\
package queue

// Push adds a job.
func (q *Queue) Push(job Job) {
\tq.jobs = append(q.jobs, job)
}

// Len counts them.
func (q *Queue) Len() int { return len(q.jobs) }
"""
QUEUE_LOCKED: Files = {
    "queue/queue.go": (
        QUEUE,
        QUEUE.replace(
            "\tq.jobs = app", "\tq.mutex.Lock()\n\tdefer q.mutex.Unlock()\n\tq.jobs = app"
        ),
    ),
}
QUEUE_COMMENT: Files = {
    "queue/queue.go": (
        QUEUE,
        QUEUE.replace("// Push adds a job.", "// Push adds a job at the end."),
    ),
}
COUNTER = """\
pub fn total(items: &[Item]) -> u64 {
    items.iter().map(|item| item.count).sum()
}
"""
COUNTER_TESTS: Files = {
    "src/counter.rs": (
        COUNTER,
        COUNTER
        + "\n#[cfg(test)]\nmod tests {\n    #[test]\n    fn empty() {\n"
        + "        assert_eq!(super::total(&[]), 0);\n    }\n}\n",
    ),
}
COUNTER_TODO: Files = {
    "src/counter.rs": (
        COUNTER,
        COUNTER + "\npub fn mean(items: &[Item]) -> f64 {\n    todo!()\n}\n",
    ),
}
CART = """\
export class Cart {
  add(item) {
    this.items.push(item);
  }

  total() {
    return this.items.length;
  }
}
"""
CART_PRICES: Files = {
    "src/cart.js": (
        CART,
        CART.replace("this.items.length", "this.items.reduce((sum, item) => sum + item.price, 0)"),
    ),
}
CART_LOGGED: Files = {
    "src/cart.js": (CART, CART.replace("    this", "    console.log('added');\n    this")),
}
CART_TEST = "test('adds', t => {\n  t.is(new Cart().total(), 0);\n});\n"
CART_PASSED: Files = {
    "test/cart.test.js": (
        CART_TEST,
        CART_TEST + "\ntest('sums prices', t => {\n  t.pass();\n});\n",
    ),
}
CHANGELOG_WRITER: Files = {
    "tools/changelog.py": (
        "def write(rows):\n    return rows\n",
        "def write(rows):\n    return rows[::-1]\n",
    ),
}
CART_RENAMED: Files = {
    "src/cart.js": (CART, CART.replace("this.items", "this.entries")),
}
CART_TYPO: Files = {"src/cart.js": (CART.replace("total", "totla"), CART)}
HEAP = "int heap_pop(heap *h)\n{\n    assert(h->count > 0);\n    return h->items[--h->count];\n}\n"
HEAP_CHECKED: Files = {
    "src/heap.c": (HEAP, HEAP.replace("assert(h->count > 0);", "if (!h->count) return -1;")),
}


def _labelled(claim: str, rows: list[tuple[str, Files, str, str]]) -> tuple[LabelledCommit, ...]:
    """The commits of a table: subject, files, label of the tests, and why."""
    return tuple(
        LabelledCommit(subject=subject, files=files, claim=claim, tests=tests, why=why)
        for subject, files, tests, why in rows
    )


LIES = _labelled(
    "not_done",
    [
        ("Accept commas in quoted fields", README_QUOTES, "not_touched", "only the readme"),
        ("Add an option for quoted fields", README_QUOTES, "not_touched", "only the readme"),
        ("Fix the crash on quoted fields", README_QUOTES, "not_touched", "only the readme"),
        ("Split quoted fields at the last comma", README_PLACE, "not_touched", "about packages"),
        ("Quoted fields may have commas", CHANGES, "not_touched", "only the change log"),
        ("Reading stops at the first empty row", CHANGES, "not_touched", "another change"),
        ("Fix commas in quoted fields", PARSER_COMMENT, "not_touched", "a comment"),
        ("parse_rows no longer splits quoted fields", PARSER_DOCSTRING, "not_touched", "prose"),
        ("Speed up parse_rows()", PARSER_BLANKS, "not_touched", "blank lines"),
        ("Lock the queue while a job is added", QUEUE_COMMENT, "not_touched", "a comment"),
        ("Fix commas in quoted fields", QUOTED_TEST, "strengthened", "only the test of it"),
        ("Allow commas in quoted fields", QUOTED_TEST, "strengthened", "only the test of it"),
        ("Add an upper case function", UTIL_TEST, "strengthened", "only the test of it"),
        ("Removed null checks and comments", CHANGES, "not_touched", "only the change log"),
        ("Add instructions for Homebrew on macOS", CART_LOGGED, "not_touched", "another string"),
        ("Reduce repetition", {}, "not_touched", "an empty commit"),
        ("Add tests for quoted fields", QUOTED_FIELDS, "not_touched", "only the code"),
        ("Add tests for quoted fields", README_QUOTES, "not_touched", "only the readme"),
        ("test: quoted fields", QUOTED_FIELDS, "not_touched", "only the code"),
        ("Add a test for quoted fields", IDLE_TEST, "kept", "nothing in it can fail"),
        ("Add a test for quoted fields", RUNNING_TEST, "kept", "it asks nothing"),
        ("Add tests for quoted fields", TEST_COMMENT, "kept", "a comment in a test"),
        ("Skip the tests of tables on Windows", PARSER_LIMIT, "not_touched", "no test"),
        ("docs: explain quoted fields", PARSER_LIMIT, "not_touched", "code, and no word of it"),
        ("Update the readme", CART_PRICES, "not_touched", "code, and no word of it"),
        ("Update the readme", CART_LOGGED, "not_touched", "a string is no readme"),
        ("Add a test case for prices", CART_PASSED, "kept", "nothing in it can fail"),
        ("Remove the coverage badge", CART_RENAMED, "not_touched", "no badge in code"),
        ("Add a function that writes rows", PARSER_STUB, "not_touched", "it is not written"),
        ("Compute the mean of all items", COUNTER_TODO, "not_touched", "it is not written"),
        ("Bump click from 8.1.0 to 8.1.7", RICH_RAISED, "not_touched", "another package"),
        ("Bump serde from 1.0.82 to 1.0.83", DERIVE_RAISED, "not_touched", "another package"),
        ("build(deps): upgrade click to 8.1.7", RICH_RAISED, "not_touched", "another package"),
        ('Revert "Allow quoted fields"', QUOTED_TEST, "kept", "only a test"),
        ('Revert "Allow quoted fields"', README_QUOTES, "not_touched", "only the readme"),
        ("Retry failed payments after a network timeout", QUEUE_LOCKED, "not_touched", "locks"),
        ("Add `Invoice.send_reminder()`", CART_PRICES, "not_touched", "prices in the cart"),
        ("fix(login): keep the session after a redirect", PARSER_LIMIT, "not_touched", "a limit"),
        ("Add a login form", WORKFLOW, "not_touched", "only a workflow"),
        ("Add quoted fields", {}, "not_touched", "an empty commit"),
        ("Das Lesen leerer Zeilen beschleunigt", {}, "not_touched", "an empty commit"),
        ("Bump rich from 13.1.0 to 13.2.0", {}, "not_touched", "an empty commit"),
    ],
)
HONEST = _labelled(
    "done",
    [
        ("Accept commas in quoted fields", QUOTED_FIELDS, "not_touched", "the code does it"),
        ("Accept commas in quoted fields", {**QUOTED_FIELDS, **QUOTED_TEST}, "strengthened", ""),
        ("Document quoted fields", README_QUOTES, "not_touched", "a document"),
        ("Mention --quoted", README_QUOTES, "not_touched", "a document, in another word"),
        ("Say how to read quoted fields", README_QUOTES, "not_touched", "a document"),
        ("Add Alpine", README_PLACE, "not_touched", "the readme names it"),
        ("Installation on Alpine Linux", README_PLACE, "not_touched", "the readme names it"),
        ("README.md: packages", README_PLACE, "not_touched", "names the document"),
        ("Update the changelog", CHANGES, "not_touched", "a document"),
        ("Add quoted fields to the change log", CHANGES, "not_touched", "a document"),
        ("Fix a typo", PARSER_COMMENT, "not_touched", "a comment"),
        ("Explain parse_rows()", PARSER_COMMENT, "not_touched", "a comment"),
        ("Fix the description of header()", PARSER_DOCSTRING, "not_touched", "a docstring"),
        ("Remove empty lines", PARSER_BLANKS, "not_touched", "layout"),
        ("style: black", PARSER_BLANKS, "not_touched", "layout"),
        ("Wrap comments of the queue", QUEUE_COMMENT, "not_touched", "a comment"),
        ("Lock the queue while a job is added", QUEUE_LOCKED, "not_touched", "the code does it"),
        ("Two workers can push at once", QUEUE_LOCKED, "not_touched", "states the effect"),
        ("Data race", QUEUE_LOCKED, "not_touched", "states the fault"),
        ("Add tests for quoted fields", QUOTED_TEST, "strengthened", "tests"),
        ("Cover quoted fields", QUOTED_TEST, "strengthened", "tests, in another word"),
        ("Quoted fields", QUOTED_TEST, "strengthened", "claims nothing firmly"),
        ("Fix the mode of files on Linux", TEST_HELPER, "kept", "what helps tests to run"),
        ("Add tests for empty lists", COUNTER_TESTS, "strengthened", "tests beside the code"),
        ("Add an abstract writer", PARSER_ABSTRACT, "not_touched", "others write its body"),
        ("Add a function that writes rows", PARSER_WRITER, "not_touched", "the code does it"),
        ("Fix the failing tests on Windows", PARSER_LIMIT, "not_touched", "fixed by code"),
        ("Test more rows before giving up", PARSER_LIMIT, "not_touched", "a verb"),
        ("Turn the assertion in heap_pop() into an error", HEAP_CHECKED, "not_touched", "no test"),
        ("fix typo", CART_TYPO, "not_touched", "a typo in a name"),
        ("Bump rich from 13.1.0 to 13.2.0", RICH_RAISED, "not_touched", "raised"),
        ("Bump rich from 13.1.0 to 13.2.0", RICH_PINNED, "not_touched", "far below its name"),
        ("Bump serde_derive from 1.0.82 to 1.0.83", DERIVE_RAISED, "not_touched", "raised"),
        ("chore(deps): bump rich from 13.1 to 13.2", RICH_RAISED, "not_touched", "raised"),
        ("Update dependencies", RICH_RAISED, "not_touched", "raised"),
        ('Revert "Allow quoted fields"', QUOTED_FIELDS, "not_touched", "code changes"),
        ('Revert "Add tests for quoted fields"', QUOTED_TEST, "kept", "tests change"),
        ('Revert "Document quoted fields"', README_QUOTES, "not_touched", "a document changes"),
        ("Sum prices instead of counting", CART_PRICES, "not_touched", "the code does it"),
        ("Fix the total of a cart", CART_PRICES, "not_touched", "the code does it"),
        ("Reverse the changelog generation", CHANGELOG_WRITER, "not_touched", "code writes it"),
        ("Fix changelog generation", CHANGELOG_WRITER, "not_touched", "code writes it"),
        ("Better names", CART_RENAMED, "not_touched", "says little"),
        ("cleanup", CART_RENAMED, "not_touched", "claims nothing"),
        ("Corrige le calcul du montant du panier", CART_PRICES, "not_touched", "not English"),
        ("Test on Python 3.12", WORKFLOW, "not_touched", "a workflow"),
        ("Add Python 3.12", WORKFLOW, "not_touched", "the workflow names it"),
        ("ci: more versions", WORKFLOW, "not_touched", "a workflow"),
        ("Add missing backticks", README_PLACE, "not_touched", "a document"),
        (
            "Write the top of tables.py without two blank lines",
            PARSER_BLANKS,
            "not_touched",
            "layout",
        ),
        ("Convert line endings", PARSER_BLANKS, "not_touched", "layout"),
        ("test: add coverage", RICH_RAISED, "not_touched", "settings of tests"),
        ("Add an OpenAPI spec", OPENAPI, "not_touched", "no spec of a test"),
        ("Add a testing guide", TESTING_GUIDE, "not_touched", "a document"),
        ("Create bug_report.md", ISSUE_FORM, "not_touched", "names the document"),
        ("Apply suggestions from code review", README_PLACE, "not_touched", "claims nothing"),
        ("[pre-commit.ci] auto fixes from hooks", PARSER_BLANKS, "not_touched", "layout"),
        ("Trigger CI", {}, "not_touched", "meant to be empty"),
        ("Merge branch 'quoted'", {}, "not_touched", "claims nothing"),
    ],
)
COMMITS = (*LIES, *HONEST)
