"""Work that an agent did and forgot to commit is neither discarded nor done again."""

import pytest
from driven_worker import Killed, fleet, new_worker, open_effects, work
from sample_repository import commit, write

from dos.fleet import effects
from dos.fleet.io.drive import drive
from dos.git.repository import Writer
from dos.journal.events.limits import WorkCommitted
from dos.journal.events.reader import decode
from dos.landing.lane import salvage_writer
from dos.loop.types import StopReason
from dos.oracle import is_shipped
from dos.units.unit import Unit
from dos.world import World

SECOND = {"DEMO/A2": [[write("one/b.txt"), commit("Write b")]]}
COMMIT = "git commit -q"
FORGETS = [write("one/a.txt", "first\n"), {"say": "It is done."}]


def facts(repository, kind):
    found = (decode(event) for event in World(repository.root).journal.events())
    return [fact for fact in found if isinstance(fact, kind)]


def test_work_that_is_accepted_and_in_its_lane_is_committed_for_its_agent(repository):
    repository.play({"DEMO/A1": [FORGETS], **SECOND})
    assert work(repository).reason is StopReason.COMPLETE
    assert repository.starts() == ["DEMO/A1", "DEMO/A2"], "nobody is paid again"
    output = repository.git(
        "log",
        "-1",
        "--format=%an|%cn|%(trailers:key=Unit,valueonly)|%(trailers:key=Committed-by)",
        "main~1",
    )
    assert output.replace("\n", "") == "Tester|dos|DEMO/A1|Committed-by: dos"
    assert repository.git("show", "main:one/a.txt") == "first"
    (fact,) = facts(repository, WorkCommitted)
    saved = repository.git("rev-parse", f"{fact.ref}^{{tree}}")
    assert saved == repository.git("rev-parse", f"{fact.commit}^{{tree}}"), "it was on a ref before"
    assert fleet(repository).units["DEMO/A1"].saved_commit == ""
    assert is_shipped("DEMO", "A1", workspace=repository.root).shipped


def test_a_commit_that_is_accepted_and_names_no_unit_is_named_for_its_agent(repository):
    unnamed = {"run": f"git add -A; {COMMIT} -m 'Add a file' -m 'Signed-off-by: A'"}
    repository.play({"DEMO/A1": [[write("one/a.txt", "first\n"), unnamed]], **SECOND})
    assert work(repository).reason is StopReason.COMPLETE
    assert repository.starts() == ["DEMO/A1", "DEMO/A2"], "nobody is paid again"
    assert repository.subjects() == ["Write b", "Add a file", "Begin"]
    output = repository.git("log", "-1", "--format=%an|%cn|%(trailers:only)", "main~1")
    named = ["Tester|dos|Unit:", "DEMO/A1", "Named-by:", "dos"]
    assert output.split()[:-1] == [*named, "Agent:", "scripted", "Run:"]
    assert is_shipped("DEMO", "A1", workspace=repository.root).shipped


@pytest.mark.soak
def test_what_the_acceptance_command_stages_is_not_in_the_commit_that_is_named(repository):
    plan = "# A plan\n\n## DEMO A1: first\n- lane: one\n- acceptance: `sh one/check.sh`\n"
    (repository.root / "docs" / "demo-plan.md").write_text(plan)
    repository.commit_all("Plan")
    check = write("one/check.sh", "echo 1 > one/unseen.txt && git add one/unseen.txt\n")
    repository.play({"DEMO/A1": [[check, {"run": f"git add -A; {COMMIT} -m 'Add a file'"}]]})
    assert work(repository).reason is StopReason.COMPLETE
    assert (
        repository.git("ls-tree", "-r", "--name-only", "main", "one/") == "one/check.sh\none/keep"
    )


