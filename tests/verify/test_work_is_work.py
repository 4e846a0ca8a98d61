"""Honest work that looks like bookkeeping is taken; beside each form stands the lie that is not."""

import pytest
from growth import grows_less_than
from repository import Repository

from dos.verify.shipped import Answer
from dos.verify.work.own_version import own_version_lines
from dos.verify.work.request import Request

SHIPPED, UNPROVEN, UNDONE = Answer.SHIPPED, Answer.UNPROVEN, Answer.UNDONE
LINES = "".join(f"def part_{number}(value):\n    return value + {number}\n" for number in range(20))


@pytest.fixture
def repository(tmp_path):
    other = Repository(tmp_path / "work")
    other.commit("begin", {"src/base.py": "import os\nbase = 1\n", "README.md": "hello\n"})
    return other


def check(repository, answer, *contradictions):
    verdict = repository.verify("AUTH", "AUTH1")
    assert (verdict.answer, verdict.contradictions) == (answer, contradictions), verdict.reason
    return verdict


def declare(repository, title, paths=""):
    field = f"\n- paths: {paths}\n" if paths else ""
    repository.commit("declare", {"docs/auth-plan.md": f"## AUTH AUTH1: {title}\n{field}"})


# A manifest states the project's version, which every release changes, and much that is work.

PYPROJECT = (
    '[project]\nname = "shop"\nversion = "1.0.0"\ndependencies = [\n    "requests>=2.0",\n]\n\n'
    '[project.scripts]\nshop = "shop.cli:main"\n\n[build-system]\nrequires = ["hatchling"]\n\n'
    '[tool.commitizen]\nversion = "1.0.0"\n\n[tool.bumpversion]\ncurrent_version = "1.0.0"\n\n'
    '[tool.ruff]\nline-length = 100\n'
)  # fmt: skip
CARGO = (
    '[package]\nname = "shop"\nversion = "1.0.0"\nedition = "2021"\n\n[dependencies]\n'
    'serde = "1.0.0"\n\n[dependencies.rand]\nversion = "0.8"\n'
)
PACKAGE = (
    '{\n  "name": "shop",\n  "version": "1.0.0",\n  "scripts": {\n    "test": "jest"\n  },\n'
    '  "dependencies": {\n    "version": "0.1.0",\n    "lodash": "^4.0.0"\n  }\n}\n'
)
POM = (
    "<project>\n  <parent>\n    <artifactId>boot</artifactId>\n    <version>3.0</version>\n"
    "  </parent>\n  <version>1.0.0</version>\n  <dependencies>\n    <dependency>\n"
    "      <artifactId>guava</artifactId>\n      <version>31</version>\n    </dependency>\n"
    "  </dependencies>\n</project>\n"
)
SETUP_CFG = "[metadata]\nname = shop\nversion = 1.0.0\n\n[options]\ninstall_requires =\n    rich\n"
SETUP_PY = 'from setuptools import setup\n\nsetup(\n    name="shop",\n    version="1.0.0",\n)\n'
GEMSPEC = (
    "Gem::Specification.new do |s|\n  s.version = '1.0.0'\n  s.add_dependency 'rack', '2'\nend\n"
)
GRADLE = (
    "plugins {\n    id 'java' version '8.0'\n}\nversion = '1.0.0'\n"
    "dependencies {\n    implementation 'a:b:1.0'\n}\n"
)
CHART = (
    "name: shop\nversion: 1.0.0\nappVersion: 1.0.0\ndependencies:\n"
    "  - name: redis\n    version: 17.0.0\n"
)
CSPROJ = (
    "<Project>\n  <PropertyGroup>\n    <Version>1.0.0</Version>\n  </PropertyGroup>\n"
    "  <ItemGroup>\n"
    '    <PackageReference Include="Dapper" Version="2.0.0" />\n  </ItemGroup>\n</Project>\n'
)
MANIFESTS = {
    "pyproject.toml": PYPROJECT, "Cargo.toml": CARGO, "web/package.json": PACKAGE, "pom.xml": POM,
    "setup.cfg": SETUP_CFG, "setup.py": SETUP_PY, "shop.gemspec": GEMSPEC, "build.gradle": GRADLE,
    "deploy/Chart.yaml": CHART, "src/Shop.csproj": CSPROJ,
}  # fmt: skip


