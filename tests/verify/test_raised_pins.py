"""What was set to something newer later is still there; what was set back or rewritten is not."""

from collections import Counter

import pytest
from growth import grows_less_than
from repository import Repository

from dos.verify.shipped import Answer
from dos.verify.work import constants, pins, versions

SHIPPED, UNPROVEN, UNDONE = Answer.SHIPPED, Answer.UNPROVEN, Answer.UNDONE
LINES = [f"def part_{number}(value):\n    return value + {number}\n" for number in range(12)]


@pytest.fixture
def repository(tmp_path):
    other = Repository(tmp_path / "work")
    other.commit("begin", {"src/base.py": "import os\nbase = 1\n"})
    return other


def answer(repository):
    return repository.verify("AUTH", "AUTH1").answer


# N.N stands for the version that is changed: by the unit, and once more since.
PINS = {
    "requirements.txt": "rich\nrequests==N.N  # for the client\n",
    "requirements/base.txt": "requests==N.N\n",
    "requirements-dev.txt": "requests>=N.N,<99 ; python_version > '3'\n",
    "pyproject.toml": '[project]\ndependencies = [\n    "requests>=N.N",\n    "rich",\n]\n',
    "poetry/pyproject.toml": '[tool.poetry.dependencies]\nrich = "*"\nrequests = "^N.N"\n',
    "inline/pyproject.toml": '[project]\ndependencies = ["rich", "requests ~= N.N"]\n',
    "Cargo.toml": '[dependencies]\nserde = { version = "N.N", features = ["derive"] }\n',
    "table/Cargo.toml": '[dependencies.a]\nversion = "9"\n[dependencies.b]\nversion = "N.N"\n',
    "package.json": '{\n  "dependencies": {\n    "a": "9.9",\n    "lodash": "^N.N"\n  }\n}\n',
    "go.mod": "module shop\n\nrequire (\n\texample.org/a v9.9.0\n\texample.org/b vN.N\n)\n",
    "Dockerfile": "FROM python:N.N-slim AS build\nRUN pip install .\n",
    ".github/workflows/ci.yml": "jobs:\n  test:\n    steps:\n      - uses: actions/checkout@vN.N\n",
    ".pre-commit-config.yaml": "repos:\n  - repo: https://a\n    rev: v9\n"
    "  - repo: https://b\n    rev: vN.N\n",
    ".gitlab-ci.yml": "image: node:N.N\ntest:\n  script: npm test\n",
    "compose.yaml": "services:\n  db:\n    image: postgres:N.N-alpine\n",
    "Gemfile": "gem 'rack'\ngem 'rails', '~> N.N'\n",
    "build.gradle": "dependencies {\n    implementation 'org.example:lib:N.N'\n}\n",
    "pom.xml": "<dependency>\n<artifactId>guava</artifactId>\n<version>N.N</version>\n"
    "</dependency>\n",
    "Shop.csproj": '<PackageReference Include="Dapper" Version="N.N" />\n',
    "main.tf": 'terraform {\n  required_version = "~> N.N"\n}\n',
    ".python-version": "N.N\n",
    "tox.ini": "[testenv]\ndeps =\n    pytest==N.N\n",
    "src/tools.py": 'NODE_VERSION = "N.N"\n',
    "src/Tools.java": 'class Tools {\n  static final String MIN_VERSION = "N.N";\n}\n',
}  # fmt: skip


def pin(path, version):
    return {path: PINS[path].replace("N.N", version)}


@pytest.mark.parametrize("path", PINS)
@pytest.mark.parametrize(
    ("since", "expected"), [("3.1", SHIPPED), ("3.10", SHIPPED), ("2", UNDONE), ("1", UNDONE)]
)
def test_a_pin_that_was_raised_again_stands_and_one_that_was_lowered_does_not(
    repository, path, since, expected
):
    repository.commit("begin", pin(path, "1"))
    repository.commit("AUTH1: raise it", pin(path, "3"))
    assert answer(repository) is SHIPPED
    repository.commit("something else", {"src/other.py": "other = 1\n"})
    repository.commit("again", pin(path, since))
    assert answer(repository) is expected


