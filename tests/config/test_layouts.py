"""The lanes, the setup and the test command of repositories as people lay them out."""

import subprocess
from pathlib import Path

import pytest

from dos.config.layout.commands import infer_commands
from dos.config.layout.lanes import infer_lanes
from dos.config.lint import Severity, lint
from dos.config.load import parse
from dos.config.scaffold import scaffold_text
from dos.regions import contains_path, region

PACKAGE = '{"name": "p", "scripts": {"test": "vitest run"}}'
VENV = "python3 -m venv .venv && echo '*' > .venv/.gitignore"
PIP = ".venv/bin/python -m pip install --quiet --disable-pip-version-check"
HIDDEN = (
    "for made in *.egg-info src/*.egg-info; do"
    """ [ ! -d "$made" ] || echo '*' > "$made/.gitignore"; done"""
)
PYPROJECT = """[project]
name = "parser"
[project.optional-dependencies]
test = ["pytest"]
[tool.pytest.ini_options]
"""


def files(*names: str, **texts: str) -> dict[str, str]:
    """Paths, most of them of empty files."""
    return dict.fromkeys(names, "") | texts


# name -> files with their text, lanes, features with their tests, setup, test
LAYOUTS = {
    "a Python package in src with tests": (
        files(
            "README.md",
            ".github/workflows/ci.yml",
            "src/parser/__init__.py",
            "src/parser/lexer.py",
            "tests/test_lexer.py",
            "docs/index.md",
        )
        | {"pyproject.toml": PYPROJECT, ".gitignore": "*.egg-info/\n"},
        ["parser", "docs"],
        [
            ("src/parser/lexer.py", "tests/test_lexer.py"),
            ("src/parser/new.py", "tests/test_new.py"),
        ],
        f"{VENV} && {PIP} -e '.[test]' pytest",
        ".venv/bin/python -m pytest -q",
    ),
    "a flat Python package with requirements": (
        files(
            "setup.py",
            "shop/__init__.py",
            "shop/cart.py",
            "tests/test_cart.py",
            "scripts/release.sh",
        )
        | {"requirements.txt": "attrs\n", "requirements-dev.txt": "pytest\n"},
        ["shop"],
        [("shop/cart.py", "tests/test_cart.py")],
        f"{VENV} && {PIP} -r requirements-dev.txt -r requirements.txt -e . pytest && {HIDDEN}",
        ".venv/bin/python -m pytest -q",
    ),
    "a Python package with unittest and nothing to install": (
        files("pkg/__init__.py", "pkg/a.py") | {"tests/test_a.py": "import unittest\n"},
        ["pkg"],
        [("pkg/a.py", "tests/test_a.py")],
        "",
        "python3 -m unittest discover -s tests",
    ),
    "two Python packages whose tests mirror them": (
        files(
            "poetry.lock",
            "src/api/__init__.py",
            "src/api/views.py",
            "src/jobs/__init__.py",
            "src/jobs/queue.py",
            "tests/conftest.py",
            "tests/api/test_views.py",
            "tests/jobs/test_queue.py",
        )
        | {"pyproject.toml": "[tool.poetry]\n[tool.pytest.ini_options]\n"},
        ["api", "jobs"],
        [
            ("src/api/views.py", "tests/api/test_views.py"),
            ("src/jobs/queue.py", "tests/jobs/test_queue.py"),
        ],
        "poetry install --no-interaction",
        "poetry run python -m pytest -q",
    ),
    "an npm package with src and test": (
        files("src/index.ts", "src/[id]/page.tsx", "test/index.test.ts", "tsconfig.json")
        | {"package.json": PACKAGE, "package-lock.json": "{}"},
        ["src"],
        [("src/index.ts", "test/index.test.ts")],
        "npm ci",
        "npm test",
    ),
    "npm workspaces": (
        files(
            "packages/core/src/a.js",
            "packages/core/test/a.test.js",
            "packages/cli/index.js",
            "scripts/build.js",
            "docs/guide.md",
            "packages/core/package.json",
            "packages/cli/package.json",
            "packages/old/package.json",
            "package-lock.json",
        )
        | {
            "package.json": (
                '{"workspaces": ["packages/*", "!packages/old"], "scripts": {"test": '
                '"npm test -ws"}}'
            )
        },
        ["cli", "core", "docs"],
        [("packages/core/src/a.js", "packages/core/test/a.test.js")],
        "npm ci",
        "npm test",
    ),
    "pnpm workspaces": (
        files(
            "pnpm-lock.yaml",
            "apps/web/package.json",
            "apps/web/a.js",
            "libs/ui/package.json",
            "libs/ui/b.js",
        )
        | {
            "package.json": PACKAGE,
            "pnpm-workspace.yaml": "packages:\n  - 'apps/**'\n  - libs/ui # shared\nother: x\n",
        },
        ["web", "ui"],
        [("apps/web/a.js", "apps/web/a.test.js")],
        "pnpm install --frozen-lockfile",
        "pnpm test",
    ),
    "a cargo workspace": (
        files(
            "Cargo.lock",
            "crates/one/Cargo.toml",
            "crates/one/src/lib.rs",
            "crates/one/tests/it.rs",
            "crates/fuzz/Cargo.toml",
            "tool/Cargo.toml",
            "tool/src/main.rs",
        )
        | {
            "Cargo.toml": '[workspace]\nmembers = ["crates/*", "tool"]\nexclude = ["crates/fuzz"]\n'
        },
        ["one", "tool"],
        [("crates/one/src/lib.rs", "crates/one/tests/it.rs")],
        "",
        "cargo test --workspace",
    ),
    "a uv workspace": (
        files(
            "uv.lock",
            "libs/a/pyproject.toml",
            "libs/a/src/a/__init__.py",
            "libs/a/tests/test_a.py",
            "libs/b/pyproject.toml",
            "libs/b/b.py",
        )
        | {
            "pyproject.toml": (
                '[tool.uv.workspace]\nmembers = ["libs/*"]\n[dependency-groups]\ndev = ["pytest"]\n'
            )
        },
        ["a", "b"],
        [("libs/a/src/a/__init__.py", "libs/a/tests/test_a.py")],
        "uv sync --frozen",
        "uv run --frozen python -m pytest -q",
    ),
    "a Go module": (
        files(
            "main.go",
            "main_test.go",
            "cmd/tool/main.go",
            "internal/store/store.go",
            "internal/store/store_test.go",
        )
        | {"go.mod": "module m\n"},
        ["cmd", "internal"],
        [("internal/store/store.go", "internal/store/store_test.go"), ("main.go", "main_test.go")],
        "",
        "go test ./...",
    ),
    "a service and its web page": (
        files(
            ".gitmodules",
            "backend/pyproject.toml",
            "backend/app/main.py",
            "backend/tests/test_main.py",
            "frontend/package.json",
            "frontend/src/app.ts",
            "frontend/src/app.test.ts",
        )
        | {"Makefile": ".PHONY: test\ntest: unit\n\tpytest\n"},
        ["backend", "frontend"],
        [
            ("backend/app/main.py", "backend/tests/test_main.py"),
            ("frontend/src/app.ts", "frontend/src/app.test.ts"),
        ],
        "git submodule update --init --recursive",
        "make test",
    ),
    "documents alone": (
        files("README.md", "docs/a.md", "docs/deep/b.md", "LICENSE"),
        ["docs"],
        [("docs/a.md", "README.md")],
        "",
        "",
    ),
}


