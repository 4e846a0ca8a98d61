"""A repository that its agent left in a state to hang or deceive git: nothing of it lands, the
worker goes on in bounded time, and the next unit lands."""

import json
from pathlib import Path

import pytest
from driven_worker import fleet, happened, work
from sample_repository import commit, write

from dos.loop.types import StopReason

OBJECT = "o=$(git rev-parse HEAD); f=.git/objects/$(echo $o | cut -c1-2)/$(echo $o | cut -c3-)"
HOSTILE = {
    "HEAD is a pipe": "rm .git/HEAD; mkfifo .git/HEAD",
    "HEAD is a link to another file": "ln -sf /etc/passwd .git/HEAD",
    "the index is a pipe": "rm .git/index; mkfifo .git/index",
    "the commit is a pipe": f"{OBJECT}; rm -f $f; mkfifo $f",
    "a branch is a pipe": "mkfifo .git/refs/heads/pipe",
    "settings come from a pipe": "mkfifo .git/pipe; git config include.path pipe",
    "attributes are a pipe": "rm -f .git/info/attributes; mkfifo .git/info/attributes",
    "the commit is gone": f"{OBJECT}; rm -f $f",
    "git itself is gone": "rm -rf .git",
    "git itself is closed": "chmod 000 .git",
    "the lane is closed": "chmod 000 .",
    "a filter that never ends": (
        "echo '* filter=slow' > .git/info/attributes; git config filter.slow.clean 'sleep 600';"
        " git config filter.slow.smudge 'sleep 600'; touch one/a.txt; echo y >> one/a.txt"
    ),
}

# A filter of the agent's, which the lane's git runs when the work is taken over, answers in the
# place of the program that started this git.
FORGE = """cat > .git/forge.sh <<'END'
p=$PPID
until grep -q def.collect /proc/$p/cmdline; do p=$(cut -d' ' -f4 /proc/$p/stat); done
({}) > /proc/$p/fd/1
sleep 1
cat
END
echo '* filter=forge' > .git/info/attributes
git config filter.forge.clean 'sh .git/forge.sh'
echo y >> one/a.txt"""
CLAIMS = {"head": "", "saved": [], "aside": [], "problem": ""}


def forged(claims: object) -> str:
    answer = json.dumps(claims)
    return FORGE.format(f"printf %10d%s {len(answer)} '{answer}'")


HOSTILE |= {
    "an answer that is nested too deep": FORGE.format(
        "printf %10d 200000; head -c 200000 /dev/zero | tr '\\0' '['"
    ),
    "an answer without end": FORGE.format("printf %10d 15000000; sleep 600"),
    "an answer that is no object": forged([1, 2]),
    "a commit that is a list": forged(CLAIMS | {"head": ["a"] * 40, "pack": True}),
    "a commit that is not sent": forged(CLAIMS | {"head": "a" * 40}),
    "a folder outside": forged(CLAIMS | {"aside": [{"path": "..", "kind": "submodule"}]}),
}
BOUND = 3.0  # seconds, instead of minutes


@pytest.fixture(autouse=True)
def short_waits(monkeypatch):
    for name in ("TAKE_OVER_SECONDS", "PEEK_SECONDS"):
        monkeypatch.setattr(f"dos.landing.lane.repository.{name}", BOUND)


def landed_units(repository) -> set[str]:
    return {name for name, unit in fleet(repository).units.items() if unit.landed}


@pytest.mark.sampled(5)
@pytest.mark.parametrize("hostile", HOSTILE.values(), ids=HOSTILE)
def test_a_hostile_repository_lands_nothing_and_holds_up_nobody(repository, hostile):
    left = [write("one/a.txt"), commit("Write a"), {"run": hostile}]
    again = [write("one/a.txt"), commit("Write a again")]
    repository.play(
        {"DEMO/A1": [left, again], "DEMO/A2": [[write("one/b.txt"), commit("Write b")]]}
    )
    assert work(repository).reason is StopReason.COMPLETE
    assert landed_units(repository) == {"DEMO/A1", "DEMO/A2"}
    assert {"Write a again", "Write b"} <= set(repository.subjects())
    assert "Write a" not in repository.subjects()
    first = happened(repository, "work_measured")[0]
    assert (first["unit"], first["verdict"]) == ("DEMO/A1", "NOTHING")


LEFT = {
    "a pipe where submodules are named": "mkfifo .gitmodules",
    "a closed repository in the lane": "git init -q nested; echo x > nested/x; chmod 500 nested",
    "a repository whose name is no text": "n=$(printf '\\377'); git init -q $n; echo x > $n/x",
    "a repository with the longest name": (
        "n=$(printf 'n%.0s' $(seq 255)); git init -q $n; echo > $n/x"
    ),
    "a repository whose name a terminal obeys": "n=$(printf '\\033c'); git init -q $n; echo > $n/x",
}


@pytest.mark.sampled(2)
@pytest.mark.parametrize("left", LEFT.values(), ids=LEFT)
def test_what_lies_beside_honest_work_holds_up_nobody(repository, left):
    first = [write("one/a.txt"), commit("Write a"), {"run": left}]
    repository.play({"DEMO/A1": [first], "DEMO/A2": [[write("one/b.txt"), commit("Write b")]]})
    assert work(repository).reason is StopReason.COMPLETE
    assert {"Write a", "Write b"} <= set(repository.subjects())
    folders = [body["ref"] for body in happened(repository, "work_salvaged")]
    assert len(folders) == ("git init" in left)
    assert all(folder.isprintable() and Path(folder, "x").exists() for folder in folders)


@pytest.mark.parametrize(
    "honest", ["git gc --quiet --prune=now", "git pack-refs --all; git repack -adq"]
)
def test_a_repository_that_an_honest_agent_tidied_up_lands(repository, honest):
    work_on = [write("one/a.txt"), commit("Write a"), {"run": honest}]
    repository.play({"DEMO/A1": [work_on], "DEMO/A2": [[write("one/b.txt"), commit("Write b")]]})
    assert work(repository).reason is StopReason.COMPLETE
    assert {"Write a", "Write b"} <= set(repository.subjects())
