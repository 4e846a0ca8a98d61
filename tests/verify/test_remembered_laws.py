"""Cached verdicts on a branch are always those that a whole verification gives."""

import pytest
from amounts import long
from generated import KINDS, UNITS, Story, git, moves, told, written
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from dos.backlog.io import landed
from dos.errors import DosError
from dos.fleet.state.fleet import FleetState, UnitState
from dos.verify.io import verifier
from dos.verify.io.verdict_cache import VerdictCache
from dos.verify.io.verifier import Ask
from dos.world import World

MAIN = "refs/heads/main"
NAMES = [f"{plan}/{phase}" for plan, phase in [*UNITS, ("AUTH", "AUTH11"), ("ZED", "ZED9")]]


def few(examples):
    return settings(
        max_examples=examples, deadline=None, suppress_health_check=[HealthCheck.too_slow]
    )


def visited(story: Story, picks: list[int], *, grows: bool) -> list[int]:
    """The nodes at which the branch is verified, in turn; out of order it was force-pushed."""
    if not grows:
        return [pick % len(story.nodes) for pick in picks]
    line = story.first_parents(story.tip)[::-1]
    return sorted(line[pick % len(line)] for pick in picks)


def whole(world, names):
    pairs = [tuple(name.split("/")) for name in names]
    answer = verifier.verify(world, pairs, Ask(ref=MAIN, is_vouched=False, uses_index=False))
    return dict(zip(names, answer, strict=True))


def said(ask, *given):
    """The answers; or what is wrong, where a commit has spoilt what is needed for one."""
    try:
        return ask(*given)
    except DosError as error:
        return error.message


def check_what_is_remembered_is_what_a_whole_look_shows(story, picks, grows, landings):
    with written(story) as repository, World(repository.root, lenient=True) as world:
        memory = VerdictCache()
        for number, node in enumerate(visited(story, picks, grows=grows)):
            git(repository.root, "update-ref", MAIN, repository.shas[node])
            # Units come to be known, land and are forgotten while it looks.
            names = NAMES[number % 2 :]
            units = {
                name: UnitState(landed=repository.shas[at % len(story.nodes)])
                for name, at in landings[number:]
            }
            fleet = FleetState(units=units)
            found = landed.inspect_target(world, names, fleet, ref=MAIN, memory=memory)
            assert found == landed.inspect_target(world, names, fleet, ref=MAIN), (number, node)
            assert said(memory.verify, world, names, MAIN) == said(whole, world, names), (
                number,
                node,
            )


GROWN = (
    st.builds(
        told,
        st.lists(moves(kinds=(*KINDS, "declare", "configure")), min_size=6, max_size=20),
        st.sampled_from(("steady", "still", "backwards")),
    ),
    st.lists(st.integers(0, 40), min_size=3, max_size=7),
    st.booleans(),
    st.lists(st.tuples(st.sampled_from(NAMES), st.integers(0, 40)), max_size=6),
)


@pytest.mark.soak
@few(12)
@given(*GROWN)
def test_what_is_remembered_is_what_a_whole_look_shows(story, picks, grows, landings):
    check_what_is_remembered_is_what_a_whole_look_shows(story, picks, grows, landings)


@pytest.mark.soak
@few(long(40, 400))
@given(*GROWN)
def test_what_is_remembered_is_what_a_whole_look_shows_in_many_repositories(
    story, picks, grows, landings
):
    check_what_is_remembered_is_what_a_whole_look_shows(story, picks, grows, landings)