def made(root: Path, texts: dict[str, str]) -> list[str]:
    for name, text in texts.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return list(texts)


def lanes_of(lanes, path: str) -> list[str]:
    return [name for name in lanes.concurrent if contains_path(region(lanes.trees[name]), path)]


@pytest.mark.parametrize("name", LAYOUTS)
def test_every_file_is_in_one_lane_and_a_feature_with_its_test_too(tmp_path, name):
    texts, expected, features, setup, test = LAYOUTS[name]
    tracked = made(tmp_path, texts)
    lanes = infer_lanes(tmp_path, tracked)
    assert list(lanes.concurrent) == expected, lanes.trees
    assert {path: found for path in tracked if len(found := lanes_of(lanes, path)) != 1} == {}
    for code, its_test in features:
        assert lanes_of(lanes, code) == lanes_of(lanes, its_test) != [], (code, its_test)
    commands = infer_commands(tmp_path)
    assert (commands.setup, commands.test) == (setup, test)
    config = parse(
        scaffold_text(tmp_path, lanes=lanes, setup=setup, test=test), tmp_path / "dos.toml"
    ).config
    assert (config.lanes, config.workers.setup, config.workers.test) == (lanes, setup, test)
    assert [found for found in lint(config) if found.severity is not Severity.INFO] == []


def test_more_parts_than_lanes_are_together_in_the_main_one(tmp_path):
    tracked = made(
        tmp_path, {f"part{number:02}/a.py": "" for number in range(20)} | {"setup.cfg": ""}
    )
    lanes = infer_lanes(tmp_path, tracked, cap=4)
    assert len(lanes.concurrent) == 4
    assert all(len(lanes_of(lanes, path)) == 1 for path in tracked)


def test_two_packages_of_one_name_are_two_lanes(tmp_path):
    texts = files("a/core/package.json", "b/core/package.json") | {
        "package.json": '{"workspaces": ["*/core"]}'
    }
    assert infer_lanes(tmp_path, made(tmp_path, texts)).concurrent == ("core", "b-core")


def test_without_anything_but_root_files_one_worker_has_it_all(tmp_path):
    lanes = infer_lanes(tmp_path, made(tmp_path, files("a.py", "b.py")))
    assert (lanes.exclusive, lanes.autopick) == (("main",), ("main",)), (
        "a unit that names no lane is offered there"
    )


def test_code_at_the_top_gives_the_lane_the_name_of_the_project(tmp_path):
    texts = files("index.js", "example/parse.js", "test/parse.js") | {"package.json": PACKAGE}
    assert infer_lanes(tmp_path / "minimist", made(tmp_path / "minimist", texts)).concurrent == (
        "minimist",
    )


