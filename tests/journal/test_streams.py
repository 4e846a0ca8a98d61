"""The names of streams: what is put together can be taken apart, and no two families meet."""

from hypothesis import given
from hypothesis import strategies as st

from dos.journal import streams
from dos.journal.streams import Family
from dos.limits.quota import Key

FAMILIES = [each for each in vars(streams).values() if isinstance(each, Family)]
subjects = st.text(min_size=1, max_size=20)


@given(subjects, st.sampled_from(FAMILIES), st.sampled_from(FAMILIES))
def test_a_stream_tells_its_family_and_whose_it_is(subject: str, family: Family, other: Family):
    name = family(subject)
    assert name in family and name.startswith(family.prefix)
    assert family.subject(name) == subject
    assert streams.family(name) == family.word
    assert other is family or (name not in other and other.subject(name) == "")


def test_no_two_families_have_one_word():
    assert len({family.word for family in FAMILIES}) == len(FAMILIES)


keys = st.builds(
    Key, vendor=st.text("ab/%", min_size=1), account=st.text("ab/%"), model=st.text("ab/%")
)


@given(keys, keys)
def test_limits_share_a_stream_only_if_they_are_limits_of_the_same(one: Key, other: Key):
    assert (streams.limit(one) == streams.limit(other)) == (one == other)


@given(subjects)
def test_a_lane_and_a_lock_of_one_name_have_streams_of_their_own(name: str):
    assert streams.lease(name) in streams.lane_leases
    assert streams.lease(name, is_lock=True) in streams.lock_leases
