"""Each lane has ports of its own, the same ones every time."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dos.agents.io import environment
from dos.errors import BadInput

LANES = ["api", "docs", "web"]


@pytest.mark.parametrize(
    ("lane", "count", "expected"),
    [
        ("api", 10, range(21_000, 21_010)),
        ("docs", 10, range(21_010, 21_020)),
        ("web", 1, range(21_002, 21_003)),
        ("web", 0, range(21_000, 21_000)),
    ],
)
def test_a_lane_has_the_block_of_its_place(lane, count, expected):
    assert environment.port_block(LANES, lane, 21_000, count) == expected


def test_they_are_offered_in_the_environment():
    assert environment.port_variables(range(21_010, 21_020)) == {
        "DOS_PORT_BASE": "21010",
        "DOS_PORT_COUNT": "10",
    }
    assert environment.port_variables(range(21_000, 21_000)) == {}


def test_a_lane_without_a_place_has_the_same_block_in_every_process():
    assert environment.port_block(LANES, "by hand", 21_000, 10) == range(21_330, 21_340)


def test_parts_of_lanes_have_blocks_of_their_own_by_their_number():
    def ports(number: int) -> range:
        return environment.port_block(LANES, f"api/A/A{number}", 21_000, 10, part=number)

    blocks = {ports(number) for number in range(environment.OTHER_LANES)}
    assert len(blocks) == environment.OTHER_LANES
    assert ports(0) == range(21_030, 21_040), "above those of the declared lanes"
    assert ports(environment.OTHER_LANES) == ports(0)


lane_names = st.text(min_size=1, max_size=8)


@given(
    st.lists(lane_names, unique=True, max_size=60),
    lane_names,
    st.integers(1_024, 60_000),
    st.integers(0, 1_000),
)
def test_blocks_are_of_the_asked_size_below_the_last_port_and_apart_from_one_another(
    lanes, other, base, count
):
    taken: set[int] = set()
    for lane in {*lanes, other}:
        try:
            found = environment.port_block(lanes, lane, base, count)
        except BadInput:
            assert base + count * (len(lanes) + 1) > environment.LAST_PORT
            continue
        assert len(found) == count and all(
            base <= port <= environment.LAST_PORT for port in (found[:1] or [base])
        )
        assert not taken & set(found)
        taken |= set(found)


def test_more_lanes_than_there_are_ports_for_is_said():
    with pytest.raises(BadInput, match=r"'web' would get ports beyond 65535"):
        environment.port_block(LANES, "web", 60_000, 2_000)