@pytest.mark.parametrize("path", MANIFESTS)
def test_another_version_of_the_project_is_bookkeeping(repository, path):
    text = MANIFESTS[path]
    repository.commit("begin", {path: text})
    changed = (
        text.replace("1.0.0", "1.1.0")
        if path != "Cargo.toml"
        else text.replace('\nversion = "1.0.0"', '\nversion = "1.1.0"')
    )
    repository.commit("AUTH1: login", {path: changed})
    check(repository, UNPROVEN, "bookkeeping_only")


@pytest.mark.parametrize(
    ("path", "old", "new"),
    [
        ("pyproject.toml", "requests>=2.0", "requests>=2.31"),
        ("pyproject.toml", '"requests>=2.0",\n', '"requests>=2.0",\n    "rich",\n'),
        ("pyproject.toml", "shop.cli:main", "shop.main:main"),
        ("pyproject.toml", '["hatchling"]', '["flit_core"]'),
        ("pyproject.toml", "line-length = 100", "line-length = 88"),
        ("pyproject.toml", '"shop"\nversion = "1.0.0"\n', '"shop"\ndynamic = ["version"]\n'),
        ("Cargo.toml", 'serde = "1.0.0"', 'serde = "1.0.9"'),
        ("Cargo.toml", 'version = "0.8"', 'version = "0.9"'),
        ("Cargo.toml", 'edition = "2021"', 'edition = "2024"'),
        ("web/package.json", "^4.0.0", "^4.17.0"),
        ("web/package.json", '"version": "0.1.0"', '"version": "0.2.0"'),
        ("web/package.json", '"jest"', '"vitest run"'),
        ("pom.xml", "<version>31</version>", "<version>33</version>"),
        ("pom.xml", "<version>3.0</version>", "<version>3.2</version>"),
        ("setup.cfg", "    rich\n", "    rich\n    httpx\n"),
        ("setup.py", '    name="shop",\n', '    name="shop",\n    zip_safe=False,\n'),
        ("shop.gemspec", "'rack', '2'", "'rack', '3'"),
        ("build.gradle", "a:b:1.0'", "a:b:1.1'"),
        ("build.gradle", "version '8.0'", "version '8.1'"),
        ("deploy/Chart.yaml", "version: 17.0.0", "version: 18.0.0"),
        ("src/Shop.csproj", 'Version="2.0.0"', 'Version="2.1.0"'),
    ],
)  # fmt: skip
def test_what_else_a_manifest_says_is_work(repository, path, old, new):
    text = MANIFESTS[path]
    assert text.count(old) == 1
    repository.commit("begin", {path: text})
    changed = text.replace(old, new)
    repository.commit("AUTH1: raise it", {path: changed})
    check(repository, SHIPPED)
    repository.commit("put it back", {path: text})
    check(repository, UNDONE, "removed")


@pytest.mark.parametrize(
    ("path", "text", "is_work"),
    [
        ("package.json", '{"name": "shop", "version": "@"}\n', False),
        ("package.json", '{"dependencies": {"version": "@"}}\n', True),
        ("setup.py", 'from setuptools import setup\nsetup(name="shop", version="@")\n', False),
        ("setup.py", 'from setuptools import setup\nsetup(install_requires=["a==@"])\n', True),
        ("CMakeLists.txt", "project(Shop VERSION @ LANGUAGES C)\n", False),
        ("CMakeLists.txt", "find_package(Qt @ REQUIRED)\n", True),
        ("Cargo.toml", '[dependencies]\ncart = { path = "../cart", version = "@" }\n', False),
        ("Cargo.toml", '[dependencies]\ncart = { git = "x", version = "@" }\n', True),
    ],
)
def test_a_version_within_a_line_is_told_from_what_is_beside_it(repository, path, text, is_work):
    repository.commit("begin", {path: text.replace("@", "1.0")})
    repository.commit("AUTH1: raise it", {path: text.replace("@", "1.1")})
    if is_work:
        check(repository, SHIPPED)
    else:
        check(repository, UNPROVEN, "bookkeeping_only")