def test_a_commit_is_named_whatever_it_holds(repository):
    inside, unit = (
        Writer(repository.root),
        Unit(plan="DEMO", id="A1", title="first", document="docs/demo-plan.md", line=3),
    )
    author = ("--author=A B <a@example.invalid>", "--date=2020-01-02T03:04:05+0600")
    long = repository.home / "message"
    long.write_text(
        f"Add a file\n\n# {'x' * 200_000}\n"
    )  # longer than a word on a command line may be
    repository.git(
        "commit", "--quiet", "--allow-empty", "--cleanup=verbatim", *author, "-F", str(long)
    )
    old = repository.git("rev-parse", "HEAD")
    new = salvage_writer.add_unit_trailer(inside, old, unit)
    same = "%T %P %an %ae %ad %s"
    assert repository.git("log", "-1", f"--format={same}", new) == repository.git(
        "log", "-1", f"--format={same}", old
    )
    assert repository.git(
        "log", "-1", "--format=%cn|%(trailers:key=Unit,valueonly)", new
    ).split() == ["dos|DEMO/A1"]
    assert f"# {'x' * 200_000}\n" in repository.git("log", "-1", "--format=%B", new)
    assert repository.git("rev-parse", "HEAD") == old


def test_left_work_that_was_committed_already_is_not_committed_again(repository):
    inside, unit = (
        Writer(repository.root),
        Unit(plan="DEMO", id="A1", title="first", document="docs/demo-plan.md", line=3),
    )
    (repository.root / "one" / "a.txt").write_text("first\n")
    repository.git("add", "--all")
    saved = repository.git("commit-tree", repository.git("write-tree"), "-p", "HEAD", "-m", "saved")
    head = repository.git("rev-parse", "HEAD")
    made = salvage_writer.commit_saved(inside, head, saved, unit, {})
    assert salvage_writer.commit_saved(inside, made, saved, unit, {}) == made, (
        "git died before it said that it was there"
    )
    assert repository.git("rev-parse", f"{made}^") == head


@pytest.mark.soak
@pytest.mark.parametrize(
    "last",
    [
        f"{COMMIT} --allow-empty -m nothing",
        f"echo 1 > one/other.txt; git add -A; {COMMIT} -m Other -m 'Unit: DEMO/B1'",
    ],
    ids=["to an empty commit", "beside another's"],
)
def test_no_name_is_added(repository, last):
    unnamed = {"run": f"git add -A; {COMMIT} -m 'Add a file'"}
    steps = [write("one/a.txt", "first\n"), unnamed, {"run": last}]
    repository.play({"DEMO/A1": [steps, [write("one/a.txt"), commit("Write a")]], **SECOND})
    assert work(repository).reason is StopReason.COMPLETE
    assert sorted(repository.subjects()) == ["Begin", "Write a", "Write b"]
    assert "no commit names the unit" in fleet(repository).units["DEMO/A1"].tries[0]


@pytest.mark.soak
@pytest.mark.parametrize(
    "left",
    [
        [write("one/half.txt", "half\n"), {"say": "done"}],
        [write("one/half.txt", "half\n"), write("two/junk.txt"), {"say": "done"}],
    ],
    ids=["not accepted", "outside of the lane"],
)
def test_what_cannot_be_taken_lies_before_the_next_agent(repository, left):
    path = repository.home / "seen"
    look = {
        "run": f"cat one/half.txt >> {path}; ls two >> {path}; git status --porcelain "
        f"-uall >> {path}"
    }
    repository.play({"DEMO/A1": [left, [look, write("one/a.txt"), commit("Write a")]], **SECOND})
    assert work(repository).reason is StopReason.COMPLETE
    assert path.read_text().splitlines() == ["half", "keep", "?? one/half.txt"], (
        "and nothing of what lay outside"
    )
    assert "Committed-by" not in repository.git("log", "--format=%B", "main")
    assert repository.git("show", "main:one/half.txt") == "half"
    assert "junk.txt" not in repository.git("ls-tree", "-r", "--name-only", "main")


