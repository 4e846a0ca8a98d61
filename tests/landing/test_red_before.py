"""An acceptance command that passes without the work too is no witness of the work."""

import json

import pytest
from driven_worker import before_landing, fleet, happened, work
from msgspec import convert, structs
from sample_repository import Repository, commit, write

from dos.git.repository import Writer
from dos.landing.trees.check_cache import CheckCache, CheckSubject, environment_digest
from dos.receipts.io import keys, notes
from dos.receipts.io.acceptance import AcceptanceResult
from dos.receipts.io.find import issued_in_journal
from dos.receipts.io.signatures import load_signer
from dos.receipts.receipt import SECOND_SCHEMA, CommandRun, Receipt
from dos.sandbox import describe
from dos.sandbox.io.probe import probe
from dos.sandbox.settings import Sandbox
from dos.verify import red_before
from dos.verify.candidate import Tier
from dos.verify.io import verifier
from dos.world import World, open_journal

PLAN = """# A plan

## DEMO A1: first
- lane: one
- paths: one/**
{acceptance}
"""


def declare(repository: Repository, acceptance: str, **settings: object) -> None:
    line = f"- acceptance: `{acceptance}`\n" if acceptance else ""
    plan = repository.root / "docs" / "demo-plan.md"
    plan.write_text(PLAN.format(acceptance=line))
    config = repository.root / "dos.toml"
    for name, value in settings.items():
        config.write_text(f"{config.read_text()}\n[landing]\n{name} = {str(value).lower()}\n")
    repository.commit_all("Declare")


def play(repository: Repository, *attempts: list[dict[str, str]]) -> None:
    repository.play({"DEMO/A1": list(attempts)})


def receipt(repository: Repository) -> dict[str, object]:
    with World(repository.root) as world:
        found = issued_in_journal(world.journal, "DEMO/A1")
    return json.loads(found[-1])


def verdict(repository: Repository):
    with World(repository.root) as world:
        (found,) = verifier.verify(world, [("DEMO", "A1")], verifier.Ask(ref="main"))
    return found


def has_landed(repository: Repository) -> bool:
    return "DEMO/A1" in {name for name, unit in fleet(repository).units.items() if unit.landed}


HONEST = [write("one/a.py", "value = 42\n"), commit("Do it")]
TEST = "tests/test_a.sh"

