"""The kind of a file by its path alone, in any case; and which files are the program itself."""

import re
from collections.abc import Iterable
from enum import StrEnum
from functools import lru_cache


class Kind(StrEnum):
    """What a file is for. A commit counts for a unit only through files of the right kind."""

    SOURCE = "source"
    TEST = "test"
    CONFIG = "config"  # settings, locked dependencies, markup, templates, rarer languages
    CI = "ci"
    DOCS = "docs"
    DATA = "data"  # binaries, tables, and every unknown suffix
    BOOKKEEPING = "bookkeeping"


def words(line: str) -> frozenset[str]:
    """The words of a line, as a set to look suffixes and names up in."""
    return frozenset(line.split())


_SOURCE = words(
    "bash bat c cc cjs clj cljs cmake cmd cpp cs cxx dart elm erl ex exs fs go gradle h hh hpp "
    "hs java jl js jsx kt kts lua m mjs mk ml mm nim php pl pm proto ps1 psd1 psm1 py pyi r rb "
    "rs scala sh sql svelte swift tf ts tsx v vb vue zig zsh"
)
_CONFIG = words(
    "json jsonc json5 yml yaml toml ini cfg conf config env properties plist editorconfig hcl "
    "tfvars nix dhall lock sum html htm xhtml xml xsd xsl xslt css scss sass less styl ipynb "
    "tmpl tpl template j2 jinja jinja2 ejs erb haml hbs mustache pug slim liquid twig astro "
    "graphql gql prisma thrift avsc bzl bazel star gn gni ninja am ac in spec csproj fsproj "
    "vbproj sln props targets gemspec podspec cabal opam service timer socket desktop rules el "
    "lisp scm rkt cljc edn fish awk tcl coffee cr groovy pas f f90 f95 adb ads asm s cu cuh sol "
    "vim ino hx d po pot strings resx xaml ui qml glsl vert frag hlsl wgsl gitignore "
    "gitattributes dockerignore npmrc nvmrc babelrc eslintrc prettierrc"
)
_DOCS = words("md mdx markdown rst txt adoc asciidoc org tex rtf log wiki textile pod")
# Prose that goes by its name alone.
_PROSE = words(
    "readme license licence copying copyright authors contributors maintainers notice "
    "contributing changelog changes history news todo thanks credits codeowners notes"
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
        ".appveyor.yml", ".circleci/config.yml", ".gitlab-ci.yml", ".travis.yml", "appveyor.yml",
        "azure-pipelines.yml", "bitbucket-pipelines.yml",
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
    """The kind of a path: the first that fits, of bookkeeping, CI, test, source, config, docs."""
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
    if is_docs(path):
        return Kind.DOCS
    return Kind.DATA


@_kept
def is_source(path: str) -> bool:
    """Whether it is code by its suffix, a build file, or a program without a suffix.

    A test can be source as well.
    """
    name = _basename(path)
    if "." not in name:
        return not _is_prose(name)
    suffix = _suffix(name)
    return suffix in _SOURCE or (name.startswith(_BUILD_FILES) and suffix not in _DOCS)


@_kept
def is_test(path: str) -> bool:
    """Whether it is in a folder of tests, or named as a test."""
    return bool(_TEST_FOLDER.search(path.lower())) or is_named_test(path)


@_kept
def is_named_test(path: str) -> bool:
    """Whether its own name, without the folders, is that of a test."""
    return _TEST_NAME.fullmatch(_basename(path)) is not None


@_kept
def is_ci(path: str) -> bool:
    """Whether it configures a CI service."""
    lowered = path.lower()
    return lowered in _CI_FILES or bool(_WORKFLOW.fullmatch(lowered))


@_kept
def is_config(path: str) -> bool:
    """Whether it is settings, markup or a template: no source, yet a change has an effect."""
    name = _basename(path)
    if "." not in name or is_ci(path):
        return False
    return _suffix(name) in _CONFIG or _BUILT_FROM_TEXT.fullmatch(name) is not None


def is_docs(path: str) -> bool:
    """Whether it is prose, by its suffix or by a name such as README."""
    name = _basename(path)
    if "." not in name:
        return _is_prose(name)
    suffix = _suffix(name)
    is_text = suffix in _DOCS or (_is_prose(name) and suffix not in _SOURCE | _CONFIG)
    return is_text and not _BUILT_FROM_TEXT.fullmatch(name)


def is_bookkeeping(path: str) -> bool:
    """Whether every commit of a release or a run touches it, whatever the commit did."""
    lowered = path.lower()
    return _basename(lowered) in _BOOKKEEPING or lowered.startswith(_RELEASE_NOTES)


def _is_prose(name: str) -> bool:
    """Whether a name without a suffix is that of a document, such as README."""
    return name in _PROSE or _PROSE_FIRST.match(name) is not None


def _basename(path: str) -> str:
    """The last part of a path, in lower case."""
    return path.rpartition("/")[2].lower()


def _suffix(name: str) -> str:
    """What follows the last dot of a name."""
    return name.rpartition(".")[2]


# What follows picks the files of a tree that are emptied to see whether a test command notices.
# A test that passes with the program gone does not look at the tree it is run in. The runner has
# to stay: with that gone too, the command would fail for a reason that proves nothing.
PROGRAMS = words(
    "c cc cjs clj cljs cpp cs cxx dart elm erl ex fs go h hh hpp hs java jl js jsx kt lua m mjs ml "
    "mm nim php pl pm py r rb rs scala sh bash zsh svelte swift ts tsx v vb vue zig"
)
SHELL = ("sh", "bash", "zsh")
# Patterns as text: only `dos up` needs them, and `re` compiles and keeps them at the first use.
# Files that configure or run a build or a test, whatever language they are written in.
_RUNS_TESTS = (
    r"setup\.py|conftest\.py|noxfile\.py|tasks\.py|fabfile\.py|dodo\.py|sconstruct\.py"
    r"|wscript\.py|build\.(?:rs|zig|pl)|makefile\.pl|(?:gulp|grunt|jake|rake|dangers?)file.*"
    r"|package\.swift|project\.clj|\..*rc\.[cm]?js|.*\.conf(?:ig)?\.[cm]?[jt]s"
    r"|(?:jest|vitest|karma|mocha|playwright|cypress)[.\-].*"
)
# Tests as runners find them: `test-a.js` and `a-test.js` (node), `tests.py` (Django),
# `PriceTest.java`, `Shop.Tests/`. An emptied test passes, so it proves nothing about the program.
_FOUND_BY_RUNNERS = (
    r"(?:^|/)(?:[^/]*[-_.]|[^/]*[a-z0-9](?=[TS]))?(?i:tests?|specs?)(?:/|\.[^/.]+$)"
    r"|(?:^|/)(?i:tests?|specs?)[-_.][^/]*$"
)
_CHANGES_FOLDER = (
    r"(?:\b(?:cd|pushd)\s+(?:-P\s+|--\s+)?|(?<!\S)(?:-C|--(?:prefix|directory|cwd|dir))[ =]?)"
    r"[\"']?([\w./-]+)"
)
# An emptied file of these languages takes its tests with it and still compiles, so a text that
# cannot compile is written instead.
_DOES_NOT_COMPILE = {
    "rs": 'compile_error!("emptied by dos to see whether the tests notice");\n',
    "zig": 'comptime {\n    @compileError("emptied by dos to see whether the tests notice");\n}\n',
}


def files_to_empty(tracked: Iterable[str], runner: str) -> list[str]:
    """The tracked files that are the program and that the runner does not name.

    `runner` is the test command, with the text of every script that it runs in turn.
    """
    return [path for path in tracked if is_program(path) and not is_named_by_runner(path, runner)]


def is_program(path: str) -> bool:
    """Whether it is code of the program: no test, no CI file, nothing that runs tests."""
    name = path.rpartition("/")[2].lower()
    if "." not in name or name.rpartition(".")[2] not in PROGRAMS:
        return False
    if is_run_as_test(path):
        return False
    return not is_ci(path) and re.fullmatch(_RUNS_TESTS, name) is None


def is_run_as_test(path: str) -> bool:
    """Whether it is a test, or named as one of the many runners finds it."""
    return is_test(path) or re.search(_FOUND_BY_RUNNERS, path) is not None


def is_named_by_runner(path: str, runner: str) -> bool:
    """Whether the runner's text names the file by its path, or as a Python module.

    A path may start at the top of the tree, or at a folder that the runner changes to.
    """
    names = [path]
    for folder in run_folders(runner):
        if path.startswith(f"{folder}/"):
            names.append(path.removeprefix(f"{folder}/"))
    for name in names:
        module = name.rpartition(".")[0].replace("/", ".")
        if _occurs(name, runner) or (name.endswith(".py") and _occurs(module, runner)):
            return True
    return False


@_kept
def run_folders(runner: str) -> tuple[str, ...]:
    """The folders below the top of the tree in which a runner starts programs: `cd one && …`."""
    folders = []
    for match in re.finditer(_CHANGES_FOLDER, runner):
        folder = match[1].removeprefix("./").rstrip("/.")
        if folder and not folder.startswith(("/", "-")):
            folders.append(folder)
    return tuple(dict.fromkeys(folders))


def placeholder_text(path: str) -> str:
    """The text that is written in place of the file's own."""
    return _DOES_NOT_COMPILE.get(path.rpartition(".")[2].lower(), "")


def _occurs(name: str, text: str) -> bool:
    """Whether a text contains a name as a whole word."""
    return re.search(rf"(?<![\w\-]){re.escape(name)}(?![\w\-])", text) is not None