LISTED = '[project]\ndependencies = ["a>=@", "b>=1"]\n'
TABLE = '[dependencies]\nserde = {{ version = "{}", features = ["derive"] }}\n'


@pytest.mark.parametrize(
    ("path", "old", "set_to", "since", "expected"),
    [
        ("requirements.txt", "a==1\n", "a==2\n", "a[b]==2.1 ; python_version > '3'\n", SHIPPED),
        ("requirements.txt", "a==1\n", "a==2\n", "a[b]==1 ; python_version > '3'\n", UNDONE),
        ("requirements.txt", "b\n", "b\na\n", "b\na==1.0\n", SHIPPED),
        ("requirements.txt", "a==1\n", "a==2\n", "a\n", UNDONE),
        ("requirements.txt", "a==1\n", "a==2\n", "ab==3\n", UNPROVEN),
        ("Dockerfile", "FROM a:1\n", "FROM a:2 AS b\n", "FROM a:3\n", SHIPPED),
        ("Dockerfile", "FROM a:1\n", "FROM a:2 AS b\n", "FROM c:3\n", UNPROVEN),
        ("Cargo.toml", "[dependencies]\n", '[dependencies]\nserde = "1"\n', TABLE.format("2"),
         SHIPPED),
        ("Cargo.toml", "[dependencies]\n", '[dependencies]\nserde = "1"\n', TABLE.format("0.9"),
         UNDONE),
        ("pyproject.toml", LISTED.replace("@", "1"), LISTED.replace("@", "2"),
         LISTED.replace("@", "3").replace('"b>=1"', '"b>=1", "c"'), SHIPPED),
        ("pyproject.toml", LISTED.replace("@", "1"), LISTED.replace("@", "2"),
         LISTED.replace("@", "1").replace("b>=1", "b>=9"), UNDONE),
        ("ci.yml", "os: [a]\n", "os: [a, b]\n", "os: [a, b, c]\n", SHIPPED),
        ("ci.yml", "os: [a]\n", "os: [a, b]\n", "os: [a, c]\n", UNDONE),
    ],
)  # fmt: skip
def test_a_pin_is_told_by_what_it_pins_however_the_line_is_written(
    repository, path, old, set_to, since, expected
):
    repository.commit("begin", {path: old})
    repository.commit("AUTH1: raise it", {path: set_to})
    assert answer(repository) is SHIPPED
    repository.commit("again", {path: since})
    assert answer(repository) is expected


@pytest.mark.parametrize("path", ["requirements.txt", "Cargo.toml", "go.mod", "Gemfile"])
def test_a_pin_that_is_gone_is_not_there(repository, path):
    without = "".join(line for line in PINS[path].splitlines(True) if "N.N" not in line)
    repository.commit("begin", {path: without})
    repository.commit("AUTH1: add it", pin(path, "3"))
    assert answer(repository) is SHIPPED
    repository.commit("drop it", {path: without})
    assert answer(repository) is UNDONE


@pytest.mark.parametrize(
    ("old", "set_to", "since", "expected"),
    [
        ("1.9", "1.10", "1.11", SHIPPED),
        ("1.9", "1.10", "1.9.5", UNDONE),
        ("2.0rc1", "2.0", "2.0rc2", UNDONE),
        ("1.0", "2.0b1", "2.0", SHIPPED),
        ("2024.1", "2024.12", "2025.1", SHIPPED),
        ("3.0", "2.5", "2.6", SHIPPED),  # it was lowered, and stays below what it was
        ("3.0", "2.5", "3.1", UNDONE),
    ],
)
def test_versions_are_compared_as_versions(repository, old, set_to, since, expected):
    path = "requirements.txt"
    repository.commit("begin", pin(path, old))
    repository.commit("AUTH1: pin it", pin(path, set_to))
    assert answer(repository) is SHIPPED
    repository.commit("again", pin(path, since))
    assert answer(repository) is expected


