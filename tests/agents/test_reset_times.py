"""Times as programs write them for people."""

from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from captures import NOW
from hypothesis import example, given
from hypothesis import strategies as st

from dos.agents import reset_times

LISBON, TOKYO = ZoneInfo("Europe/Lisbon"), ZoneInfo("Asia/Tokyo")


def at(day, hour, minute=0, *, month=11, year=2026, zone=UTC):
    return datetime(year, month, day, hour, minute, tzinfo=zone)


WORDS = [  # it is Sunday, the 15th of November, 14:00:20
    ("You've hit your session limit · resets 3:45pm", at(15, 15, 45)),
    ("You've hit your session limit · resets 1:45pm", at(16, 13, 45)),
    ("You've hit your session limit · resets 2pm", at(15, 14)),  # it passed while the program ended
    ("You've hit your weekly limit · resets Mon 12:00am", at(16, 0)),
    ("You've hit your weekly limit · resets Sun 1pm", at(22, 13)),
    ("You've hit your limit · resets 12am", at(16, 0)),
    ("You've hit your limit · resets 12pm", at(16, 12)),
    ("You've hit your session limit · resets 3pm (Asia/Tokyo)", at(16, 15, zone=TOKYO)),
    ("You've hit your session limit · resets 3pm (Europe/Lisbon)", at(15, 15, zone=LISBON)),
    ("You've hit your session limit · resets 3pm (Mars/Olympus)", None),
    ("You're out of extra usage · resets Dec 12, 1pm (UTC)", at(12, 13, month=12)),
    ("You've hit your limit · resets Jan 2 at 3:05am", at(2, 3, 5, month=1, year=2027)),
    ("You've hit your usage limit. Try again at 3:05 PM.", at(15, 15, 5)),
    (
        "You've hit your usage limit or try again at Aug 3rd, 2027 3:05 PM.",
        at(3, 15, 5, month=8, year=2027),
    ),
    ("You've hit your usage limit. Try again at Feb 31st, 2027 3:05 PM.", None),
    ("Claude AI usage limit reached|1794760000", datetime.fromtimestamp(1794760000, UTC)),
    ("Claude AI usage limit reached|1794760000000", datetime.fromtimestamp(1794760000, UTC)),
    ("Claude AI usage limit reached|9999999999", None),
    ("Please retry in 34.07s.", NOW + timedelta(seconds=34.07)),
    ("Please retry in 250ms", NOW + timedelta(seconds=0.25)),
    ("Suggested retry after 60s.", NOW + timedelta(seconds=60)),
    ("Weekly usage limit reached. It will reset in 3 hours. Enable more", NOW + timedelta(hours=3)),
    ("Your quota will reset after 13h9m4s.", NOW + timedelta(hours=13, minutes=9, seconds=4)),
    ("It will reset in 2 days, 4 hours and 1 minute", NOW + timedelta(days=2, hours=4, minutes=1)),
    ("resets in 3 months", None),
    ("try again later.", None),
    ("usually temporary — try again in a moment", None),
    ("resets 25:99pm", None),
    ("", None),
]


@pytest.mark.parametrize(("words", "moment"), WORDS)
def test_words_name_this_moment(words, moment):
    assert reset_times.parse_reset_time(words, NOW) == moment


def test_a_clock_without_a_zone_is_the_one_of_whoever_watched():
    here = NOW.astimezone(TOKYO)  # 23:00 there
    assert reset_times.parse_reset_time("resets 11:30pm", here) == at(15, 23, 30, zone=TOKYO)


PIECES = ["resets", "at", "in", "5 hours", "99999999999 days", "11:30pm", "25:61", "Mon", "Feb 30,"]
PIECES += ["(Asia/Tokyo)", "(no/where)", "|1700000000", "retry after"]
WORDS = st.lists(st.sampled_from(PIECES) | st.text(max_size=3), max_size=6).map(" ".join)


@example("resets 11:30pm", NOW)
@example("resets in 5 hours", NOW)
@given(st.text() | WORDS, st.datetimes(timezones=st.just(UTC)))
def test_no_words_are_too_strange_to_be_read(words, now):
    moment = reset_times.parse_reset_time(words, now)
    assert moment is None or moment.tzinfo is not None


@given(
    st.from_regex(
        r"resets ((Mon|Sun) )?([A-Z][a-z]{2} \d\d?,? )?\d\d?(:\d\d)?[ap]m( \([A-Za-z/.]{1,12}\))?",
        fullmatch=True,
    ),
    st.datetimes(timezones=st.just(UTC)),
)
def test_a_clock_names_a_moment_that_is_near_or_none(words, now):
    moment = reset_times.parse_reset_time(words, now)
    assert moment is None or moment - now < timedelta(days=370)


@given(st.none() | st.floats() | st.floats(1e9, 2e12), st.datetimes(timezones=st.just(UTC)))
def test_an_epoch_is_near_or_none(value, now):
    moment = reset_times.moment_of_epoch(value, now)
    assert moment is None or abs((moment - now).total_seconds()) <= reset_times.LONGEST_SECONDS + 1