def test_a_comma_behind_the_entry_above_is_no_part_of_the_work(repository):
    one = '{\n  "dependencies": {\n    "a": "1.0"\n  }\n}\n'
    repository.commit("begin", {"package.json": one})
    two = one.replace('"1.0"\n', '"1.0",\n    "b": "1.0"\n')
    repository.commit("AUTH1: add b", {"package.json": two})
    check(repository, SHIPPED)
    repository.commit("instead", {"package.json": two.replace('"b"', '"c"')})
    check(repository, UNPROVEN, "overwritten")


def test_a_version_that_stays_does_not_stand_for_the_dependency_beside_it(repository):
    repository.commit("begin", {"pyproject.toml": PYPROJECT})
    both = PYPROJECT.replace('\nversion = "1.0.0"\ndep', '\nversion = "1.1.0"\ndep')
    repository.commit("AUTH1: login", {"pyproject.toml": both.replace(">=2.0", ">=2.31")})
    check(repository, SHIPPED)
    repository.commit("put it back", {"pyproject.toml": both})
    assert not repository.verify("AUTH", "AUTH1").shipped


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("pyproject.toml", '[project]\nversion = "1.0"\n'),
        ("src/shop/_version.py", '__version__ = version = "1.0"\n__version_tuple__ = (1, 0)\n'),
        ("src/shop/version.py", 'VERSION = "1.0"\n'),
        ("src/shop/__about__.py", '__version__ = "1.0"\n__author__ = "A"\n'),
        ("src/shop.py", '__version__ = "1.0"\n'),
        ("lib/shop/version.rb", 'module Shop\n  VERSION = "1.0"\nend\n'),
        ("internal/version/version.go", 'package version\n\nconst Version = "v1.0"\n'),
        ("src/version.ts", 'export const version = "1.0";\n'),
        ("include/version.h", '#define SHOP_VERSION "1.0"\n#define SHOP_VERSION_MAJOR 1\n'),
    ],
)
def test_a_file_that_states_a_version_alone_is_bookkeeping(repository, path, text):
    repository.commit("AUTH1: login", {path: text})
    check(repository, UNPROVEN, "bookkeeping_only")
    repository.commit(
        "AUTH1: login", {path: text.replace("1.0", "1.1").replace("(1, 0)", "(1, 1)")}
    )
    check(repository, UNPROVEN, "bookkeeping_only")


@pytest.mark.parametrize(
    ("path", "text"),
    [
        (
            "src/shop/version.py",
            'VERSION = "1.0"\n\n\ndef parse(text):\n    return text.split(".")\n',
        ),
        ("src/shop/api.py", 'API_VERSION = "1.0"\n'),
        ("src/shop.py", '__version__ = read_metadata("shop")\n'),
        ("src/version.ts", "export function newest(a, b) {\n  return a > b ? a : b;\n}\n"),
    ],
)
def test_code_in_a_file_of_versions_is_work(repository, path, text):
    repository.commit("AUTH1: read versions", {path: text})
    check(repository, SHIPPED)


def test_a_release_that_was_declared_is_done_by_its_version(repository):
    repository.commit("begin", {"pyproject.toml": PYPROJECT, "web/package.json": PACKAGE})
    declare(repository, "Bump the version to 2.0")
    repository.commit("AUTH1: bump", {"pyproject.toml": PYPROJECT.replace("1.0.0", "2.0.0")})
    check(repository, SHIPPED)


@pytest.mark.parametrize(("paths", "answer"), [("pyproject.toml", SHIPPED), ("'**'", UNPROVEN)])
def test_a_version_counts_where_its_file_is_declared_and_not_under_a_glob(
    repository, paths, answer
):
    repository.commit("begin", {"pyproject.toml": PYPROJECT})
    declare(repository, "log in", paths)
    repository.commit("AUTH1: bump", {"pyproject.toml": PYPROJECT.replace("1.0.0", "2.0.0")})
    assert repository.verify("AUTH", "AUTH1").answer is answer