@pytest.mark.parametrize(
    ("path", "set_to", "since", "expected"),
    [
        ("conf/app.toml", "timeout = 30\n", "timeout = 60\n", SHIPPED),
        ("conf/app.toml", "[login]\nstore = 'redis'\n", "[login]\nstore = 'disk'\n", SHIPPED),
        ("conf/app.yaml", "login:\n  retries: 3\n", "login:\n  retries: 2\n", SHIPPED),
        ("conf/app.ini", "[login]\nlevel = info\n", "[login]\nlevel = debug\n", SHIPPED),
        ("conf/app.json", '{\n  "port": 80\n}\n', '{\n  "port": 8080\n}\n', SHIPPED),
        ("conf/app.toml", "login = true\n", "login = false\n", UNDONE),
        ("conf/app.yaml", "login: 'on'\n", "login: 'off'\n", UNDONE),
        ("conf/app.ini", "[login]\nlevel = info\n", "[logout]\nlevel = debug\n", UNPROVEN),
        ("conf/app.yaml", "a:\n  retries: 3\n", "b:\n  retries: 2\n", UNPROVEN),
        ("conf/app.yaml", "run: login all users\n", "run: echo nothing to do\n", UNPROVEN),
        ("src/app.py", "timeout = 30\n", "timeout = 60\n", UNPROVEN),
        ("src/app.py", "login(30)\n", "login(60)\n", UNPROVEN),
        ("src/app.js", "const store = open('a-1.2')\n", "const store = open('a-1.3')\n", UNPROVEN),
        ("Dockerfile", "RUN sleep 5\n", "RUN sleep 6\n", UNPROVEN),
        ("Dockerfile", "RUN pip install a==1.0\n", "RUN pip install a==1.1\n", SHIPPED),
        ("setup.py", "build(threads())\n", "build(threads(2))\n", UNPROVEN),
        ("setup.py", "build(2)\n", "build(3)\n", UNPROVEN),
        ("Makefile", "build:\n\tcc -O2 a.c\n", "build2:\n\tcc -O3 a.c\n", UNPROVEN),
    ],
)  # fmt: skip
def test_a_setting_with_another_value_is_set_and_code_that_was_rewritten_is_not(
    repository, path, set_to, since, expected
):
    repository.commit("AUTH1: set it", {path: set_to})
    assert answer(repository) is SHIPPED
    repository.commit("again", {path: since})
    assert answer(repository) is expected


@pytest.mark.parametrize(
    ("path", "line"),
    [
        ("src/a.py", "LIMIT = @"),
        ("src/a.py", "class A:\n    LIMIT: int = @"),
        ("src/a.js", "export const LIMIT = @;"),
        ("src/a.ts", "const LIMIT: number = @;"),
        ("src/A.java", "class A {\n  static final int LIMIT = @;\n}"),
        ("src/a.c", "#define LIMIT @"),
        ("src/a.rs", "pub const LIMIT: u32 = @;"),
        ("src/a.rb", "LIMIT = @"),
        ("bin/a.sh", "export LIMIT=@"),
        ("src/a.py", 'LIMIT = "@ s"'),
    ],
)
def test_a_constant_that_was_set_again_is_set(repository, path, line):
    for message, value in (("begin", "10"), ("AUTH1: raise it", "20"), ("again", "30")):
        repository.commit(message, {path: line.replace("@", value) + "\n"})
    assert answer(repository) is SHIPPED
    repository.commit("back", {path: line.replace("@", "10") + "\n"})
    assert answer(repository) is UNDONE


