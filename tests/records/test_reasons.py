"""One table of reasons: complete, without doubles, and of one mind with those who decide."""

import re

import pytest

from dos.config.tables import BUILT_IN_REASONS
from dos.plans.loop import StopReason, needs
from dos.questions import VERBS
from dos.records import reasons
from dos.records.leases import RefusalReason


@pytest.mark.parametrize("token", [*RefusalReason, *sorted(BUILT_IN_REASONS)])
def test_every_refusal_is_in_the_table(token):
    found = reasons.find(token)
    assert found is not None and found.refusal, f"add {token} to records/reasons.py"


@pytest.mark.parametrize("reason", StopReason)
def test_every_stop_is_in_the_table(reason):
    found = reasons.find(reason)
    assert found is not None and not found.refusal, f"add {reason} to records/reasons.py"
    assert needs(reason) is found.needs


def test_no_token_stands_there_twice():
    tokens = [reason.token.upper() for reason in reasons.TABLE]
    assert len(tokens) == len(set(tokens))


@pytest.mark.parametrize("reason", reasons.TABLE, ids=lambda reason: reason.token)
def test_a_reason_says_what_it_means_and_names_only_verbs_that_exist(reason):
    assert reason.message.endswith(".")
    assert reason.fix or reason.token == "complete"
    for words in re.findall(r"`dos ([^`]*)`", reason.fix):
        assert any(words == name or words.startswith(f"{name} ") for name in VERBS), words


@pytest.mark.parametrize("token", ["lane_held", " LANE_HELD ", "Lane_Held"])
def test_tokens_are_found_in_any_case(token):
    assert reasons.find(token).token == "LANE_HELD"


def test_an_unknown_token_is_not_found():
    assert reasons.find("NEVER_HEARD_OF") is None