def test_requirements_for_types_and_documents_are_not_installed_to_run_the_tests(tmp_path):
    texts = files(
        "requirements-mypy.txt", "requirements/docs.txt", "requirements/test.txt", "tests/test_a.py"
    )
    made(tmp_path, texts | {"pytest.ini": ""})
    assert infer_commands(tmp_path).setup == f"{VENV} && {PIP} -r requirements/test.txt pytest"


@pytest.mark.parametrize(
    ("texts", "test"),
    [
        ({"foo.py": "", "test_foo.py": "def test_foo(): pass\n"}, ".venv/bin/python -m pytest -q"),
        ({"foo.py": "", "test_foo.py": "import unittest\n"}, "python3 -m unittest"),
        ({"foo/__init__.py": "", "foo/tests/test_a.py": ""}, ".venv/bin/python -m pytest -q"),
        (
            {"src/foo/__init__.py": "", "src/foo/test/test_a.py": ""},
            ".venv/bin/python -m pytest -q",
        ),
        ({"tools/tests/test_a.py": ""}, ""),
        ({"Makefile": "test check: deps\r\n\tx\r\n"}, "make test"),
        ({"Makefile": ".PHONY: test\nA = test: b\ntest := 1\ntest ::= 1\n\techo test: no\n"}, ""),
        ({"package.json": "\ufeff" + PACKAGE}, "npm test"),
    ],
)
def test_the_test_command_is_found_where_people_keep_their_tests(tmp_path, texts, test):
    made(tmp_path, texts)
    assert infer_commands(tmp_path).test == test


def test_the_package_at_the_root_of_a_workspace_has_a_lane_with_its_tests(tmp_path):
    texts = files(
        "src/main.rs",
        "tests/cli.rs",
        "crates/grep/Cargo.toml",
        "crates/grep/src/lib.rs",
        "docs/a.md",
    )
    tracked = made(
        tmp_path, texts | {"Cargo.toml": '[package]\n[workspace]\nmembers = ["crates/*"]\n'}
    )
    trees = infer_lanes(tmp_path, tracked).trees
    assert trees["src"] == ("src/**", "tests/**", "Cargo.toml")
    assert trees["grep"] == ("crates/grep/**",)


def test_a_folder_of_tests_named_after_its_component_is_in_the_lane_of_that(tmp_path):
    lanes = infer_lanes(
        tmp_path, ["Shop.sln", "Shop/Cart.cs", "Shop.Tests/CartTests.cs", "Api/A.cs", "latest/a.cs"]
    )
    assert lanes.concurrent == ("Api", "Shop", "latest")
    assert lanes.trees["Shop"] == ("Shop/**", "Shop.Tests/**")


def test_code_at_the_top_is_not_the_work_of_a_lane_for_documents(tmp_path):
    lanes = infer_lanes(tmp_path, ["README.md", "docs/index.md", "index.js", "index.test.js"])
    assert (lanes.concurrent, lanes.trees) == ((), {"main": ("**/*",)})
    assert infer_lanes(tmp_path, ["README.md", "docs/index.md"]).concurrent == ("docs",)


def test_a_manifest_that_cannot_be_read_declares_nothing(tmp_path):
    broken = {"package.json": "{", "Cargo.toml": "[", "pyproject.toml": "=", "src/a.py": ""}
    assert infer_lanes(tmp_path, made(tmp_path, broken)).concurrent == ("src",)
    assert infer_commands(tmp_path).setup == ""


@pytest.mark.soak
def test_what_is_inferred_runs_in_a_fresh_worktree_and_leaves_nothing_for_git_to_see(tmp_path):
    folder, fresh = tmp_path / "repository", tmp_path / "worktree"
    build = '[build-system]\nrequires = ["setuptools"]\nbuild-backend = "setuptools.build_meta"\n'
    made(
        folder,
        {
            "pyproject.toml": build + PYPROJECT.replace('"parser"', '"parser"\nversion = "1"'),
            ".gitignore": "__pycache__/\n",
            "src/parser/__init__.py": "x = 1\n",
            "tests/test_x.py": "import parser\n\n\ndef test_x():\n    assert parser.x == 1\n",
        },
    )
    for words in (
        ["init", "-q"],
        ["add", "--all"],
        ["commit", "-qm", "Begin"],
        ["worktree", "add", "-q", str(fresh)],
    ):
        subprocess.run(
            ["git", "-c", "user.name=T", "-c", "user.email=t@example.com", *words],
            cwd=folder,
            check=True,
        )
    commands = infer_commands(fresh)
    subprocess.run(commands.setup, shell=True, cwd=fresh, check=True)
    assert subprocess.run(commands.test, shell=True, cwd=fresh).returncode == 0
    (fresh / "src" / "parser" / "__init__.py").write_text("x = 2\n")
    assert subprocess.run(commands.test, shell=True, cwd=fresh).returncode == 1, (
        "it tests the tree that it is run in"
    )
    status = subprocess.run(
        ["git", "status", "--porcelain"], cwd=fresh, capture_output=True, text=True, check=True
    )
    assert status.stdout == " M src/parser/__init__.py\n"