def test_a_dependency_outside_the_declared_paths_does_not_count(repository):
    repository.commit("begin", {"pyproject.toml": PYPROJECT})
    declare(repository, "log in", "src/auth/**")
    repository.commit("AUTH1: log in", {"pyproject.toml": PYPROJECT.replace(">=2.0", ">=3.0")})
    check(repository, UNPROVEN, "out_of_scope")


# A package may export something, or only be there.


@pytest.mark.parametrize(
    "text",
    [
        "from shop.cart import Cart\n",
        '"""A shop."""\n\nfrom .cart import Cart\n\n__all__ = ["Cart"]\n__version__ = "1.0"\n',
        "import logging\n\nlogging.getLogger(__name__).addHandler(logging.NullHandler())\n",
        "def total(cart):\n    return sum(cart)\n",
        "x = 1\n",
    ],
)
def test_what_a_package_exports_is_work(repository, text):
    repository.commit("AUTH1: export it", {"src/shop/__init__.py": text})
    check(repository, SHIPPED)


@pytest.mark.parametrize(
    "text",
    [
        '__version__ = "1.0"\n__author__ = "A"\n',
        '"""A shop."""\n\nVERSION = (1, 2, 0)\n',
        "from ._version import __version__\n\n__all__ = ['__version__']\n",
        "from __future__ import annotations\n\n__all__: list[str] = []\n",
        "__version_info__ = (\n    1,\n    2,\n)\n",
    ],
)
def test_a_package_that_says_only_who_it_is_is_no_work(repository, text):
    repository.commit("AUTH1: export it", {"src/shop/__init__.py": text})
    check(repository, UNPROVEN, "bookkeeping_only")


@pytest.mark.parametrize("text", ["", '"""A shop."""\n', "# a shop\n", "pass\n"])
def test_an_empty_package_is_no_work(repository, text):
    repository.commit("AUTH1: export it", {"src/shop/__init__.py": text})
    check(repository, UNPROVEN, "cosmetic_only")


@pytest.mark.parametrize(
    ("title", "paths", "path", "answer"),
    [
        ("make src/shop a package", "src/shop/__init__.py", "src/shop/__init__.py", SHIPPED),
        ("make the shop a package", "src/shop/__init__.py", "src/shop/__init__.py", SHIPPED),
        ("make the shop a package", "src/**", "src/shop/__init__.py", SHIPPED),
        ("ship src/shop/py.typed", "src/**", "src/shop/py.typed", SHIPPED),
        ("charge the card once", "src/shop/__init__.py", "src/shop/__init__.py", UNPROVEN),
        ("log in from every package", "src/**", "src/shop/__init__.py", UNPROVEN),
        ("make the shop a package", "src/**", "src/shop/card.py", UNPROVEN),
    ],
)
def test_an_empty_file_is_work_where_it_was_asked_for(repository, title, paths, path, answer):
    declare(repository, title, paths)
    repository.commit("AUTH1: do it", {path: ""})
    assert repository.verify("AUTH", "AUTH1").answer is answer


def test_an_empty_file_that_was_asked_for_is_there_as_long_as_it_is(repository):
    declare(repository, "make src/shop a package", "src/shop/**")
    repository.commit("AUTH1: do it", {"src/shop/__init__.py": ""})
    repository.commit("go on", {"src/shop/__init__.py": "from .card import charge\n"})
    check(repository, SHIPPED)
    repository.commit("tidy", {"src/shop/__init__.py": None})
    assert repository.verify("AUTH", "AUTH1").answer is UNDONE


def test_an_export_of_a_stub_is_no_work(repository):
    files = {
        "src/shop/__init__.py": "from .cart import total\n",
        "src/shop/cart.py": "def total(cart):\n    raise NotImplementedError\n",
    }
    repository.commit("AUTH1: add up carts", files)
    check(repository, UNPROVEN, "stubs_only")


# A mode, a link and a submodule are work for the unit that asks for them.


def change_mode(repository, path, mode, message):
    (repository.root / path).chmod(mode)
    repository.commit(message, {})


