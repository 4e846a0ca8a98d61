"""What programs that only print tell of their work: captures of pi, mini-swe-agent and aider."""

import pytest
from captures import ENDED, SILENT, adapter_of, after, ended, heard, lines
from hypothesis import given
from hypothesis import strategies as st

from dos.agents import registry
from dos.agents.adapter import Ending, ToolResult, Usage, Waiting

DONE = {
    "pi-ok.jsonl": ("It is done.", Usage(model="m", input_tokens=300, output_tokens=60)),
    "mini-ok.log": ("It is done.", Usage(input_tokens=300, output_tokens=60)),
    "aider-ok.log": ("made.txt", Usage(input_tokens=100, output_tokens=20)),
}
COUNTED = (
    "Tokens: 12k sent, 1.5k cache write, 3.0k cache hit, 200 received."
    " Cost: $0.05 message, $1.10 session."
)
RETRY = (
    "Retrying <unknown> in 8 seconds as it raised RateLimitError: litellm.RateLimitError:"
    " RateLimitError: OpenAIException - Too Many Requests."
)


def adapter(file):
    return registry.find(adapter_of(file))


@pytest.mark.parametrize("file", DONE)
def test_good_work_tells_its_last_words_and_its_usage(file):
    claim, usage = DONE[file]
    outcome = ended(adapter(file), lines(file), 0, ENDED)
    assert outcome.ending is Ending.OK
    assert outcome.claim.startswith(claim)
    assert outcome.usage == (usage,)


@pytest.mark.parametrize("file", DONE)
def test_people_see_what_it_does(file):
    shown = [event.text for event in heard(adapter(file), lines(file)) if hasattr(event, "text")]
    wanted = "Commit 32ce6a4" if "aider" in file else "git commit -q -m 'Write a file'"
    assert any(wanted in text for text in shown)


def test_pi_tells_what_a_tool_returned_and_that_it_failed():
    first, second = [
        event
        for event in heard(adapter("pi-ok.jsonl"), lines("pi-ok.jsonl"))
        if isinstance(event, ToolResult)
    ]
    assert not first.failed
    assert second.failed
    assert "three lines" in second.output


def test_pi_tells_its_retries_and_what_it_waits_for():
    waits = [
        event
        for event in heard(adapter("pi-429.jsonl"), lines("pi-429.jsonl"))
        if isinstance(event, Waiting)
    ]
    assert [(wait.ending, wait.seconds) for wait in waits] == [
        (Ending.TRANSIENT, 2), (Ending.TRANSIENT, 4), (Ending.TRANSIENT, 8)
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("file", "retry"), [("mini-ok.log", RETRY), ("aider-429.log", "Retrying in 32.0 seconds...")]
)
def test_one_that_is_ended_while_it_tries_again_has_met_a_limit(file, retry):
    said = lines(file)
    place = said.index(retry) if retry in said else 10
    outcome = ended(adapter(file), [*said[:place], retry], -15, SILENT)
    assert outcome.ending is Ending.TRANSIENT


def test_an_answer_ends_what_mini_swe_agent_waited_for():
    said = lines("mini-ok.log")
    begun = next(place for place, line in enumerate(said) if line.startswith("mini-swe-agent ("))
    waits = after(adapter("mini-ok.log"), [*said[:begun], RETRY])
    assert waits.waiting is not None
    assert after(adapter("mini-ok.log"), [*said[:begun], RETRY, said[begun]]).waiting is None


FORGED = st.sampled_from([
    "litellm.RateLimitError: RateLimitError: OpenAIException - Too Many Requests",
    "litellm.AuthenticationError: no",
    "Retrying in 0.2 seconds...",
    "Model openai/m has hit a token limit!",
])  # fmt: skip


@given(words=st.lists(FORGED | st.text(max_size=40), max_size=4))
def test_what_the_model_of_aider_writes_before_its_answer_ends_is_no_limit(words):
    said = lines("aider-ok.log")
    place = said.index("Tokens: 100 sent, 20 received.")
    outcome = ended(adapter("aider-ok.log"), [*said[:place], *words, *said[place:]], 0, ENDED)
    assert outcome.ending is Ending.OK


@given(words=st.lists(FORGED | st.sampled_from([
    '    "exit_status": "AuthenticationError",',
    '        "exception_str": "litellm.AuthenticationError: no",',
    '            "prompt_tokens": 9999,',
    '      "instance_cost": 9.5,',
]), max_size=4))  # fmt: skip
def test_what_tools_print_is_not_the_trajectory_of_mini_swe_agent(words):
    said = lines("mini-ok.log")
    place = said.index("three lines")
    outcome = ended(adapter("mini-ok.log"), [*said[:place], *words, *said[place:]], 0, ENDED)
    assert outcome.ending is Ending.OK
    assert outcome.usage == (DONE["mini-ok.log"][1],)


@pytest.mark.parametrize(
    ("line", "usage"),
    [
        ("Tokens: 1.2k sent, 345 received.", Usage(input_tokens=1200, output_tokens=345)),
        (
            COUNTED,
            Usage(
                input_tokens=7500,
                cached_tokens=3000,
                cache_write_tokens=1500,
                output_tokens=200,
                cost_usd=0.05,
            ),
        ),
    ],
)
def test_aider_writes_large_counts_in_thousands(line, usage):
    assert after(registry.find("aider"), [line]).usage == (usage,)


def test_cached_tokens_of_mini_swe_agent_are_part_of_its_input():
    said = [
        "dos: the trajectory follows",
        '            "prompt_tokens": 100,',
        '              "cached_tokens": 60',
        '            "prompt_tokens": 10,',
        '              "cached_tokens": 90',
        '      "instance_cost": 0.25,',
    ]
    (used,) = after(registry.find("mini_swe_agent"), said).usage
    assert (used.input_tokens, used.cached_tokens, used.cost_usd) == (40, 70, 0.25)
