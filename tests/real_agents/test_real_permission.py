"""What lies outside of the lane is refused before it happens, and the model is told why."""

import pytest
from agent_fleet import committing, made_by, say_done
from programs import ALL, Program

UNIT = "GREET/GREET1"
pytestmark = pytest.mark.timeout(900)  # the first run on a machine installs the programs


def strays(program: Program) -> list[dict[str, object]]:
    """A file outside of the lane by the tool for files and by the shell, then honest work."""
    return [
        program.write("other/written.md", "no\n"),
        {"bash": "echo no > other/redirected.md"},
        # The commit takes everything along: what was not refused would be in it.
        program.write(made_by("api", UNIT), f"made_by = '{UNIT}'\n"),
        {"bash": committing(UNIT)},
        *say_done(UNIT),
    ]


@pytest.mark.parametrize("program", ALL, ids=lambda program: program.name)
def test_a_write_outside_of_the_lane_is_refused_before_it_happens(new_fleet, program):
    fleet = new_fleet({"api": [UNIT]}, program)
    model = fleet.staff(program, strays(program))
    fleet.up()
    assert fleet.landed() == [UNIT], fleet.story
    denied = [event["body"] for event in fleet.events("hook_answered")]
    assert [(one["action"], one["reason_class"], one["paths"]) for one in denied] == [
        ("DENY", "OUT_OF_REGION", ["other/written.md"]),
        ("DENY", "OUT_OF_REGION", ["other/redirected.md"]),
    ]
    assert not fleet.git("ls-tree", "-r", "--name-only", "main", "other")
    ended = [event["body"] for event in fleet.events("agent_ended")]
    assert len(ended) == 1, "one start was enough: nothing had to be undone"
    told = "\n".join(str(request) for request in model.requests())
    assert "other/written.md is outside of lane api (api/**)." in told
    assert "other/redirected.md is outside of lane api (api/**)." in told