SCRIPT = "#!/bin/sh\necho deployed\n"


@pytest.mark.parametrize(
    ("title", "paths"),
    [
        ("Make tools/deploy.sh executable", ""),
        ("chmod +x the deploy script", ""),
        ("Set the executable bit of the tools", "tools/**"),
        ("Let people run the deploy script directly", ""),
        ("Fix the permissions of deploy.sh", ""),
        ("Start deployments with ./deploy.sh", ""),
        ("Deploy", "tools/deploy.sh"),
    ],
)
def test_a_mode_that_was_asked_for_is_work_as_long_as_it_stays(repository, title, paths):
    repository.commit("begin", {"tools/deploy.sh": SCRIPT})
    declare(repository, title, paths)
    change_mode(repository, "tools/deploy.sh", 0o755, "AUTH1: do it")
    check(repository, SHIPPED)
    repository.commit("more", {"tools/deploy.sh": SCRIPT.replace("deployed", "done")})
    check(repository, SHIPPED)
    change_mode(repository, "tools/deploy.sh", 0o644, "oops")
    check(repository, UNDONE, "removed")


@pytest.mark.parametrize(
    ("title", "paths"),
    [
        ("log in", ""),
        ("Add dark mode", ""),
        ("Check the permissions of users", ""),
        ("Serve 700 users", ""),
        ("log in", "src/**"),
        ("log in", "src/login.py"),
        ("log in", "src/login.p?"),
    ],
)
def test_a_mode_that_nobody_asked_for_is_no_work(repository, title, paths):
    repository.commit("begin", {"src/login.py": LINES})
    declare(repository, title, paths)
    change_mode(repository, "src/login.py", 0o755, "AUTH1: make it executable")
    check(repository, UNPROVEN, "cosmetic_only")


@pytest.mark.parametrize("path", ["bin/login", "tools/login.bash", "login.zsh"])
def test_the_mode_of_a_declared_script_is_work(repository, path):
    repository.commit("begin", {path: "echo hello\n"})
    declare(repository, "log in", path)
    change_mode(repository, path, 0o755, "AUTH1: log in")
    check(repository, SHIPPED)


@pytest.mark.parametrize(
    ("subject", "answer"),
    [("AUTH1: make the script executable", SHIPPED), ("AUTH1: deploy", UNPROVEN)],
)
def test_without_a_plan_the_subject_says_what_was_asked_for(repository, subject, answer):
    repository.commit("begin", {"tools/deploy.sh": SCRIPT})
    change_mode(repository, "tools/deploy.sh", 0o755, subject)
    assert repository.verify("AUTH", "AUTH1").answer is answer


@pytest.mark.parametrize(
    ("title", "target", "answer"),
    [
        ("Symlink the old module to the new one", "base.py", SHIPPED),
        ("Add a symbolic link for old callers", "../src/base.py", SHIPPED),
        ("Link login.py to base", "base.py", SHIPPED),
        ("log in", "base.py", UNPROVEN),
        ("Add a link to the login page", "base.py", UNPROVEN),
        ("Symlink the old module to the new one", "/nowhere", UNPROVEN),
        ("Symlink the old module to the new one", "nowhere.py", UNPROVEN),
    ],
)
def test_a_link_counts_where_it_was_asked_for_and_leads_somewhere(
    repository, title, target, answer
):
    declare(repository, title)
    (repository.root / "src/login.py").symlink_to(target)
    repository.commit("AUTH1: do it", {})
    assert repository.verify("AUTH", "AUTH1").answer is answer


@pytest.mark.parametrize(
    ("title", "answer"),
    [
        ("Raise the submodule of the parser", SHIPPED),
        ("Vendor the parser as a sub-module", SHIPPED),
        ("log in", UNPROVEN),
    ],
)
def test_a_submodule_counts_where_it_was_asked_for(repository, title, answer):
    declare(repository, title)
    repository.git("update-index", "--add", "--cacheinfo", f"160000,{'1234' * 10},vendor/parser")
    repository.git("commit", "--quiet", "-m", "AUTH1: do it")
    assert repository.verify("AUTH", "AUTH1").answer is answer


