"""What kind of file is a path? Only its name is looked at, in any case."""

import re
from collections.abc import Iterable
from enum import StrEnum
from functools import lru_cache


class Kind(StrEnum):
    SOURCE = "source"
    TEST = "test"
    CONFIG = (
        "config"  # settings, locked dependencies, markup, templates, and languages that are rarer
    )
    CI = "ci"
    DOCS = "docs"
    DATA = "data"  # binaries, tables, and whatever has a suffix that nobody knows
    BOOKKEEPING = "bookkeeping"


def words(line: str) -> frozenset[str]:
    return frozenset(line.split())


_SOURCE = words(
    "bash bat c cc cjs clj cljs cmake cmd cpp cs cxx dart elm erl ex exs fs go gradle h hh hpp hs java jl js jsx kt "
    "kts lua m mjs mk ml mm nim php pl pm proto ps1 psd1 psm1 py pyi r rb rs scala sh sql svelte swift tf ts tsx v vb "
    "vue zig zsh"
)
_CONFIG = words(
    "json jsonc json5 yml yaml toml ini cfg conf config env properties plist editorconfig hcl tfvars nix dhall lock "
    "sum html htm xhtml xml xsd xsl xslt css scss sass less styl ipynb tmpl tpl template j2 jinja jinja2 ejs erb haml "
    "hbs mustache pug slim liquid twig astro graphql gql prisma thrift avsc bzl bazel star gn gni ninja am ac in "
    "spec csproj fsproj vbproj sln props targets gemspec podspec cabal opam service timer socket desktop rules "
    "el lisp scm rkt cljc edn fish awk tcl coffee cr groovy pas f f90 f95 adb ads asm s cu cuh sol vim ino hx d "
    "po pot strings resx xaml ui qml glsl vert frag hlsl wgsl gitignore gitattributes dockerignore npmrc nvmrc "
    "babelrc eslintrc prettierrc"
)
_DOCS = words("md mdx markdown rst txt adoc asciidoc org tex rtf log wiki textile pod")
# Prose that goes by its name alone.
_PROSE = words(
    "readme license licence copying copyright authors contributors maintainers notice contributing changelog changes "
    "history news todo thanks credits codeowners notes"
)
_PROSE_FIRST = re.compile(r"(?:readme|licen[sc]e|copying|notice|contributing|changelog)[-_.]")
_BUILT_FROM_TEXT = re.compile(
    r"(?:cmakelists|(?:.*[-_.])?(?:requirements|constraints)(?:[-_.].*)?)\.txt"
)
_BUILD_FILES = ("makefile.", "dockerfile.")  # the like of Dockerfile.dev
_TEST_FOLDER = re.compile(r"(?:^|/)(?:tests?|specs?|__tests__)/")
_TEST_NAME = re.compile(r"test_.*\.[^.]+|.*_test\.[^.]+|.*\.(?:test|spec)\.[^.]+", re.DOTALL)
_WORKFLOW = re.compile(r"\.github/workflows/[^/]+\.ya?ml")
_CI_FILES = frozenset(
    (
        ".appveyor.yml", ".circleci/config.yml", ".gitlab-ci.yml", ".travis.yml", "appveyor.yml", "azure-pipelines.yml",
        "bitbucket-pipelines.yml",
    )
)  # fmt: skip
_BOOKKEEPING = frozenset(
    (
        "__init__.py", "changelog.md", "dos.findings.md", "dos.state.yaml", "execution-state.yaml",
        "findings-followup-queue.md", "plans.yaml", "pyproject.toml", "version", "version.txt",
    )
)  # fmt: skip
_RELEASE_NOTES = "docs/releases/"
_kept = lru_cache(maxsize=4096)  # a history names the same paths again and again


def kind(path: str) -> Kind:
    """The first that fits: a record of the work before all, then what runs it, then what tests it."""
    if is_bookkeeping(path):
        return Kind.BOOKKEEPING
    if is_ci(path):
        return Kind.CI
    if is_test(path):
        return Kind.TEST
    if is_source(path):
        return Kind.SOURCE
    if is_config(path):
        return Kind.CONFIG
    return Kind.DOCS if is_docs(path) else Kind.DATA


@_kept
def is_source(path: str) -> bool:
    """Code by its suffix, a build file, or a program without a suffix; a test can be source as well."""
    name = _basename(path)
    if "." not in name:
        return not _is_prose(name)
    return _suffix(name) in _SOURCE or (
        name.startswith(_BUILD_FILES) and _suffix(name) not in _DOCS
    )


