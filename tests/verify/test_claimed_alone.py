"""A commit names only the unit that it was made for; prose about others names none."""

import pytest

from dos.verify import mentions
from dos.verify.message import Message
from dos.verify.naming import UnitName
from dos.verify.policy import Stamp

CLAIMED = UnitName("AUTH", "AUTH1")
OTHERS = [UnitName("AUTH", f"AUTH{number}") for number in range(2, 7)]


def others(text: str) -> mentions.OtherUnits:
    return mentions.other_units(Message.parse(text), CLAIMED, [CLAIMED, *OTHERS])


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("Log in\n\nUnit: AUTH/AUTH1\nUnit: AUTH/AUTH2", ("AUTH/AUTH2",)),
        ("Log in\n\nUnit: AUTH/AUTH1, AUTH/AUTH2, AUTH/AUTH3", ("AUTH/AUTH2", "AUTH/AUTH3")),
        ("Log in\n\nShips: AUTH AUTH1, AUTH AUTH4", ("AUTH/AUTH4",)),
        ("AUTH2: log in\n\nUnit: AUTH/AUTH1", ("AUTH/AUTH2",)),
        ("v1.2.3: AUTH1 and AUTH5", ("AUTH/AUTH5",)),
        ("v1.2.3: AUTH1\n\nwith AUTH6 in it", ("AUTH/AUTH6",)),
        ("Log in\n\nUnit: AUTH/AUTH1\nUnit: LATER/L1", ("LATER/L1",)),
        ("Log in\n\nUnit: AUTH/AUTH2\n\nUnit: AUTH/AUTH1", ("AUTH/AUTH2",)),
    ],
)
def test_a_second_name_is_found(text, named):
    assert others(text).plainly == named


@pytest.mark.parametrize(
    "text",
    [
        "Log in\n\nUnit: AUTH/AUTH1",
        "AUTH1: log in, see AUTH2",
        "AUTH1: log in\n\nAUTH2 needs this too; AUTH3 does not.\n\nUnit: AUTH/AUTH1",
        "AUTH1: log in\n\nSee AUTH/AUTH2.\n\nUnit: AUTH/AUTH1\nCo-authored-by: A <a@example.org>",
        "Log in\n\nUnit: AUTH/AUTH1\nSee-also: AUTH/AUTH2",
        "Prepare for AUTH2\n\nUnit: AUTH/AUTH1",
        "Log in\n\nUnit: Phase 1 of AUTH",
        "AUTH10: not one of these",
        "",
    ],
)
def test_prose_names_nobody(text):
    assert others(text) == mentions.OtherUnits()


@pytest.mark.parametrize(
    ("text", "faintly"),
    [
        ("AUTH1, AUTH2: log in", ("AUTH2",)),
        ("feat(AUTH): AUTH3 log in\n\nUnit: AUTH/AUTH1", ("AUTH3",)),
        ("Log in\n\n* AUTH4: uses it\n\nUnit: AUTH/AUTH1", ("AUTH4",)),
        ("Log in (AUTH AUTH5)\n\nUnit: AUTH/AUTH1", ("AUTH5",)),
    ],
)
def test_a_faint_name_is_left_to_whoever_can_see_the_files(text, faintly):
    found = others(text)
    assert found.plainly == () and tuple(phase for _, phase in found.faintly) == faintly


def test_another_spelling_of_the_claimed_unit_is_no_other_unit():
    same = UnitName("AUTH", "Phase 1")
    other_units = mentions.other_units(
        Message.parse("AUTH1: log in\n\nUnit: AUTH/Phase 1"), CLAIMED, [CLAIMED, same]
    )
    assert other_units.plainly == ()


def test_a_part_of_a_unit_may_be_named_by_way_of_the_whole():
    stamp = Stamp(sub_phase_parent_fallback=True)
    part, whole = UnitName("AUTH", "AUTH1-port", stamp), UnitName("AUTH", "AUTH1", stamp)
    other_units = mentions.other_units(
        Message.parse("AUTH AUTH1: the port\n\nUnit: AUTH/AUTH1"), whole, [part, whole]
    )
    assert other_units.plainly == ()


@pytest.mark.parametrize("more", ["AUTH9", "AUTH AUTH9", "AUTH: 9", "OTHER2", "OPS/deploy"])
def test_a_trailer_names_nothing_that_could_be_planned_later(more):
    auth = UnitName("AUTH", "AUTH1")
    for text in (f"Do\n\nUnit: AUTH1\nUnit: {more}", f"Do\n\nUnit: AUTH/AUTH1, {more}"):
        assert mentions.other_units(Message.parse(text), auth, [auth]).plainly == (more,)


@pytest.mark.parametrize(
    "named", ["A1", "a1", "DEMO A1", "DEMO/A1", "DEMO/A1, A1", "metres", "the first of 3 steps"]
)
def test_a_careless_trailer_names_no_other_unit(named):
    unit = UnitName("DEMO", "A1")
    assert mentions.other_units(Message.parse(f"Do\n\nUnit: {named}"), unit, [unit]).plainly == ()
