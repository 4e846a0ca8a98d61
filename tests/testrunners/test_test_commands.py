"""Commands that run tests, as people and files write them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dos.testrunners.shell_lines import simple_commands
from dos.testrunners.test_commands import parse_test_command


def runs(line: str) -> list[str]:
    """The tests that a line runs, each with its runner and what it names."""
    found = [parse_test_command(command.words) for command in simple_commands(line)]
    return [str(command) for command in found if command]


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("pytest", ["pytest"]),
        ("PYTHONPATH=src python3 -m pytest -q tests/a.py::test_b", ["pytest tests/a.py::test_b"]),
        ("cd sub && poetry run pytest -n auto --cov src/x tests/", ["pytest tests"]),
        ("uv run --group dev coverage run -m pytest", ["pytest"]),
        ("sudo timeout 60 env A=b tox -e py", ["tox"]),
        ("docker compose run --rm app pytest tests", ["pytest tests"]),
        ("npm ci && npm run test:unit -- --ci", ["npm test:unit"]),
        ("yarn jest src/a.test.ts", ["jest src/a.test.ts"]),
        ("pnpm exec vitest run", ["vitest"]),
        ("xvfb-run -a npx playwright test", ["playwright"]),
        ("go vet ./... ; go test ./...", ["go test"]),
        ("cargo build && cargo test --all -- --nocapture", ["cargo test"]),
        ("./gradlew :app:test", ["gradle"]),
        ("./mvnw -B verify", ["maven"]),
        ("if ! bundle exec rspec; then exit 1; fi", ["rspec"]),
        ("sh -e ./ci/run-tests.sh", ["ci/run-tests.sh"]),
        ("python manage.py test shop", ["manage.py test"]),
        ("make -j4 check", ["make check"]),
        ("(cd a; ctest -j2) | tee log", ["ctest"]),
        ("pip install pytest tox", []),
        ("test -f x && [ -d y ]", []),
        ("echo 'pytest' # pytest", []),
        ("npm run lint && cargo clippy && go build ./...", []),
        ("git commit -m test", []),
        ("npm ci && yarn install && composer check && make all", []),
        ("", []),
    ],
)
def test_a_line_runs(line, expected):
    assert runs(line) == expected


@pytest.mark.parametrize(
    ("line", "restraints"),
    [
        ("pytest -k 'not a and not b'", {"-k not a", "-k not b"}),
        ("pytest -m 'not (slow or net)'", {"-m not slow", "-m not net"}),
        ("pytest --ignore=a --ignore b", {"--ignore a", "--ignore b"}),
        ("go test -run TestA ./...", {"-run TestA"}),
        ("cargo test -- --skip slow", {"--skip slow"}),
        ("mvn package -DskipTests", {"-DskipTests"}),
        ("gradle build -x test", {"-x test"}),
        ("PYTEST_ADDOPTS='-k a' pytest", {"-k a"}),
        ("pytest -x --maxfail=1 -n 4 -W error", set()),
    ],
)
def test_options_that_leave_tests_out_are_known(line, restraints):
    (command,) = simple_commands(line)
    assert parse_test_command(command.words).restraints == restraints


@given(st.text(max_size=300))
def test_any_text_is_split(text):
    for command in simple_commands(text):
        assert command.words
        parse_test_command(command.words)