@pytest.mark.parametrize(
    ("old", "set_to", "since", "expected"),
    [
        ("LIMIT = 30", "LIMIT = 20", "LIMIT = 10", SHIPPED),
        ("LIMIT = 10", "LIMIT = 20", "LIMIT = 15", SHIPPED),
        ("LIMIT = 10", "LIMIT = 20", "LIMIT = 5", UNDONE),
        ("LIMIT = 1.5", "LIMIT = 2.5", "LIMIT = 1_000", SHIPPED),
        ("LIMIT = 30", "LIMIT = 20", "LIMIT = 31", UNDONE),
        ("", "LIMIT = 20", "LIMIT = 5", SHIPPED),
        ("MODE = 'a'", "MODE = 'b'", "MODE = 'c'", SHIPPED),
        ("", "LOGIN = True", "LOGIN = False", UNDONE),
        ("LIMIT = 10", "LIMIT = 20", "LIMIT = f(20)", UNPROVEN),
        ("LIMIT = 10", "LIMIT = 20", "OTHER = 30", UNPROVEN),
        ("limit = 10", "limit = 20", "limit = 30", UNPROVEN),
        ("f(LIMIT=10)", "f(LIMIT=20)", "f(LIMIT=30)", UNPROVEN),
    ],
)
def test_a_constant_stands_as_long_as_it_is_not_set_back(repository, old, set_to, since, expected):
    repository.commit("begin", {"src/a.py": f"{old}\n"})
    repository.commit("AUTH1: set it", {"src/a.py": f"{set_to}\n"})
    assert answer(repository) is SHIPPED
    repository.commit("again", {"src/a.py": f"{since}\n"})
    assert answer(repository) is expected


@pytest.mark.parametrize(
    ("path", "work", "since", "expected"),
    [
        ("src/a.js", "send('a', 'b');\nsend('c');\n", 'send("a", "b");\nsend("c");\n', SHIPPED),
        ("src/a.py", "send('a')\nsend('c')\n", 'x = 1\nsend("a")\nsend("c")\n', SHIPPED),
        ("src/a.ts", "send('a');\nsend('c');\n", 'send("b");\nsend("d");\n', UNPROVEN),
        ("src/a.sh", "send '$a'\nsend '$c'\n", 'send "$a"\nsend "$c"\n', UNPROVEN),
        ("src/a.c", "send('a');\nsend('c');\n", 'send("a");\nsend("c");\n', UNPROVEN),
    ],
)
def test_other_quotes_around_the_same_string_leave_the_work_where_they_mean_the_same(
    repository, path, work, since, expected
):
    repository.commit("AUTH1: send it", {path: work})
    repository.commit("format", {path: since})
    assert answer(repository) is expected


