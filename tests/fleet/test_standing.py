"""Nobody is called dead by one sign alone."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dos.fleet.worker_health import lease_health
from dos.loop.verdicts import liveness
from dos.loop.verdicts.liveness import Evidence
from dos.unknown import Unknown

MINUTE = 60_000
NOW = 1_000 * MINUTE


def seen(**more) -> Evidence:
    """An hour old, beating, nothing landed."""
    return Evidence(
        **{
            "run_started_ms": NOW - 60 * MINUTE,
            "now_ms": NOW,
            "commits_since_start": 0,
            "last_heartbeat_age_ms": 0,
            **more,
        }
    )


OLD = 16 * MINUTE


@pytest.mark.parametrize(
    ("evidence", "answer", "age"),
    [
        (seen(), "SPINNING", 60 * MINUTE),
        (seen(progress_age_ms=40 * MINUTE, commits_since_start=1), "SPINNING", 40 * MINUTE),
        (seen(progress_age_ms=5 * MINUTE, commits_since_start=1), "ADVANCING", None),
        (seen(run_started_ms=NOW - MINUTE), "ADVANCING", None),
        # An old beat alone: the worker may sit in one long call.
        (seen(last_heartbeat_age_ms=OLD), "SPINNING", 60 * MINUTE),
        (seen(last_heartbeat_age_ms=OLD, process_alive=True), "SPINNING", 60 * MINUTE),
        (seen(last_heartbeat_age_ms=None), "SPINNING", 60 * MINUTE),
        # A process that is gone is dead at once, also where a wrapper goes on beating for it.
        (seen(process_alive=False), "STALLED", None),
        (seen(process_alive=False, last_heartbeat_age_ms=OLD), "STALLED", None),
        (seen(process_alive=False, last_heartbeat_age_ms=None), "STALLED", None),
        (
            seen(
                process_alive=False,
                last_heartbeat_age_ms=OLD,
                progress_age_ms=0,
                commits_since_start=1,
            ),
            "STALLED",
            None,
        ),
        # The store's clock is enough, whatever else is known or not.
        (seen(lapsed=True), "STALLED", None),
        (seen(lapsed=True, commits_since_start=Unknown("no git")), "STALLED", None),
        (seen(lapsed=True, progress_age_ms=0, commits_since_start=1), "STALLED", None),
        (seen(commits_since_start=Unknown("no git")), "UNKNOWN", None),
        (
            seen(
                commits_since_start=Unknown("no git"),
                process_alive=False,
                last_heartbeat_age_ms=OLD,
            ),
            "UNKNOWN",
            None,
        ),
    ],
)
def test_standing(evidence, answer, age):
    health = lease_health(evidence)
    assert (health.answer, health.spinning_age_ms) == (answer, age)
    assert health.why or answer == "ADVANCING"


AGES = st.none() | st.integers(0, 100 * MINUTE)


@given(
    st.builds(
        seen,
        run_started_ms=st.integers(0, NOW),
        commits_since_start=st.integers(0, 2) | st.just(Unknown("no git")),
        last_heartbeat_age_ms=AGES,
        progress_age_ms=AGES,
        process_alive=st.none() | st.booleans(),
        lapsed=st.booleans(),
    )
)
def test_only_whose_process_is_gone_or_whose_lease_is_over_is_stalled(evidence):
    health = lease_health(evidence)
    if health.answer == "STALLED":
        assert evidence.lapsed or evidence.process_alive is False
    if health.answer == "ADVANCING":
        assert liveness.judge(evidence).answer == "ADVANCING", (
            "nobody is thought better of than by a look"
        )
