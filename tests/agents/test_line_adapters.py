"""Line adapters: the usage that their lines report counts the same after they are folded."""

from hypothesis import given
from hypothesis import strategies as st

from dos.agents.adapter import Usage, UsageReport
from dos.agents.registry import FoldedLineAdapter


class Scripted:
    """Each line is the number of what was heard in it."""

    name = vendor = program = "scripted"
    tested = ("", "")

    def __init__(self, heard: list[tuple[UsageReport, ...]]) -> None:
        self._heard = heard

    def parse(self, line: str) -> tuple[UsageReport, ...]:
        return self._heard[int(line)]


def used_by(heard: list[tuple[UsageReport, ...]]) -> dict[str, int]:
    adapter = FoldedLineAdapter(Scripted(heard))
    state = adapter.begin()
    for number in range(len(heard)):
        state = adapter.on_line(state, str(number))
    return {usage.model: usage.input_tokens for usage in state.usage}


def step(tokens: int, model: str = "", **more: object) -> UsageReport:
    return UsageReport(usage=Usage(model=model, input_tokens=tokens), **more)


def test_the_whole_stands_in_the_place_of_all_steps_also_where_those_named_no_model():
    assert used_by(
        [(step(1),), (step(2),), (step(7, "large", whole=True), step(3, "small", whole=True))]
    ) == {
        "large": 7,
        "small": 3,
    }


def test_what_comes_after_the_whole_is_added_until_the_next_whole():
    told = [(step(7, "large", whole=True),), (step(1, "large"),), (step(2, "small", part="a"),)]
    assert used_by(told) == {"large": 8, "small": 2}
    assert used_by([*told, (step(9, "large", whole=True),)]) == {"large": 9}


models = st.sampled_from(["", "large", "small"])
words = st.builds(
    step,
    st.integers(1, 9),
    models,
    whole=st.booleans(),
    part=st.sampled_from(["", "", "first", "second"]),
)


@given(st.lists(st.lists(words, max_size=3).map(tuple), max_size=8))
def test_usage_is_the_newest_wholes_and_all_steps_after_them(heard):
    wholes: dict[str, int] = {}
    steps: list[UsageReport] = []
    for told in (each for line in heard for each in line):
        if told.whole:
            wholes[told.usage.model], steps = told.usage.input_tokens, []
        else:
            steps = [*(one for one in steps if not told.part or one.part != told.part), told]
    expected = dict(wholes)
    for told in steps:
        expected[told.usage.model] = expected.get(told.usage.model, 0) + told.usage.input_tokens
    assert used_by(heard) == expected
