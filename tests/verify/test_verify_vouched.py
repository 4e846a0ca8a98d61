"""What others say of a commit raises it, and what they say against it counts."""

import json
import sys
from shlex import quote

import pytest
from repository import Repository

from dos.verify.candidate import Tier
from dos.verify.shipped import Answer

TEST = """import unittest
from login import login

class Login(unittest.TestCase):
    def test_it(self):
        self.assertEqual(login("ada"), "hello ada")
"""
BASE = (
    "import unittest\n\nclass Base(unittest.TestCase):\n"
    "    def test_it(self):\n        self.assertTrue(__name__)\n"
)
WORK = {
    "login.py": "def login(name):\n    return f'hello {name}'\n",
    "tests/test_login.py": TEST,
}
COMMAND = f"{quote(sys.executable)} -m unittest discover -s tests -p test_*.py -t ."


@pytest.fixture
def repository(tmp_path):
    other = Repository(tmp_path / "work")
    other.commit("begin", {
        "docs/auth-plan.md": "## AUTH AUTH1: say hello\n",
        "dos.toml": '[units.AUTH1]\npaths = ["login.py", "tests/**"]\n'
        f"accept = {json.dumps(COMMAND)}\n",
        "login.py": "def login(name):\n    return ''\n",
        "tests/__init__.py": "",
        "tests/test_base.py": BASE,
    })  # fmt: skip
    other.commit("AUTH1: say hello", WORK)
    return other


def ci(repository, conclusion, ci_policy):
    rows = json.dumps([{"name": "test", "status": "completed", "conclusion": conclusion}])
    script = f"import sys; sys.stdout.write({rows!r})"
    text = (
        f"[verify]\n{ci_policy}\n[ci]\n"
        f'command = [{json.dumps(sys.executable)}, "-c", {json.dumps(script)}]\n'
        + (repository.root / "dos.toml").read_text()
    )
    repository.commit("ask the CI", {"dos.toml": text})
    return repository.verify("AUTH", "AUTH1")


def test_commits_alone_are_never_witnessed(repository):
    assert repository.verify("AUTH", "AUTH1").tier is Tier.LIVE
    verdict = repository.verify("AUTH", "AUTH1", require="witnessed")
    assert (verdict.answer, verdict.source) == (Answer.UNPROVEN, "none")


@pytest.mark.soak
def test_a_runner_that_saw_the_tests_turn_green_is_a_witness(repository):
    code, said, error = repository.dos(
        "test-witness", "run", "--commit", "HEAD", "--unit", "AUTH/AUTH1", "--json"
    )
    assert code == 0, said + error
    verdict = repository.verify("AUTH", "AUTH1", require="witnessed")
    assert (verdict.answer, verdict.tier) == (Answer.SHIPPED, Tier.WITNESSED)
    assert repository.verify("AUTH", "AUTH1", require="attested").answer is Answer.UNPROVEN
    assert repository.verify("auth", "auth1").tier is Tier.WITNESSED, "the case does not matter"


@pytest.mark.soak
def test_a_command_that_somebody_typed_witnesses_nothing(repository):
    repository.dos(
        "test-witness", "run", "--commit", "HEAD", "--unit", "AUTH/AUTH1", "--cmd", COMMAND
    )
    assert repository.verify("AUTH", "AUTH1").tier is Tier.LIVE


@pytest.mark.soak
def test_a_receipt_of_this_runner_witnesses_and_one_of_another_attests(repository, tmp_path):
    pytest.importorskip("cryptography")
    mine, theirs = (str(tmp_path / name) for name in ("mine", "theirs"))
    for home in (mine, theirs):
        assert repository.dos("receipt-key", "make", XDG_CONFIG_HOME=home)[0] == 0
    # The tests alone pass without the work too, and so would witness nothing.
    told_apart = f"{COMMAND} && grep -q hello login.py"
    repository.git("reset", "--quiet", "--hard", "HEAD~1")
    text = (repository.root / "dos.toml").read_text()
    other = text.replace(json.dumps(COMMAND), json.dumps(told_apart))
    repository.commit("ask for the greeting", {"dos.toml": other})
    repository.commit("AUTH1: say hello", WORK)
    words = (
        "attest",
        "--claim",
        "login",
        "--unit",
        "AUTH/AUTH1",
        "--accept-cmd",
        told_apart,
        "--json",
    )
    code, said, error = repository.dos(*words, XDG_CONFIG_HOME=theirs)
    assert code == 0, said + error
    repository.git("notes", "--ref=dos-receipts", "add", "-m", said.strip())

    def tier(home):
        found = repository.dos("verify", "AUTH", "AUTH1", "--json", XDG_CONFIG_HOME=home)[1]
        return json.loads(found)["tier"]

    assert tier(mine) == "T4", "nobody here trusts that key"
    assert tier(theirs) == "T5"
    (tmp_path / "mine/dos/trusted-keys").write_text(
        (tmp_path / "theirs/dos/receipt-key.pub").read_text()
    )
    assert tier(mine) == "T6"


@pytest.mark.parametrize(
    ("conclusion", "policy", "answer", "tier", "source"),
    [
        ("success", 'non_git_oracle = "ci_status"', Answer.SHIPPED, Tier.ATTESTED, "ci-green"),
        ("failure", 'non_git_oracle = "ci_status"', Answer.SHIPPED, Tier.LIVE, "grep-artifact"),
        ("failure", 'ci = "require"', Answer.NOT_SHIPPED, Tier.LIVE, "none"),
        ("success", 'ci = "require"', Answer.SHIPPED, Tier.ATTESTED, "ci-green"),
        ("something_new", 'ci = "require"', Answer.UNPROVEN, Tier.LIVE, "none"),
        ("failure", "", Answer.SHIPPED, Tier.LIVE, "grep-artifact"),
    ],
)
def test_the_ci_counts_as_the_policy_says(repository, conclusion, policy, answer, tier, source):
    verdict = ci(repository, conclusion, policy)
    assert (verdict.answer, verdict.tier, verdict.source) == (answer, tier, source), verdict.reason
    assert ("ci_red" in verdict.contradictions) == (conclusion == "failure" and bool(policy))


def test_a_command_that_only_a_branch_has_is_not_started(repository, tmp_path):
    """Whoever commits to a branch would be its own witness, and choose what runs here."""
    trace = tmp_path / "started"
    script = f"open({str(trace)!r}, 'w').close()"
    own = (repository.root / "dos.toml").read_text()
    repository.git("checkout", "--quiet", "-b", "branch")
    words = json.dumps([sys.executable, "-c", script])
    lie = f'[verify]\nci = "require"\n[ci]\ncommand = {words}\n{own}'
    repository.commit("ask my own CI", {"dos.toml": lie})
    repository.git("checkout", "--quiet", "-")
    verdict = repository.verify("AUTH", "AUTH1", ref="branch")
    assert not trace.exists()
    assert (verdict.answer, verdict.tier) == (Answer.UNPROVEN, Tier.LIVE)
    # The user has the same settings, and asks about the branch.
    (repository.root / "dos.toml").write_text(lie)
    repository.verify("AUTH", "AUTH1", ref="branch")
    assert trace.exists()


def test_the_ci_is_not_asked_when_the_caller_says_so(repository):
    ci(repository, "failure", 'non_git_oracle = "ci_status"')
    assert not repository.verify("AUTH", "AUTH1", asks_ci=False).contradictions
