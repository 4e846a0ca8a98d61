"""Laws of the judge: what it passes is safe on every system, and what the base has may stay."""

import posixpath
from itertools import dropwhile

import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st

from dos.handover.judge import (
    FILE,
    FOLDER,
    LINK,
    PROGRAM,
    SUBMODULE,
    judge_depth,
    judge_entry,
    judge_link,
    judge_names,
)
from dos.handover.limits import Limits
from dos.handover.names import disguises_gitmodules, fold, folder_names_git, new_collision
from dos.handover.objects import index_count, parse_commit, parse_folder, split_names
from dos.handover.refusal import Refused, Rule
from dos.handover.submodules import is_remote_address, judge_settings, settings_of
from dos.handover.walk import Walk

LIMITS = Limits()
LETTERS = st.text(st.sampled_from("aAbBéÉe\u0301ßſsK\u212ak. ~1"), min_size=1, max_size=4)
NAMES = LETTERS.map(str.encode) | st.binary(min_size=1, max_size=6).filter(
    lambda name: not set(name) & {0, 47}
)
PARTS = st.sampled_from(["..", ".", "", "a", "b", ".git", "GIT~1", "a.b"])
IDS = st.binary(min_size=20, max_size=20)


@given(st.lists(NAMES, unique=True), st.lists(NAMES, unique=True))
def test_a_collision_is_of_two_names_that_fold_alike_and_one_is_new(names, before):
    pair = new_collision(names, before)
    folded = [fold(name) for name in names]
    pairs = [
        (one, other)
        for one in names
        for other in names
        if one != other and fold(one) == fold(other) and one not in before
    ]
    assert (pair is None) == (pairs == [])
    if pair is None and not before:
        assert len(set(folded)) == len(folded)
    if pair:
        assert pair in pairs


@given(st.lists(NAMES, unique=True), st.data())
def test_names_that_the_base_has_never_collide(names, data):
    assert judge_names(b"d/", names, names) is None
    some = data.draw(st.lists(st.sampled_from(names), unique=True)) if names else []
    assert judge_names(b"", some, names) is None, "to delete some introduces none"


@given(LETTERS)
def test_case_and_normal_form_do_not_count_in_a_fold(text):
    import unicodedata

    for form in ("NFC", "NFD"):
        assert fold(unicodedata.normalize(form, text).encode()) == fold(text.encode())
    assert fold(text.lower().encode()) == fold(text.encode())


@pytest.mark.parametrize(
    "name",
    [
        b"x",
        b"git",
        b"digit",
        b".gitignore",
        b".gitkeep",
        b"a.git",
        b"git~2",
        b".github",
        b"gitmodules",
        b".git-blame-ignore-revs",
    ],
)
def test_ordinary_names_with_git_in_them_are_no_disguise(name):
    assert not folder_names_git(name) and not disguises_gitmodules(name)
    assert judge_entry(b"", name, FILE, None, LIMITS) is None


@given(
    st.permutations([0, 1, 2, 3]), st.sampled_from(["\u200c", "\u206f", "\ufeff"]), st.booleans()
)
def test_characters_that_a_system_ignores_hide_no_git(order, ignored, upper):
    text = ".git"
    for at in sorted(order[:2]):
        text = text[:at] + ignored + text[at:]
    if upper:
        text = text.upper()
    assert folder_names_git(text.encode())


@given(st.sampled_from([".git", "git~1", ".gitmodules"]), st.text(". ", max_size=3), st.booleans())
def test_what_ntfs_cuts_off_hides_nothing(name, end, with_stream):
    spelled = name.swapcase() + end + (":$DATA" if with_stream else "")
    assert folder_names_git(spelled.encode()) or disguises_gitmodules(spelled.encode())


@given(
    st.lists(st.sampled_from([b"a", b"dir"]), max_size=4),
    st.lists(PARTS, max_size=6).map("/".join),
)
@example([], "d/../x")
@example([b"a"], "../..")
@example([b"a"], "./..")
def test_a_link_that_passes_stays_inside_and_out_of_git(folders, target):
    path = b"/".join([*folders, b"link"])
    if judge_link(path, target.encode()) is not None:
        return
    inside = posixpath.normpath(
        posixpath.join("/".join(["top", *map(bytes.decode, folders)]), target)
    )
    assert inside == "top" or inside.startswith("top/")
    assert ".git" not in inside.split("/") and not target.startswith("/")
    names = [part for part in target.split("/") if part not in ("", ".")]
    below = list(dropwhile(lambda name: name == "..", names))
    assert ".." not in below, "a link on the way would change what it means"


@given(st.integers(0, 4), st.lists(st.sampled_from(["a", "b"]), min_size=1, max_size=3))
def test_a_link_may_go_up_as_far_as_the_top(depth, rest):
    path = b"d/" * depth + b"link"
    assert judge_link(path, "/".join([".."] * depth + rest).encode()) is None
    assert judge_link(path, "/".join([".."] * (depth + 1) + rest).encode()).rule == Rule.LINK


@given(
    NAMES, st.sampled_from([FILE, PROGRAM, LINK, FOLDER]), st.sampled_from([None, FILE, SUBMODULE])
)
def test_an_ordinary_entry_is_judged_by_its_name_alone(name, mode, base_mode):
    answer = judge_entry(b"d/", name, mode, base_mode, LIMITS)
    bad = name in (b".", b"..") or folder_names_git(name) or disguises_gitmodules(name)
    assert (answer is not None) == bad