@_kept
def is_test(path: str) -> bool:
    return bool(_TEST_FOLDER.search(path.lower())) or is_named_test(path)


@_kept
def is_named_test(path: str) -> bool:
    return _TEST_NAME.fullmatch(_basename(path)) is not None


@_kept
def is_ci(path: str) -> bool:
    lowered = path.lower()
    return lowered in _CI_FILES or bool(_WORKFLOW.fullmatch(lowered))


@_kept
def is_config(path: str) -> bool:
    """Settings, markup, templates: no source, and a change to them does something all the same."""
    name = _basename(path)
    return (
        "." in name
        and not is_ci(path)
        and (_suffix(name) in _CONFIG or bool(_BUILT_FROM_TEXT.fullmatch(name)))
    )


def is_docs(path: str) -> bool:
    name = _basename(path)
    if "." not in name:
        return _is_prose(name)
    suffix = _suffix(name)
    is_text = suffix in _DOCS or (_is_prose(name) and suffix not in _SOURCE | _CONFIG)
    return is_text and not _BUILT_FROM_TEXT.fullmatch(name)


def is_bookkeeping(path: str) -> bool:
    """A file that every commit of a release or a run touches, whatever it did."""
    lowered = path.lower()
    return _basename(lowered) in _BOOKKEEPING or lowered.startswith(_RELEASE_NOTES)


def _is_prose(name: str) -> bool:
    return name in _PROSE or _PROSE_FIRST.match(name) is not None


def _basename(path: str) -> str:
    return path.rpartition("/")[2].lower()


def _suffix(name: str) -> str:
    return name.rpartition(".")[2]


PROGRAMS = words(
    "c cc cjs clj cljs cpp cs cxx dart elm erl ex fs go h hh hpp hs java jl js jsx kt lua m mjs ml mm nim php pl pm py "
    "r rb rs scala sh bash zsh svelte swift ts tsx v vb vue zig"
)
SHELL = ("sh", "bash", "zsh")
# Names of files that configure or run a build or a test, whatever language they are written in.
_RUNS_TESTS = re.compile(
    r"setup\.py|conftest\.py|noxfile\.py|tasks\.py|fabfile\.py|dodo\.py|sconstruct\.py|wscript\.py|build\.(?:rs|zig|pl)"
    r"|makefile\.pl|(?:gulp|grunt|jake|rake|dangers?)file.*|package\.swift|project\.clj|\..*rc\.[cm]?js"
    r"|.*\.conf(?:ig)?\.[cm]?[jt]s|(?:jest|vitest|karma|mocha|playwright|cypress)[.\-].*"
)
# Tests as runners find them: `test-a.js` and `a-test.js` (node), `tests.py` (Django), `PriceTest.java`, `Shop.Tests/`.
# An emptied test passes, so these say nothing about the program.
_IS_TEST = re.compile(
    r"(?:^|/)(?:[^/]*[-_.]|[^/]*[a-z0-9](?=[TS]))?(?i:tests?|specs?)(?:/|\.[^/.]+$)|(?:^|/)(?i:tests?|specs?)[-_.][^/]*$"
)
# An emptied file of these takes its own tests with it and still compiles: one that cannot compile is put there.
_DOES_NOT_COMPILE = {
    "rs": 'compile_error!("emptied by dos to see whether the tests notice");\n',
    "zig": 'comptime {\n    @compileError("emptied by dos to see whether the tests notice");\n}\n',
}


def files_to_empty(tracked: Iterable[str], runner: str) -> list[str]:
    """The files to be emptied. `runner` is the test command, with the text of whatever it runs in turn."""
    return [path for path in tracked if is_program(path) and not is_named_by_runner(path, runner)]


def is_program(path: str) -> bool:
    name = path.rpartition("/")[2].lower()
    is_code = "." in name and name.rpartition(".")[2] in PROGRAMS
    tests_something = is_test(path) or _IS_TEST.search(path) is not None
    return is_code and not tests_something and not is_ci(path) and not _RUNS_TESTS.fullmatch(name)


def is_named_by_runner(path: str, runner: str) -> bool:
    """By its path, or as Python names a module."""
    module = path.rpartition(".")[0].replace("/", ".")
    return _occurs(path, runner) or (path.endswith(".py") and _occurs(module, runner))


def placeholder_text(path: str) -> str:
    """What is written in place of its text."""
    return _DOES_NOT_COMPILE.get(path.rpartition(".")[2].lower(), "")


def _occurs(name: str, text: str) -> bool:
    return re.search(rf"(?<![\w\-]){re.escape(name)}(?![\w\-])", text) is not None
