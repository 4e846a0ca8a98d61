"""One server for the tests that only ask it; those that end it start their own."""

import subprocess

import pytest
import serving
from commanding import in_its_own_process


@pytest.fixture(scope="module", autouse=True)
def outside_of_repositories(tmp_path_factory):
    """A server answers only who is at work in its own repository, or in none that uses dos: the
    one of these tests may be used by it."""
    with pytest.MonkeyPatch.context() as patched:
        patched.chdir(tmp_path_factory.mktemp("outside"))
        yield


@pytest.fixture(scope="session")
def repository(tmp_path_factory):
    """Its lane api is held by a process that is no ancestor of these tests."""
    root = serving.make_repository(tmp_path_factory.mktemp("served") / "repository")
    with subprocess.Popen(["sleep", "3600"]) as holder:
        taken = in_its_own_process(
            "lease-lane", "acquire", "--lane", "api", "--owner", "A", "--pid", str(holder.pid),
            cwd=root,
        )  # fmt: skip
        assert taken.code == 0, taken
        yield root
        holder.kill()


@pytest.fixture(scope="session")
def server(repository):
    with serving.serving(repository) as found:
        yield found