@given(st.integers(0, 0o177777))
def test_every_other_mode_is_refused_unless_the_base_has_it_there(number):
    mode = b"%o" % number
    assume(mode not in (FILE, PROGRAM, LINK, FOLDER))
    assert judge_entry(b"", b"x", mode, None, LIMITS) is not None
    assert judge_entry(b"", b"x", mode, mode, LIMITS) is None


def test_lengths_are_judged_at_their_limits():
    def judged(folder: bytes, name: bytes) -> Refused | None:
        return judge_entry(folder, name, FILE, None, LIMITS)

    assert judged(b"", b"n" * LIMITS.name_bytes) is None
    assert judged(b"", b"n" * (LIMITS.name_bytes + 1)).rule == Rule.LIMIT
    assert judged(b"d/" * 400, b"n" * (LIMITS.path_bytes - 800)) is None
    assert judged(b"d/" * 400, b"n" * (LIMITS.path_bytes - 799)).rule == Rule.LIMIT
    assert judge_depth(b"", LIMITS.depth, LIMITS) is None
    assert judge_depth(b"", LIMITS.depth + 1, LIMITS).rule == Rule.LIMIT


@pytest.mark.parametrize(
    "url",
    [
        "https://h.invalid/x",
        "ssh://git@h.invalid:22/x",
        "git://h/x",
        "git@h:x/y.git",
        "h.invalid:x",
    ],
)
def test_another_host_is_an_address(url):
    assert is_remote_address(url)


@example("h:x::")
@given(st.text(st.sampled_from("ext:f/.-\\ @h\n%0a!"), max_size=12))
def test_an_address_never_begins_like_an_option_or_a_path(url):
    if is_remote_address(url):
        assert url[0] not in "-./\\" and "::" not in url and not set(url) & set("\n\\ ")


@given(st.dictionaries(st.text(max_size=5), st.lists(st.text(max_size=5), min_size=1).map(tuple)))
def test_settings_that_the_base_has_may_stay(settings):
    assert judge_settings(settings, settings) is None


def test_settings_are_read_as_git_prints_them():
    listing = b"submodule.l.url\nhttps://h/x\0submodule.l.url\nfile:///x\0submodule.l.shallow\0"
    settings = settings_of(listing)
    assert settings["submodule.l.url"] == ("https://h/x", "file:///x")
    assert judge_settings(settings, {}).rule == Rule.SUBMODULE, "each of several values counts"


# Objects and the walk

FOLDERS = st.dictionaries(
    st.sampled_from([b"a", b"A", b"b", b"..", b".git", b"c"]),
    st.tuples(st.sampled_from([FILE, PROGRAM]), IDS),
    max_size=4,
)


def written(folder: dict[bytes, tuple[bytes, bytes]]) -> bytes:
    return b"".join(mode + b" " + name + b"\0" + sha for name, (mode, sha) in folder.items())


@given(FOLDERS)
def test_a_folder_is_read_as_it_was_written(folder):
    content = written(folder)
    assert parse_folder(content, 20) == folder
    for broken in (content[:-1], content + b"x", content + content):
        if content:
            with pytest.raises(ValueError):
                parse_folder(broken, 20)


@given(st.binary(max_size=100))
def test_bytes_are_a_folder_that_is_written_the_same_or_none(content):
    try:
        folder = parse_folder(content, 20)
    except ValueError:
        return
    assert len(written(folder)) <= len(content), "only zeros before a mode are left out"


def test_a_commit_is_read_up_to_its_author():
    content = b"tree %s\nparent %s\nauthor x\nparent %s\n\nm" % (b"1" * 40, b"2" * 40, b"3" * 40)
    commit = parse_commit(content)
    assert (commit.tree.hex(), [sha.hex() for sha in commit.parents]) == ("1" * 40, ["2" * 40])
    with pytest.raises(ValueError):
        parse_commit(b"author x\n\ntree " + b"1" * 40)


def test_an_index_of_another_kind_is_an_error():
    mark = b"\xfftOc\0\0\0\x02"
    assert index_count(mark + bytes(1020) + b"\0\0\0\x05") == 5
    for header in (b"", b"x" * 1032, mark + bytes(1000)):
        with pytest.raises(ValueError):
            index_count(header)
    assert split_names(b"a" * 20 + b"b" * 20, 20) == [b"a" * 20, b"b" * 20]


@given(FOLDERS, FOLDERS)
def test_the_walk_passes_exactly_the_changes_that_the_judge_passes(new, base):
    contents = {b"n" * 20: written(new), b"b" * 20: written(base)}
    walk = Walk(lambda ids: (contents[sha] for sha in ids), LIMITS, 20)
    answer = walk.compare([b"n" * 20], b"b" * 20)
    changed = {name: entry for name, entry in new.items() if base.get(name) != entry}
    judged = [judge_entry(b"", name, mode, None, LIMITS) for name, (mode, _) in changed.items()]
    judged.append(judge_names(b"", new, base))
    assert (answer is None) == (judged == [None] * len(judged))
    if answer is None:
        assert walk.files == {sha for _, sha in changed.values()}


def test_a_tree_that_holds_itself_by_a_colliding_hash_ends_at_the_depth():
    loop = b"l" * 20
    content = {loop: written({b"d": (FOLDER, loop)}), b"b" * 20: b""}
    walk = Walk(lambda ids: (content[sha] for sha in ids), LIMITS, 20)
    assert walk.compare([loop], b"b" * 20).rule == Rule.LIMIT