# What a fleet writes about its work is no work.


@pytest.mark.parametrize("path", ["dos.toml", "dos.state.yaml", ".dos/runs/1.json"])
@pytest.mark.parametrize("paths", ["", "'**'"])
def test_the_files_of_this_program_are_no_work(repository, path, paths):
    declare(repository, "log in", paths)
    text = '[units.AUTH1]\nkind = "code"\n' if path == "dos.toml" else "a: 1\n"
    repository.commit("AUTH1: log in", {path: text})
    check(repository, UNPROVEN, "bookkeeping_only")


def test_settings_that_a_unit_declares_are_its_work(repository):
    declare(repository, "Ask for live work", "dos.toml")
    repository.commit("AUTH1: set it", {"dos.toml": '[verify]\nrequire = "live"\n'})
    check(repository, SHIPPED)


@pytest.mark.parametrize(
    ("path", "answer"), [("docs/auth-plan.md", UNPROVEN), ("docs/guide.md", SHIPPED)]
)
@pytest.mark.parametrize("paths", ["", ', paths = ["docs/**"]'])
def test_a_plan_is_no_document_of_the_product(repository, path, answer, paths):
    plan = "## AUTH AUTH1: explain the login\n\nWrite it down.\n"
    toml = f'[units]\nAUTH1 = {{ kind = "docs"{paths} }}\n'
    repository.commit("declare", {"docs/auth-plan.md": plan, "dos.toml": toml})
    text = plan + "\nIt is all done now.\n"
    repository.commit("AUTH1: explain the login", {path: text})
    assert repository.verify("AUTH", "AUTH1").answer is answer


# A lock file counts where the unit is about what it locks.

LOCKS = {
    "Cargo.lock": '[[package]]\nname = "serde"\nversion = "1.0.1"\nchecksum = "ab12"\n',
    "package-lock.json": '{\n "packages": {\n  "node_modules/serde": {\n   "version": "1.0.1",\n'
    '   "resolved": "https://registry.npmjs.org/serde/-/serde-1.0.1.tgz"\n  }\n }\n}\n',
    "poetry.lock": '[[package]]\nname = "serde"\nversion = "1.0.1"\n',
    "go.sum": "example.org/serde v1.0.1 h1:abc=\n",
    "Gemfile.lock": "GEM\n  specs:\n    serde (1.0.1)\n",
}


@pytest.mark.parametrize("path", LOCKS)
@pytest.mark.parametrize(
    ("title", "answer"),
    [
        ("Bump serde", SHIPPED),
        ("Update all dependencies", SHIPPED),
        ("Refresh the lock file", SHIPPED),
        ("Bump the session timeout", UNPROVEN),
        ("Update the registry over https", UNPROVEN),
        ("log in with serde", UNPROVEN),
    ],
)  # fmt: skip
def test_a_lock_file_alone_counts_for_a_unit_about_that_dependency(repository, path, title, answer):
    repository.commit("begin", {path: LOCKS[path]})
    declare(repository, title)
    changed = LOCKS[path].replace("1.0.1", "1.0.2").replace("ab12", "cd34")
    repository.commit("AUTH1: do it", {path: changed})
    assert repository.verify("AUTH", "AUTH1").answer is answer


# A move is work for the unit that asks for it.


@pytest.mark.parametrize(
    "title",
    [
        "Move login to its own package",
        "Rename login to session",
        "Relocate the session code",
        "Put login into the auth package",
        "Reorganise the source tree",
    ],
)
def test_a_move_that_was_asked_for_is_work_until_it_is_moved_back(repository, title):
    repository.commit("begin", {"src/login.py": LINES, "src/other.py": "other = 1\n"})
    declare(repository, title, "src/**")
    (repository.root / "lib").mkdir()
    repository.git("mv", "src/login.py", "lib/session.py")
    repository.commit("AUTH1: do it", {})
    check(repository, SHIPPED)
    repository.git("mv", "lib/session.py", "src/login.py")
    repository.commit("back", {})
    assert not repository.verify("AUTH", "AUTH1").shipped