@pytest.mark.parametrize("piece", ["A", "A ", "A:", "A=", "a b ", "A_", "'", "1.", "#define A "])
def test_constants_are_read_in_step_with_the_length_of_a_line(piece):
    def read(text):
        return constants.parse(text), constants.has_gone_on([text], text, text[1:])

    short, long = (piece * (length // len(piece)) for length in (4_000, 32_000))
    assert grows_less_than(40, read, short, long)


def submodule(repository, name, message):
    repository.git("update-index", "--add", "--cacheinfo", f"160000,{name * 10},vendor/parser")
    repository.git("commit", "--quiet", "-m", message)


def test_a_submodule_that_moved_on_stands_and_one_that_went_back_does_not(repository):
    plan = "## AUTH AUTH1: Raise the parser\n\n- paths: vendor/parser\n"
    repository.commit("declare", {"docs/auth-plan.md": plan})
    submodule(repository, "1111", "begin")
    submodule(repository, "2222", "AUTH1: raise it")
    assert answer(repository) is SHIPPED
    submodule(repository, "3333", "again")
    assert answer(repository) is SHIPPED
    submodule(repository, "1111", "back")
    assert answer(repository) is UNDONE


@pytest.mark.parametrize(
    ("since", "expected"),
    [(b"\x89PNG\0three", SHIPPED), (b"\x89PNG\0one", UNDONE), (b"", UNPROVEN), (b"x\n", UNPROVEN)],
)
def test_a_declared_picture_that_was_drawn_anew_stands(repository, since, expected):
    plan = "## AUTH AUTH1: Draw the logo\n\n- paths: art/logo.png\n"
    repository.commit("declare", {"docs/auth-plan.md": plan, "art/x": "x\n"})
    for message, raw in (
        ("begin", b"\x89PNG\0one"),
        ("AUTH1: draw it", b"\x89PNG\0two"),
        ("again", since),
    ):
        (repository.root / "art/logo.png").write_bytes(raw)
        repository.commit(message, {})
    assert answer(repository) is expected


@pytest.mark.parametrize(
    ("paths", "since", "expected"),
    [
        ("src/api_pb2.py", "# Generated by protoc. DO NOT EDIT!\nc = 3\nd = 4\n", SHIPPED),
        ("src/**", "# Generated by protoc. DO NOT EDIT!\nc = 3\nd = 4\n", UNPROVEN),
        ("src/api_pb2.py", "# Generated by protoc. DO NOT EDIT!\n", UNPROVEN),
    ],
)
def test_a_declared_file_that_a_tool_wrote_again_stands(repository, paths, since, expected):
    plan = f"## AUTH AUTH1: Generate the messages\n\n- paths: {paths}\n"
    repository.commit("declare", {"docs/auth-plan.md": plan})
    text = "# Generated by protoc. DO NOT EDIT!\na = 1\nb = 2\n"
    repository.commit("AUTH1: generate", {"src/api_pb2.py": text})
    repository.commit("again", {"src/api_pb2.py": since})
    assert answer(repository) is expected


def split(*parts):
    """Texts of files from slices of the lines."""
    return ["".join(LINES[begin:end]) for begin, end in parts]


@pytest.mark.parametrize("keeps_the_file", [False, True])
@pytest.mark.parametrize("suffix", ["py", "js", "go"])
def test_a_file_that_was_split_over_several_stands(repository, keeps_the_file, suffix):
    one, two, three = split((0, 4), (4, 8), (8, 12))
    repository.commit("AUTH1: log in", {f"src/login.{suffix}": "".join(LINES)})
    files = {
        f"src/{name}.{suffix}": text for name, text in zip("abc", (one, two, three), strict=True)
    }
    left = "import everything\n" if keeps_the_file else None
    repository.commit("split it", {**files, f"src/login.{suffix}": left})
    assert answer(repository) is SHIPPED


def test_what_other_files_had_before_did_not_come_from_a_deleted_one(repository):
    one, two, three = split((0, 4), (4, 8), (8, 12))
    repository.commit("begin", {"src/a.py": one, "src/b.py": two, "src/c.py": three})
    repository.commit("AUTH1: log in", {"src/login.py": "".join(LINES)})
    more = {"src/a.py": one + "a = 1\n", "src/b.py": two + "b = 1\n", "src/c.py": three + "c = 1\n"}
    repository.commit("clean up", {**more, "src/login.py": None})
    assert answer(repository) is UNDONE


def test_lines_that_went_into_documents_are_gone(repository):
    one, two, three = split((0, 4), (4, 8), (8, 12))
    repository.commit("AUTH1: log in", {"src/login.py": "".join(LINES)})
    files = {"docs/a.md": one, "docs/b.md": two, "docs/c.md": three}
    repository.commit("write it down", {**files, "src/login.py": None})
    assert answer(repository) is UNDONE


@pytest.mark.parametrize(
    ("lower", "higher"),
    [
        ("1.9", "1.10"), ("v3", "v4"), ("2.0rc1", "2.0"), ("1.0.0-beta.1", "1.0.0"), ("1", "1.0.1"),
        ("3.11-slim", "3.12-slim"), (">=1,<2", ">=2,<3"), ("2023-12-31", "2024-01-01"),
        ("1.0.dev1", "1.0"),
    ],
)  # fmt: skip
def test_versions_have_an_order(lower, higher):
    one, two = versions.order(lower), versions.order(higher)
    assert one is not None and two is not None and one < two


@pytest.mark.parametrize(
    "value", ["latest", "8e5e7e5ab8b370d6c329ec480221332ada57f0ab", "", "main"]
)
def test_what_is_no_version_has_no_order(value):
    assert versions.order(value) is None


@pytest.mark.parametrize("path", ["a.toml", "a.json", "a.yaml", "requirements.txt", "a.lock"])
@pytest.mark.parametrize("piece", ["a=1,", '"', "1.", "0a", "- a: ", "[", "=", " ", "{"])
def test_pins_are_read_in_step_with_the_length_of_a_text(path, piece):
    def read(text):
        new = [text, "a==1"]
        return pins.standing(path, [], new, ["a==2", text[1:]], Counter(new))

    short, long = (piece * (length // len(piece)) for length in (4_000, 32_000))
    assert grows_less_than(40, read, short, long)