# name, what is there before, acceptance, what the agent does, tier or None, the words of the reason
TABLE = [
    ("fails before, passes after", {}, "grep -q 42 one/a.py", HONEST, Tier.WITNESSED,
     "failed before it and passes with it"),
    ("passes before and after", {}, "test -e one/keep", HONEST, Tier.LIVE,
     "its acceptance does not tell whether it was done"),
    ("passes before and after, with other work", {}, "test -d one",
     [write("one/area.py", "def area(side):\n    return side * side\n"), commit("Do it")],
     Tier.LIVE, "its acceptance does not tell whether it was done"),
    ("fails after", {}, "grep -q 43 one/a.py", HONEST, None, ""),
    ("no command", {}, "", HONEST, Tier.LIVE, "still there"),
    ("a red test of somebody else", {TEST: "grep -q 42 one/a.py\n"}, f"sh {TEST}", HONEST,
     Tier.WITNESSED, f"by tests that were there before: {TEST}"),
    ("a test that the work brings", {}, "sh one/tests/test_a.sh",
     [write("one/tests/test_a.sh", "grep -q 42 one/a.py\n"), *HONEST], Tier.WITNESSED,
     "failed before it and passes with it"),
    ("what an earlier check left does not count", {".gitignore": "made\n"},
     "test ! -e made && touch made && grep -q 42 one/a.py", HONEST, Tier.WITNESSED, "failed"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("before", "acceptance", "agent", "tier", "words"),
    [row[1:] for row in TABLE],
    ids=[row[0] for row in TABLE],
)
def test_a_unit_is_witnessed_only_by_a_command_that_tells(
    repository, before, acceptance, agent, tier, words
):
    pytest.importorskip("cryptography")
    for name, text in before.items():
        (repository.root / name).parent.mkdir(exist_ok=True)
        (repository.root / name).write_text(text)
    declare(repository, acceptance)
    play(repository, agent)
    work(repository)
    assert has_landed(repository) is (tier is not None)
    if tier is None:
        return
    found = verdict(repository)
    assert (found.shipped, found.tier) == (True, tier) and words in found.reason
    said = receipt(repository)
    assert said["schema"] == "dos.receipt@3"
    assert said["tells_apart"] is (tier is Tier.WITNESSED)
    if acceptance:
        base = repository.git("rev-parse", f"{said['base']}^{{tree}}")
        assert said["base_tree"] == base and said["exit_code"] == 0
        assert (said["base_exit_code"] == 0) is (tier is Tier.LIVE)
    walls = describe.describe_system(Sandbox(), probe())
    assert (said["agent"], said["sandbox"]) == ("scripted", walls) and said["setup_digest"]


def test_a_unit_that_only_the_tests_of_the_workspace_judge_is_said_to_have_no_acceptance(
    repository,
):
    pytest.importorskip("cryptography")
    declare(repository, "")
    with (repository.root / "dos.toml").open("a") as file:
        file.write('test = "test -e one/keep"\n')
    repository.commit_all("Have a test")
    play(repository, HONEST)
    work(repository)
    assert receipt(repository)["base_tree"] == ""
    assert verdict(repository).reason == (
        "all its lines are still there; it has no acceptance command that tells whether it was done"
    )


def test_a_test_that_was_there_before_is_named_and_one_of_the_work_is_not(repository):
    pytest.importorskip("cryptography")
    (repository.root / "tests").mkdir()
    (repository.root / TEST).write_text("grep -q 42 one/a.py\n")
    declare(repository, f"sh {TEST} && sh one/check.sh")
    play(repository, [write("one/check.sh", "true\n"), *HONEST])
    work(repository)
    assert receipt(repository)["red_tests"] == [TEST]


@pytest.mark.parametrize("acceptance", ["test -e one/keep", "grep -q 42 one/a.py"])
def test_where_red_is_required_work_that_nothing_tells_from_none_is_refused(repository, acceptance):
    declare(repository, acceptance, require_red=True)
    play(repository, HONEST)
    work(repository)
    tells = "42" in acceptance
    assert has_landed(repository) is tells
    if not tells:
        measured = happened(repository, "work_measured")
        assert measured[0]["verdict"] == "UNPROVEN"
        assert red_before.DOES_NOT_TELL in measured[0]["reason"]


def test_after_a_rebase_the_new_base_is_asked(repository):
    """Meanwhile somebody else has done what the unit was to do."""
    pytest.importorskip("cryptography")
    declare(repository, "grep -qr 42 one")
    play(repository, HONEST)

    def do_it_first() -> None:
        (repository.root / "one" / "other").write_text("42\n")
        repository.commit_all("Do it first")

    work(repository, performers=before_landing(do_it_first))
    assert has_landed(repository) and verdict(repository).tier is Tier.LIVE
    said = receipt(repository)
    assert said["base"] == repository.git("rev-parse", "main~1") and said["base_exit_code"] == 0


def test_a_replan_and_a_unit_without_a_command_land_as_before(repository):
    declare(repository, "", require_red=True)
    play(repository, HONEST)
    work(repository)
    assert has_landed(repository)


def test_a_receipt_of_the_schema_before_counts_as_it_did(repository):
    """It has no result of the base: nobody ran the command there then."""
    pytest.importorskip("cryptography")
    declare(repository, "test -e one/keep")
    play(repository, HONEST)
    work(repository)
    assert verdict(repository).tier is Tier.LIVE
    said = convert(receipt(repository), Receipt)
    old = structs.replace(
        said,
        schema=SECOND_SCHEMA,
        nonce="0" * 32,
        base_tree="",
        base_exit_code=None,
        base_output_digest="",
        setup_digest="",
        sandbox="",
        agent="",
    )
    with World(repository.root) as world:
        signed = load_signer(keys.own_key(), world.workspace).sign(old)
    notes.add_note(Writer(repository.root), signed)
    assert verdict(repository).tier is Tier.WITNESSED


# The check cache


def test_units_with_one_command_and_one_base_share_its_run(repository):
    """The workspace's command passes on every commit, so each base is the result of a landing."""
    config = repository.root / "dos.toml"
    runs = repository.home / "runs"
    command = f"git rev-parse HEAD^{{tree}} >> {runs}"
    config.write_text(f"{config.read_text()}acceptance = {command!r}\n")
    plan = repository.root / "docs" / "demo-plan.md"
    lines = [line for line in plan.read_text().splitlines() if "acceptance" not in line]
    plan.write_text("\n".join([*lines, ""]))
    repository.commit_all("Configure")
    work(repository)
    trees = runs.read_text().split()
    assert len(trees) == len(set(trees)) == 3, "the base, and each of the two results once"
    checked = happened(repository, "command_checked")
    assert sorted(fact["tree"] for fact in checked) == sorted(trees)


SUBJECT = CheckSubject(host="h", command="c", tree="t", setup="s", environment="e", sandbox="none")


def result(exit_code: int | None) -> AcceptanceResult:
    run = CommandRun(script="c", exit_code=exit_code, output_digest="d", started="a", ended="b")
    return AcceptanceResult(passed=exit_code == 0, detail="x", run=run)


@pytest.mark.parametrize(
    ("exit_code", "of_work", "of_base"), [(0, True, True), (1, None, False), (None, None, None)]
)
def test_a_red_result_counts_only_for_a_base_and_one_that_was_ended_for_none(
    repository, exit_code, of_work, of_base
):
    with World(repository.root) as world:
        store = open_journal(world.workspace, world.config.store.url, actor="test")
    CheckCache(store).record(SUBJECT, "commit", result(exit_code))
    for cache in (CheckCache(store), CheckCache(store, is_fresh=True)):
        is_fresh = cache.find(SUBJECT, counts_red=True) is None and of_base is not None
        found = cache.find(SUBJECT)
        assert (found and found.passed) is (None if is_fresh else of_work)
        found = cache.find(SUBJECT, counts_red=True)
        assert (found.passed if found else None) is (None if is_fresh else of_base)


@pytest.mark.parametrize("field", ["host", "command", "tree", "setup", "environment", "sandbox"])
def test_a_result_counts_for_nothing_else(field):
    cache = CheckCache()
    cache.record(SUBJECT, "commit", result(0))
    assert cache.find(SUBJECT) and not cache.find(structs.replace(SUBJECT, **{field: "other"}))


def test_only_variables_that_can_decide_something_count():
    plain = {"PATH": "/bin", "LANG": "C"}
    assert environment_digest(plain) == environment_digest(
        plain | {"DOS_FENCE": "7", "SHLVL": "2", "TMUX": "x"}
    )
    assert environment_digest(plain) != environment_digest(plain | {"LANG": "de"})
    assert environment_digest(plain) != environment_digest(plain | {"PYTEST_ADDOPTS": "-k none"})