@pytest.mark.parametrize(
    ("title", "answer"),
    [
        ("Split login in two", SHIPPED),
        ("Extract the session", SHIPPED),
        ("Refactor the login", SHIPPED),
        ("Break the import cycle", SHIPPED),
        ("log in", UNPROVEN),
        ("Add a session", UNPROVEN),
        ("Charge the card once", UNPROVEN),
    ],
)
def test_lines_that_only_went_to_another_file_are_work_where_places_are_the_work(
    repository, title, answer
):
    half = LINES.count("\n") // 4 * 2
    lines = LINES.splitlines(keepends=True)
    first, second = "".join(lines[:half]), "".join(lines[half:])
    repository.commit("begin", {"src/login.py": LINES, "src/session.py": "base = 1\n"})
    declare(repository, title)
    moved = {"src/login.py": first, "src/session.py": "base = 1\n" + second}
    repository.commit("AUTH1: do it", moved)
    assert repository.verify("AUTH", "AUTH1").answer is answer


def test_moved_lines_with_a_new_one_among_them_are_work(repository):
    repository.commit("begin", {"src/login.py": "a = 1\nb = 2\n", "src/session.py": "c = 3\n"})
    moved = {"src/login.py": "a = 1\n", "src/session.py": "c = 3\nb = 2\nprint(a + b)\n"}
    repository.commit("AUTH1: log in", moved)
    check(repository, SHIPPED)


# What was there before is no new work.


@pytest.mark.parametrize(
    ("title", "answer"),
    [
        ("log in", UNPROVEN),
        ("Add a session", UNPROVEN),
        ("Charge the card once", UNPROVEN),
        ("Restore the login", SHIPPED),
        ("Bring the login back", SHIPPED),
        ("Fix the missing login", SHIPPED),
    ],
)
def test_work_that_was_taken_out_and_put_back_is_work_where_that_was_asked_for(
    repository, title, answer
):
    declare(repository, title)
    repository.commit("somebody's work", {"src/login.py": LINES, "src/session.py": LINES})
    repository.commit("tidy", {"src/login.py": None, "src/session.py": None})
    repository.commit("AUTH1: do it", {"src/login.py": LINES, "src/session.py": LINES})
    assert repository.verify("AUTH", "AUTH1").answer is answer


def test_work_that_was_reverted_may_land_under_its_name(repository):
    repository.commit("log in", {"src/login.py": LINES})
    repository.git("revert", "--no-edit", "HEAD")
    repository.commit("AUTH1: log in", {"src/login.py": LINES})
    check(repository, SHIPPED)


def test_work_that_its_own_unit_took_out_and_put_back_stands(repository):
    repository.commit("AUTH1: log in", {"src/login.py": LINES})
    repository.commit("AUTH1: not so", {"src/login.py": None})
    repository.commit("AUTH1: log in", {"src/login.py": LINES})
    check(repository, SHIPPED)


# Agents write the texts that are read here.


@pytest.mark.parametrize("path", ["pyproject.toml", "package.json", "pom.xml", "version.py"])
@pytest.mark.parametrize(
    "piece", ["__version__=", "version", "version=", "<a", "<a>", '"\\', '"a":{', "[a]", "project("]
)
def test_versions_are_found_in_step_with_the_length_of_a_text(path, piece):
    def read(text):
        return own_version_lines(path, [text], [text[1:], "version=1"])

    short, long = (piece * (length // len(piece)) for length in (4_000, 32_000))
    assert grows_less_than(40, read, short, long)


@pytest.mark.parametrize("piece", ["run a ", "put ", "update.", "a/", "@", "permission ", "a.lock"])
def test_titles_are_read_in_step_with_their_length(piece):
    def read(title):
        request = Request(f"update {title}")
        asked = request.is_for_release or request.is_for_move or request.may_be_about_places
        return asked, request.is_for_mode("src/a.py"), request.is_for_locked([title], [title])

    short, long = (piece * (length // len(piece)) for length in (4_000, 32_000))
    assert grows_less_than(40, read, short, long)
