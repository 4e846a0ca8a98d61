"""New modules that nothing imports are noted, and lower no answer."""

import json

import pytest
from repository import Repository

from dos.verify.io import tree_texts

BODY = {
    "py": "def retry(call):\n    return call() or call()\n",
    "js": "export function retry(call) {\n  return call() || call();\n}\n",
    "rs": "pub fn retry(n: u32) -> u32 {\n    n + n\n}\n",
    "rb": "class RetryPolicy\n  def run(n)\n    n + n\n  end\nend\n",
}
ALONE = {
    "python": ("src/shop/retry.py", {}),
    "python that is named in prose": ("src/shop/retry.py", {"README.md": "import retry\n"}),
    "python that has a word in common": (
        "src/shop/retry.py",
        {"src/a.py": "retry = 3\nf(retry)\n"},
    ),
    "javascript": ("src/retry.js", {"src/a.js": "const retry = 3;\n"}),
    "rust": ("src/retry.rs", {"src/main.rs": "fn main() {\n    f();\n}\n"}),
    "ruby": ("lib/retry_policy.rb", {"lib/a.rb": "retry_policy = 3\n"}),
}
REFERRED = {
    "an import": ("src/shop/retry.py", {"src/a.py": "import shop.retry\n"}),
    "an import from": ("src/shop/retry.py", {"src/a.py": "from shop import one, retry\n"}),
    "an import over lines": ("src/shop/retry.py", {"src/a.py": "from shop import (\n retry,\n)\n"}),
    "a test": ("src/shop/retry.py", {"tests/test_a.py": "from shop.retry import retry\n"}),
    "settings": ("src/shop/retry.py", {"pyproject.toml": "[a]\nb = 'shop.retry:retry'\n"}),
    "a makefile": ("src/shop/retry.py", {"Makefile": "all:\n\tpython src/shop/retry.py\n"}),
    "a program that looks for modules": ("src/shop/retry.py", {"src/a.py": "import pkgutil\n"}),
    "a migration": ("src/migrations/retry.py", {}),
    "a script": ("bin/retry.py", {}),
    "an entry": ("src/shop/__main__.py", {}),
    "javascript": ("src/retry.js", {"src/a.js": "import { retry } from './retry';\n"}),
    "a script of a package": ("src/retry.js", {"package.json": '{"main": "src/retry.js"}\n'}),
    "rust": ("src/retry.rs", {"src/main.rs": "mod retry;\nfn main() {}\n"}),
    "ruby": ("lib/retry_policy.rb", {"lib/a.rb": "RetryPolicy.new.run(3)\n"}),
    "ruby, required": ("lib/retry_policy.rb", {"lib/a.rb": "require_relative 'retry_policy'\n"}),
    "a folder of a framework": ("app/models/retry_policy.rb", {}),
    "another language": ("src/retry.go", {}),
}  # fmt: skip


@pytest.fixture
def repository(tmp_path):
    made = Repository(tmp_path / "work")
    made.commit("begin", {"src/base.py": "base = 1\n"})
    return made


def added(repository: Repository, path: str, others: dict[str, str]) -> str:
    if others:
        repository.commit("others", others)
    suffix = path.rpartition(".")[2]
    repository.commit(
        "AUTH1: retry", {path: BODY.get(suffix, "package a\n\nfunc F() int { return g() }\n")}
    )
    verdict = repository.verify("AUTH", "AUTH1", looks_for_importers=True)
    assert verdict.shipped and not verdict.contradictions
    return verdict.imported_nowhere


@pytest.mark.parametrize("name", ALONE)
def test_a_new_module_that_nothing_imports_is_noted(repository, name):
    path, others = ALONE[name]
    assert added(repository, path, others) == path


@pytest.mark.parametrize("name", REFERRED)
def test_a_module_that_something_refers_to_is_not(repository, name):
    assert added(repository, *REFERRED[name]) == ""


def test_the_note_goes_when_another_commit_imports_the_module(repository):
    assert added(repository, *ALONE["python"])
    repository.commit("use it", {"src/a.py": "from shop.retry import retry\n\nretry(f)\n"})
    assert repository.verify("AUTH", "AUTH1", looks_for_importers=True).imported_nowhere == ""


def test_the_note_stands_in_the_json(repository):
    path, others = ALONE["python"]
    added(repository, path, others)
    code, printed, _ = repository.dos("verify", "AUTH", "AUTH1", "--json")
    assert (code, json.loads(printed)["imported_nowhere"]) == (0, path)


@pytest.mark.parametrize("output", ["text", "plain"])
def test_the_note_is_a_sentence_for_people(repository, output):
    path, others = ALONE["python"]
    added(repository, path, others)
    code, printed, _ = repository.dos("verify", "AUTH", "AUTH1", "--output", output)
    assert code == 0
    assert f"Note: no file imports the new module {path}." in printed
    repository.commit("use it", {"src/a.py": "from shop.retry import retry\n\nretry(f)\n"})
    _, printed, _ = repository.dos("verify", "AUTH", "AUTH1", "--output", output)
    assert "Note:" not in printed


def test_a_module_beside_a_change_of_old_code_is_not_noted(repository):
    repository.commit(
        "AUTH1: retry", {"src/shop/retry.py": BODY["py"], "src/base.py": "base = 2\n"}
    )
    assert repository.verify("AUTH", "AUTH1", looks_for_importers=True).imported_nowhere == ""


def test_in_a_large_tree_nothing_is_noted(repository):
    others = {f"src/part{number}.py": "x = 1\n" for number in range(tree_texts.MOST_FILES)}
    assert added(repository, "src/shop/retry.py", others) == ""
