"""The table of the four askers, row by row, and its laws."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import structs

from dos.permission.ask import (
    Allow,
    Ask,
    Asker,
    AskerKind,
    AskPerson,
    Deny,
    Footprint,
    Neighbour,
    OwnLane,
    Posture,
)
from dos.permission.judge import judge
from dos.permission.policy import Enforcement, posture_in_use
from dos.regions import region

OTHERS = (Neighbour(lane="docs", region=region(["docs/**"]), run_id="RID-2"),)
ASKERS = {
    "holder": Asker(kind=AskerKind.HOLDER, lane="api", region=region(["api/**"]), fence=7,
                    neighbours=OTHERS),
    "lost": Asker(kind=AskerKind.LOST, lane="api", fence=7, neighbours=OTHERS),
    "stranger": Asker(kind=AskerKind.STRANGER, neighbours=OTHERS),
    "observe": Asker(kind=AskerKind.PERSON, neighbours=OTHERS),
    "gate": Asker(kind=AskerKind.PERSON, neighbours=OTHERS, posture=Posture.GATE),
    "block": Asker(kind=AskerKind.PERSON, neighbours=OTHERS, posture=Posture.BLOCK),
    "assist": Asker(kind=AskerKind.PERSON, neighbours=OTHERS, posture=Posture.ASSIST),
}  # fmt: skip
INSIDE = Footprint(paths=("api/x",))
OUTSIDE = Footprint(paths=("web/x",))
HELD = Footprint(paths=("docs/x",))
UNREAD = Footprint(unknown="a program can write anything")
READS = Footprint(has_no_effect=True)
ELSEWHERE = Footprint()  # it writes no file, and does something on another machine
MIXED = Footprint(paths=("api/x", "docs/x", "web/x"))
HALF = Footprint(paths=("api/x",), unknown="a variable is part of a path")
GIT = Footprint(paths=(".git/config",))
TREE = Footprint(paths=("/elsewhere/x",))
FOOTPRINTS = (INSIDE, OUTSIDE, HELD, UNREAD, READS, MIXED, HALF, GIT, TREE, ELSEWHERE)
# asker -> for each: deny, allow, ask, told (allowed with a note), or once (allowed at once)
TABLE = {
    "holder":   "allow deny  deny  allow allow deny  allow deny  deny  allow",
    "lost":     "deny  deny  deny  deny  allow deny  deny  deny  deny  allow",
    "stranger": "deny  deny  deny  deny  allow deny  deny  deny  deny  allow",
    "observe":  "allow allow told  allow allow told  allow allow allow allow",
    "gate":     "allow allow ask   allow allow ask   allow allow allow allow",
    "block":    "allow allow deny  allow allow deny  allow allow allow allow",
    "assist":   "allow allow ask   allow once  ask   allow allow allow allow",
}  # fmt: skip
CLASSES = {
    ("holder", OUTSIDE): "OUT_OF_REGION",
    ("holder", HELD): "REGION_HELD",
    ("holder", MIXED): "REGION_HELD",
    ("holder", GIT): "GIT_DIRECTORY",
    ("holder", TREE): "OTHER_TREE",
    ("lost", INSIDE): "FENCE_LOST",
    ("stranger", INSIDE): "NO_LEASE",
    ("observe", HELD): "REGION_HELD",
    ("gate", HELD): "REGION_HELD",
    ("block", HELD): "REGION_HELD",
}


def asked(asker, footprint, tool="Write"):
    return judge(Ask(asker=asker, tool=tool, footprint=footprint))


def word(answer):
    match answer:
        case Deny():
            return "deny"
        case AskPerson():
            return "ask"
    return "once" if answer.at_once else "told" if answer.note else "allow"


@pytest.mark.parametrize("name", ASKERS)
def test_the_table_of_askers(name):
    answers = [word(asked(ASKERS[name], footprint)) for footprint in FOOTPRINTS]
    assert answers == TABLE[name].split()


@pytest.mark.parametrize(("name", "footprint"), CLASSES, ids=str)
def test_a_refusal_has_its_class(name, footprint):
    assert asked(ASKERS[name], footprint).reason_class == CLASSES[name, footprint]


SENTENCES = {
    ("holder", OUTSIDE): "web/x is outside of lane api (api/**). Change only paths of your lane, "
    "and report what you need elsewhere.",
    ("holder", Footprint(paths=("a", "b"))): "a, b are outside of lane api (api/**). Change only "
    "paths of your lane, and report what you need elsewhere.",
    (
        "holder",
        HELD,
    ): "docs/x belongs to lane docs, which the worker of run RID-2 holds; you hold lane api "
    "(api/**). Change only paths of your lane, and report what you need elsewhere.",
    (
        "lost",
        INSIDE,
    ): "Your lease of lane api (fence 7) has ended, so you may not write api/x. Stop "
    "working in this tree. Your commits are kept; another worker continues the unit.",
    ("lost", UNREAD): "Your lease of lane api (fence 7) has ended, so you may not use Write for "
    "what is not proven to only read. Stop working in this tree. Your commits are kept; another "
    "worker continues the unit.",
}


@pytest.mark.parametrize(("name", "footprint"), SENTENCES, ids=str)
def test_the_agent_is_told_what_and_why(name, footprint):
    assert asked(ASKERS[name], footprint).sentence == SENTENCES[name, footprint]


def test_a_warning_names_the_lane_that_it_is_about():
    told = asked(ASKERS["observe"], HELD)
    assert told.about == "docs" and "run RID-2" in told.note
    assert "docs/x belongs to lane docs" in asked(ASKERS["gate"], HELD).question


def test_what_is_typed_into_a_program_is_a_warning_for_the_holder_and_no_read():
    text = Footprint(unknown="text for a running program cannot be read")
    told = asked(ASKERS["holder"], text, tool="write_stdin")
    assert (word(told), told.reason_class, told.about) == ("told", "UNREAD_INPUT", "api")
    assert word(asked(ASKERS["stranger"], text, tool="write_stdin")) == "deny"


def test_many_paths_are_counted_and_odd_names_are_quoted():
    answer = asked(ASKERS["holder"], Footprint(paths=tuple(f"web/{n}" for n in range(9))))
    assert answer.reason.startswith("web/0, web/1, web/2, web/3, web/4 and 4 more are outside")
    odd = asked(ASKERS["holder"], Footprint(paths=("web/\x1b[2J\n", "web/\udcff", "\ud800")))
    assert "\x1b" not in odd.sentence and "\n" not in odd.sentence
    odd.sentence.encode()


def test_a_holder_of_two_lanes_writes_in_both_and_in_no_third():
    both = structs.replace(
        ASKERS["holder"], further=(OwnLane(lane="web", region=region(["web/**"])),)
    )
    for footprint in (INSIDE, OUTSIDE, Footprint(paths=("api/x", "web/x"))):
        assert word(asked(both, footprint)) == "allow"
    refused = asked(both, HELD)
    assert "you hold lane api (api/**) and lane web (web/**)." in refused.sentence
    assert word(asked(both, Footprint(paths=("other/x",)))) == "deny"


GIT_FILES = (".git", ".git/hooks/pre-commit", ".GIT/config", "./.git/x", "api/../.git/x")


@pytest.mark.parametrize("path", GIT_FILES)
def test_no_lane_covers_gits_own_files(path):
    everything = Asker(kind=AskerKind.HOLDER, lane="all", region=region(["**"]))
    assert word(asked(everything, Footprint(paths=(path,)))) == "deny"
    for fine in (".gitignore", "api/.gitattributes", ".github/x", "a.git/x"):
        assert word(asked(everything, Footprint(paths=(fine,)))) == "allow"


def test_a_lane_without_paths_covers_nothing():
    for empty in (None, region([])):
        holder = Asker(kind=AskerKind.HOLDER, lane="api", region=empty)
        assert word(asked(holder, INSIDE)) == "deny"
        assert word(asked(holder, UNREAD)) == word(asked(holder, READS)) == "allow"


paths = st.lists(
    st.sampled_from(["api/x", "api", "docs/x", "web/x", ".git/x", "/x", "~/x", "a\0b", "", "../x"])
    | st.text(max_size=8),
    max_size=4,
)
footprints = st.builds(
    Footprint,
    paths=paths.map(tuple),
    unknown=st.sampled_from(["", "it cannot be read"]),
    has_no_effect=st.booleans(),
)


@given(name=st.sampled_from(list(ASKERS)), footprint=footprints, tool=st.text(max_size=5))
def test_laws_of_the_table(name, footprint, tool):
    answer = asked(ASKERS[name], footprint, tool)
    if footprint.reads_only:
        assert isinstance(answer, Allow), "reads are never denied"
    elif name in ("lost", "stranger"):
        assert isinstance(answer, Deny), "nothing else is allowed to those who hold nothing"
    without = asked(ASKERS[name], Footprint(paths=footprint.paths), tool)
    if name == "holder":
        assert isinstance(answer, Deny) == isinstance(without, Deny), "unknown denies no holder"
        inside = all(path.startswith("api/") for path in footprint.paths)
        if inside and not any("\\" in path or ".." in path for path in footprint.paths):
            assert isinstance(answer, Allow) or any("\0" in path for path in footprint.paths)
    if isinstance(answer, Allow) and answer.at_once:
        assert name == "assist" and footprint.reads_only and footprint.has_no_effect


VARIABLE = [
    ("", "gate", "gate"), ("block", "observe", "block"), (" Block ", "observe", "block"),
    ("nonsense", "gate", "gate"), ("observe", "block", "observe"), ("ASSIST", "block", "assist"),
]  # fmt: skip


@pytest.mark.parametrize(("named", "set_to", "used"), VARIABLE)
def test_the_variable_comes_before_the_table(named, set_to, used):
    table = Enforcement(posture=Posture(set_to))
    assert posture_in_use(table, {"DOS_HOOK_POSTURE": named}) == used
    assert posture_in_use(table, {}) == set_to


def test_tools_that_need_a_person_are_globs():
    table = Enforcement(ask_person=("WebFetch", "mcp__*__delete"))
    assert table.needs_person("WebFetch") and table.needs_person("mcp__shop__delete")
    assert not table.needs_person("webfetch") and not table.needs_person("mcp__shop__get")