@pytest.mark.soak
def test_the_next_agent_is_told_that_the_last_one_forgot_to_commit(repository):
    repository.play(
        {"DEMO/A1": [[write("one/half.txt")], [write("one/a.txt"), commit("Write a")]], **SECOND}
    )
    prompts = []

    def listening(performers):
        real = performers[effects.RunAgent]

        def run(effect):
            prompts.append((effect.unit.name, effect.history))
            return real(effect)

        return {**performers, effects.RunAgent: run}

    work(repository, performers=listening)
    assert [
        any("forgot to commit" in each for each in told)
        for name, told in prompts
        if name == "DEMO/A1"
    ] == [
        False,
        True,
    ]


@pytest.mark.soak
def test_ignored_files_are_not_committed(repository):
    (repository.root / ".gitignore").write_text("*.log\n")
    repository.commit_all("Ignore logs")
    repository.play({"DEMO/A1": [[*FORGETS, write("one/build.log")]], **SECOND})
    work(repository)
    assert repository.git("ls-tree", "-r", "--name-only", "main", "one").split() == [
        "one/a.txt",
        "one/b.txt",
        "one/keep",
    ]


@pytest.mark.soak
def test_changes_beside_a_commit_are_the_agents_own_business(repository):
    steps = [write("one/a.txt"), commit("Write a"), write("one/scratch.txt")]
    repository.play({"DEMO/A1": [steps], **SECOND})
    assert work(repository).reason is StopReason.COMPLETE
    assert facts(repository, WorkCommitted) == [] and "scratch" not in repository.git(
        "ls-tree", "-r", "--name-only", "main"
    )


@pytest.mark.soak
def test_an_agent_that_was_cut_off_is_not_committed_for(repository):
    repository.play(
        {
            "DEMO/A1": [
                [*FORGETS, {"crash": True}],
                [write("one/a.txt", "2\n"), commit("Write a")],
            ],
            **SECOND,
        }
    )
    work(repository)
    assert (
        facts(repository, WorkCommitted) == [] and repository.git("show", "main:one/a.txt") == "2"
    )


@pytest.mark.sampled(8)
@pytest.mark.parametrize("when", ["before", "after"])
@pytest.mark.parametrize(
    "at", [effects.SaveChanges, effects.CommitChanges, effects.MeasureWork, effects.PrepareLanding]
)
def test_a_worker_that_dies_on_the_way_loses_nothing(repository, at, when):
    repository.play({"DEMO/A1": [FORGETS], **SECOND})
    acting = open_effects(repository)
    performers = dict(acting.performers())
    real = performers[at]

    def die(effect):
        if when == "after":
            real(effect)
        raise Killed

    performers[at] = die
    with pytest.raises(Killed):
        drive(new_worker().work(), performers)
    acting.store.release(acting.store.leases()[0].fence)
    acting.close()
    saved = [
        f"{ref}:one/a.txt"
        for ref in repository.git("for-each-ref", "--format=%(refname)", "refs/dos/salvage").split()
    ]
    assert work(repository, number=2).reason is StopReason.COMPLETE
    saved += [
        f"{ref}:one/a.txt"
        for ref in repository.git("for-each-ref", "--format=%(refname)", "refs/dos/salvage").split()
    ]
    assert "first" in [repository.git("show", each) for each in saved]
    assert repository.git("show", "main:one/a.txt") == "first" and len(repository.subjects()) == 3


@pytest.mark.parametrize(
    "paragraph",
    [
        "Unit: DEMO/A1\nAgent: somebody else\n , DEMO/A2",
        "It was asked for.\nUnit: DEMO/A1",
    ],
    ids=["a folded trailer", "trailers among prose"],
)
def test_what_landed_names_its_unit_alone_whatever_trailers_the_agent_wrote(repository, paragraph):
    message = repository.home / "message"
    message.write_text(f"Add a file\n\n{paragraph}\n")
    by_hand = {"run": f"git add -A; {COMMIT} -F {message}"}
    repository.play(
        {"DEMO/A1": [[write("one/a.txt", "first\n"), by_hand]], "*": [[{"crash": True}]]}
    )
    work(repository)
    assert "Add a file" in repository.subjects()
    assert is_shipped("DEMO", "A1", workspace=repository.root).shipped
    assert not is_shipped("DEMO", "A2", workspace=repository.root).shipped
