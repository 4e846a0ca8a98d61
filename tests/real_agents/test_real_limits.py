"""A provider says "not now", and each real program passes it on in its own way: the fleet waits, or
takes another."""

import pytest
from agent_fleet import told, work
from programs import CLAUDE_CODE, CODEX, GEMINI, OPENCODE, Program

LIMITED, BUSY, LATER = "GREET/GREET1", "DOCS/DOCS1", "DOCS/DOCS2"
LANES = {"api": [LIMITED], "guide": [BUSY, LATER]}
LIMIT_ENDINGS = {"overloaded", "transient", "usage_window"}
pytestmark = pytest.mark.timeout(900)  # the first run on a machine installs the programs


def refuse(status: int, times: int, **more: object) -> dict[str, object]:
    words = {429: "Too Many Requests", 529: "Overloaded"}[status]
    return {"status": status, "message": words, "times": times, **more}


@pytest.mark.parametrize(
    ("program", "status", "times"),
    [
        (CLAUDE_CODE, 429, 2),
        pytest.param(CLAUDE_CODE, 529, 2, marks=pytest.mark.soak),
        pytest.param(CODEX, 429, 1, marks=pytest.mark.soak),
        pytest.param(CODEX, 529, 4, marks=pytest.mark.soak),
    ],
    ids=lambda value: getattr(value, "name", value),
)
def test_nobody_starts_an_agent_between_a_limit_and_its_end(new_fleet, program, status, times):
    """`times`: as many requests as one start of the program makes before it gives up."""
    fleet = new_fleet(LANES, program)
    # The other lane's first unit lasts until the limit is hit, and the limit until that unit has
    # landed: then there is
    # one that could be started, and nobody may.
    probe = f"{fleet.until('landed')}; sleep 3"
    script = {
        "match": [
            {
                "if": told(LIMITED),
                "steps": [refuse(status, times), *work("api", LIMITED, before=probe)],
            },
            {"if": told(BUSY), "steps": work("guide", BUSY, before=fleet.until("limited"))},
            {"if": told(LATER), "steps": work("guide", LATER)},
        ]
    }
    fleet.configure("quota", backoff_seconds=[3])
    fleet.staff(program, script)
    fleet.start()
    fleet.await_event("limit_hit")
    fleet.signal("limited")
    fleet.await_event("unit_landed")
    fleet.signal("landed")
    fleet.finish()
    (hit,) = fleet.events("limit_hit")
    (lifted,) = fleet.events("limit_lifted")
    assert hit["body"]["ending"] in LIMIT_ENDINGS
    assert hit["body"]["agent"] == program.name
    landed = {event["body"]["unit"]: event["pos"] for event in fleet.events("unit_landed")}
    assert hit["pos"] < landed[BUSY] < lifted["pos"], (
        "the other lane had nothing to start while the limit held"
    )
    probes = {event["body"]["run_id"] for event in fleet.events("limit_probed")}
    between = [
        event
        for event in fleet.events("agent_started")
        if hit["pos"] < event["pos"] < lifted["pos"]
    ]
    assert [event["body"]["run_id"] for event in between] == [*probes]
    assert sorted(landed) == fleet.units()


def come_back(program: Program, seconds: int, status: int = 429) -> dict[str, object]:
    """A refusal that makes these two wait for so long by themselves, with nothing of it on their
    stream."""
    if program is OPENCODE:
        return refuse(status, 1, headers={"retry-after": str(seconds)})
    words = {429: "Too many requests", 529: "Overloaded"}[status]
    return refuse(status, 1, message=f"{words}. Please retry in {seconds}s.")


NO_LOG = ("--no-print-logs",)  # opencode then prints nothing of a retry: its plugin tells of it


@pytest.mark.parametrize(
    ("program", "status", "arguments"),
    [(GEMINI, 429, ()), (GEMINI, 529, ()), (OPENCODE, 429, ()), (OPENCODE, 529, NO_LOG)],
    ids=lambda value: getattr(value, "name", None) or str(value),
)
def test_a_silent_retry_is_seen_to_wait_while_it_lasts(new_fleet, program, status, arguments):
    fleet = new_fleet({"api": [LIMITED]}, program)
    script = [come_back(program, 15, status), *work("api", LIMITED)]
    fleet.staff(program, script, arguments=arguments)
    fleet.start()
    fleet.await_row(lane="api", state="waiting on quota", agent=program.name)
    fleet.finish()
    told_of = [
        event["kind"]
        for event in fleet.events("agent_waiting", "agent_went_on", "agent_ended", "limit_hit")
    ]
    assert told_of == ["agent_waiting", "agent_went_on", "agent_ended"]
    (waiting,) = fleet.events("agent_waiting")
    assert waiting["body"]["ending"] == {429: "transient", 529: "overloaded"}[status]
    assert fleet.landed() == fleet.units()


@pytest.mark.parametrize(
    ("program", "refusal"),
    [
        (OPENCODE, come_back(OPENCODE, 600)),
        (OPENCODE, come_back(OPENCODE, 600, status=529)),
        (GEMINI, come_back(GEMINI, 70)),
        (GEMINI, come_back(GEMINI, 70, status=529)),
    ],
    ids=lambda value: getattr(value, "name", None) or value["status"],
)
def test_what_waits_in_silence_for_too_long_is_ended_and_is_no_hang(new_fleet, program, refusal):
    fleet = new_fleet({"api": [LIMITED]}, program)
    fleet.configure(
        "workers", silence_seconds=45
    )  # longer than it takes to start on a busy machine
    fleet.staff(program, [refusal, *work("api", LIMITED)])
    fleet.up()
    refused, worked = (event["body"]["outcome"] for event in fleet.events("agent_ended"))
    assert refused in LIMIT_ENDINGS
    assert worked == "ok"
    assert len(fleet.events("limit_hit")) == len(fleet.events("limit_lifted")) == 1
    assert fleet.landed() == fleet.units()


def test_another_vendors_program_takes_over_while_the_first_has_no_room(new_fleet):
    fleet = new_fleet({"api": [LIMITED]}, CLAUDE_CODE, CODEX)
    fleet.configure("quota", backoff_seconds=[600])
    fleet.staff(CLAUDE_CODE, [{"status": 429, "message": "Too Many Requests"}])
    fleet.staff(CODEX, work("api", LIMITED))
    fleet.up()
    ended = [
        (event["body"]["agent"], event["body"]["outcome"]) for event in fleet.events("agent_ended")
    ]
    assert ended[0][0] == "claude_code"
    assert ended[0][1] in LIMIT_ENDINGS
    assert ended[1:] == [("codex", "ok")]
    assert fleet.landed() == fleet.units()
    attempts = [event["body"]["outcome"] for event in fleet.events("unit_attempted")]
    assert attempts == ["shipped"], "a provider's limit is nobody's failed try"
