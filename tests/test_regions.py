import unicodedata
from collections.abc import Callable
from itertools import combinations
from typing import Literal

import msgspec
import pytest

from dos import globs, regions
from dos.errors import BadInput, RegionInvalid
from dos.regions import Mode, Verdict, region

THIRD = 1 / 3


@pytest.mark.parametrize(
    ("glob", "prefix"),
    [
        ("src/**", "src/"),
        ("SRC\\Api\\*.py", "src/api/"),
        ("docs/a.md", "docs/a.md/"),
        ("**/*", ""),
        ("*.py", ""),
        ("src/*/x.py", "src/"),
        ("**", ""),
        (".", ""),
        ("./", ""),
        ("src/..", ""),
        ("a.py", "a.py/"),
        ("src", "src/"),
        ("src/", "src/"),
        ("  src/**\t", "src/"),
        ("./src/**", "src/"),
        ("src//api///x", "src/api/x/"),
        ("src/./api", "src/api/"),
        ("a/../b", "b/"),
        ("a/b/../../c/x*", "c/"),
        ("src/ab?", "src/"),
        ("src/ab[cd]", "src/"),
        ("src/ab{c,d}", "src/"),
        ("src/{a/..,b}/x", "src/"),
        ("src/REL-*", "src/"),
        ("src/[[]id].py", "src/"),
        ("app/(group)/@modal/+page", "app/(group)/@modal/+page/"),
        ("a}b/]c/x", "a}b/]c/x/"),
        ("#a/$b/a,b/it's", "#a/$b/a,b/it's/"),
        ("./!a", "!a/"),
        ("./~/a", "~/a/"),
        ("~a/b", "~a/b/"),
        ("./:a", ":a/"),
        ("a!/b~", "a!/b~/"),
        ("src/[|]/a", "src/"),
        (".../a./b ./c", ".../a/b/c/"),
    ],
)
def test_a_glob_is_cut_to_the_folder_that_holds_all_it_can_match(glob: str, prefix: str) -> None:
    assert regions.prefix(glob) == prefix
    assert regions.prefix(f"./{glob.strip()}") == prefix


@pytest.mark.parametrize(
    ("glob", "found"),
    [
        ("", "blank"),
        (" \t ", "blank"),
        ("{,a}", "blank"),
        ("/src", "absolute"),
        ("\\src", "absolute"),
        ("//host/share", "absolute"),
        ("C:\\src", "absolute"),
        ("c:/src", "absolute"),
        ("C:src", "absolute"),
        ("{a,/b}", "absolute"),
        ("{C:,a}/b", "absolute"),
        ("..", "out of the repository"),
        ("../src", "out of the repository"),
        ("..\\src", "out of the repository"),
        ("src/../../src", "out of the repository"),
        ("../*", "out of the repository"),
        ("{a,../b}", "out of the repository"),
        ("{.,a}./b", "out of the repository"),
        ("src/*/../b", "`..` after a wildcard"),
        ("**/..", "`..` after a wildcard"),
        ("src/{../b,c}", "leaves the folder"),
        ("a\0b", "control"),
        ("a\nb", "control"),
        ("a\x1bb", "control"),
        ("a\x85b", "control"),
        ("a\u2028b", "control"),
        ("a\ud800b", "control"),
        ("!src", "starts with `!`"),
        ("~/src", "starts with `~`"),
        ("~", "starts with `~`"),
        (":(exclude)src", "starts with `:`"),
        ("src/@(a|b)", "another dialect"),
        ("src/+(a)", "another dialect"),
        ("src/!(a)", "another dialect"),
        ("src/*(a)", "another dialect"),
        ("src/?(a)", "another dialect"),
        ("src/(a|b)", "another dialect"),
        ("src/\\[a]", "escape"),
        ("src/\\{a,b}", "escape"),
        ("src/\\?", "escape"),
        ("src/[a\\]]", "escape"),
        ("src/[a", "never closed"),
        ("src/[]", "never closed"),
        ("src/[!]", "never closed"),
        ("src/[a/b]", "never closed"),
        ("src/[[:alpha:]]", "named class"),
        ("src/[z-a]", "backward range"),
        ("[\u0100-\uffff]" * 2, "too wide"),
        ("src/{a,b", "never closed"),
        ("src/{a}", "without a comma"),
        ("src/{1..3}", "without a comma"),
        ("{{name}}/x", "without a comma"),
        ("{a,b}" * 7, "alternatives"),
        ("{a," * 240 + "b" + "}" * 240, "alternatives"),
        ("a" * 1001, "longer than"),
        ("\u200b", "read as `.`, `..` or nothing"),
        ("a/\u200d\ufe0f/b", "read as `.`, `..` or nothing"),
        ("a/\uff0e\uff0e/b", "read as `.`, `..` or nothing"),
    ],
)
def test_a_glob_of_doubtful_meaning_is_rejected_by_name_and_with_a_way_out(
    glob: str, found: str
) -> None:
    with pytest.raises(RegionInvalid) as caught:
        region(["ok/**", glob])
    assert caught.value.message.startswith(f"region glob {glob!r}"[:60])
    assert found in caught.value.message
    assert caught.value.hint


def test_one_glob_is_not_read_letter_by_letter() -> None:
    with pytest.raises(RegionInvalid, match="list of globs"):
        region("src")
    with pytest.raises(RegionInvalid, match="list of globs"):
        regions.score("src", ["src"])


@pytest.mark.parametrize(
    ("one", "other", "related"),
    [
        ("src", "srcs", False),
        ("src", "srcx/", False),
        ("src/", "src", True),
        ("src/a", "src/ab", False),
        ("src/a.py", "src/a.pyi", False),
        ("src", "src/a/b", True),
        ("**", "src", True),
        ("*.py", "docs", True),
        ("src/a?.py", "src/ab.py", True),
        ("src/[ab].py", "src/a.py", True),
        ("src/{a,b}.py", "src/a.py", True),
        ("./src", "src", True),
        ("docs/../src", "src", True),
        ("src/**", "docs/**", False),
        ("src-gen/**", "src/**", False),
        ("src/!a", "src/a", False),
    ],
)
def test_two_globs_overlap_when_one_folder_lies_in_the_other(
    one: str, other: str, related: bool
) -> None:
    a, b = region([one, "x1/**"]), region(["x2/**", other])
    assert regions.overlaps(a, b) is regions.overlaps(b, a) is related
    assert regions.disjoint(a, b) is not related
    expected = next(((mine, theirs) for mine in (one, "x1/**") for theirs in ("x2/**", other)
                     if regions.overlaps(region([mine]), region([theirs]))), None)  # fmt: skip
    assert regions.first_collision(a, b) == expected


SAME_NAMES = [
    ("É", "é", "e\u0301", "E\u0301"),
    ("straße", "STRASSE", "strasse", "STRAẞE"),
    ("İx", "ix", "i\u0307x", "IX", "ıx", "I\u0307x"),
    ("İ\u0323", "i\u0323", "ị", "I\u0323\u0307"),
    ("ΣΑΣ", "σας", "σασ"),
    ("K", "k", "\u212a"),
    ("Å", "å", "\u212b", "A\u030a"),
    ("ſ", "s", "S"),
    ("µ", "μ", "Μ"),
    ("ﬁle", "file", "FILE", "ﬁLE"),
    ("Ａ", "a"),
    ("각", "\u1100\u1161\u11a8"),
    ("ᾳ", "ᾼ", "αι", "ΑΙ"),
    ("a\u200cb", "ab", "a\u00adB"),
    ("❤\ufe0f", "❤"),
    ("a.", "a", "A ..", "a…"),
]


@pytest.mark.parametrize("spellings", SAME_NAMES)
def test_names_that_some_file_system_takes_for_one_are_never_disjoint(
    spellings: tuple[str, ...],
) -> None:
    for one, other in combinations(spellings, 2):
        assert regions.prefix(f"x/{one}/**") == regions.prefix(f"x/{other}/y/..")
        assert regions.overlaps(region([f"{one}/a*"]), region([f"{other}/b*"]))


def test_letters_that_only_look_alike_stay_apart() -> None:
    for one, other in [("z", "ż"), ("a", "а"), ("o", "0"), ("e", "é"), ("n", "ñ"), ("℀", "a/c")]:
        assert regions.disjoint(region([one]), region([other]))


@pytest.mark.parametrize("fold", [str.upper, str.lower, str.title, str.casefold, str.swapcase])
def test_changing_the_case_of_any_letter_changes_no_prefix(fold: Callable[[str], str]) -> None:
    for code in range(0x10000):
        letter = chr(code)
        if letter.isalpha() and letter != fold(letter):
            assert regions.prefix(f"x{letter}") == regions.prefix(f"x{fold(letter)}"), hex(code)


@pytest.mark.parametrize("form", ["NFC", "NFD", "NFKC", "NFKD"])
def test_changing_the_form_of_any_letter_changes_no_prefix(
    form: Literal["NFC", "NFD", "NFKC", "NFKD"],
) -> None:
    for code in range(0x10000):
        letter = chr(code)
        if letter.isalpha() and not unicodedata.is_normalized(form, letter):
            assert regions.prefix(f"x{letter}") == regions.prefix(
                f"x{unicodedata.normalize(form, letter)}"
            ), hex(code)


def test_a_region_keeps_its_globs_as_written_and_only_the_prefixes_that_say_something() -> None:
    made = region(["src/b/*.py", "SRC/**", "docs/x", "docs/x/y", "src"])
    assert made.globs == ("src/b/*.py", "SRC/**", "docs/x", "docs/x/y", "src")
    assert made.prefixes == ("docs/x/", "src/")
    assert region(["src", "*"]).prefixes == ("",)
    assert made.is_known
    assert msgspec.json.decode(msgspec.json.encode(made), type=regions.Region) == made


@pytest.mark.parametrize("other", [["src/**"], ["**"], []])
def test_a_region_of_which_nothing_is_known_overlaps_everything_and_contains_nothing(
    other: list[str],
) -> None:
    unknown = region([])
    assert not unknown.is_known
    assert regions.overlaps(unknown, region(other)) and regions.overlaps(region(other), unknown)
    assert regions.first_collision(unknown, region(other)) == ("", other[0] if other else "")
    assert not regions.contains_path(unknown, "src/a.py")
    assert not regions.contains_path(unknown, ".")


@pytest.mark.parametrize(
    ("glob", "inside", "outside"),
    [
        (
            "src",
            [
                "src",
                "src/a",
                "src/a/b",
                "SRC/a",
                "./src/a",
                "src//a",
                "x/../src/a",
                "src\\a",
                "src/",
            ],
            ["srcs/a"],
        ),
        ("src/", ["src", "src/a/b"], ["x/src", "a"]),
        (
            "src/**",
            ["src/a", "src/a/b", "src/.a"],
            ["srcs", "src/../a", "../src/a", "/src/a", "C:/src/a", "", " "],
        ),
        (
            "src/*.py",
            ["src/a.py", "src/.py", "src/A.PY", "src/a\nb.py"],
            ["src/x/a.py", "src/a.pyc", "src/a.py/b"],
        ),
        ("src/*", ["src/a"], ["src", "src/a/b"]),
        ("src/*/", ["src/a", "src/a/b"], ["src"]),
        ("src/*/api", ["src/a/api", "src/a/api/b"], ["src/api", "src/a/b/api"]),
        (
            "**/api/*.py",
            ["api/a.py", "x/api/a.py", "api/api/a.py", "x/y/api/a.py"],
            ["x/api/y/a.py", "api.py"],
        ),
        (
            "src/**/a/**/b",
            ["src/a/b", "src/x/a/y/b", "src/a/a/b", "src/a/b/a", "src/a/b/b/c"],
            ["src/b/a", "src/ab"],
        ),
        ("**", ["a", "a/b", "."], ["..", "C:/a", "c:a", "a\0b"]),
        ("*", ["a", "é"], ["a/b", "."]),
        (".", ["a", "a/b", "."], ["../a"]),
        ("a?c", ["abc", "aéc", "ae\u0301c", "a[c"], ["ac", "abbc", "a/c"]),
        ("[ab]x", ["ax", "Bx"], ["cx", "abx", "[ab]x"]),
        ("[!ab]x", ["cx", "!x"], ["ax", "Bx", "x"]),
        ("[^ab]x", ["cx", "^x"], ["ax"]),
        ("[]a]x", ["]x", "ax"], ["bx"]),
        ("[A-C]x", ["bx", "Bx"], ["dx", "-x"]),
        ("[b-d]x", ["bx", "Cx", "dx"], ["ax", "ex", "zx", "-x"]),
        ("[0-9]x", ["0x", "9x"], ["ax", "-x", ":x"]),
        ("[!0-9A-F]x", ["gx", "Gx"], ["0x", "fx", "Fx"]),
        ("[À-Þ]x", ["éx", "Éx", "E\u0301x"], ["ex", "ÿx"]),
        ("[Z-a]x", ["zx", "ax", "_x"], ["bx"]),
        ("[é]x", ["e\u0301x", "Éx"], ["ex"]),
        ("[a-]x", ["-x", "ax"], ["bx"]),
        ("a[+-9]b", ["a5b"], ["a/b"]),
        ("a[!x]b", ["a-b"], ["a/b"]),
        ("x.{js,ts}", ["x.js", "x.ts", "x.ts/y"], ["x.", "x.jsts", "x.{js,ts}"]),
        ("{a,b/c}/*.py", ["a/x.py", "b/c/x.py"], ["b/x.py", "c/x.py"]),
        ("x{a,{b,c}d}y", ["xay", "xbdy", "xcdy"], ["xby", "xady"]),
        ("[[]id].py", ["[id].py"], ["i.py"]),
        ("[{]a}", ["{a}"], ["a"]),
        ("a**b", ["ab", "axxb"], ["a/b"]),
        ("*a*b*", ["ab", "xaxbx", "abxa"], ["ba", "a/b"]),
        ("*ab", ["abab", "aab"], ["aba"]),
        ("a.b", ["a.b"], ["axb"]),
        ("straße/*", ["STRASSE/x"], ["strase/x"]),
    ],
)
def test_a_path_is_inside_by_the_real_meaning_of_the_glob(
    glob: str, inside: list[str], outside: list[str]
) -> None:
    made = region(["elsewhere/**", glob])
    assert [path for path in inside if not regions.contains_path(made, path)] == []
    assert [path for path in outside if regions.contains_path(made, path)] == []


@pytest.mark.parametrize(
    ("glob", "path"),
    [
        ("*a" * 499 + "b", "a" * 4000),
        ("**/a/" * 199 + "b", "a/" * 2000),
        ("**/*a*a*a/" * 90 + "b", "aaaaaaaa/" * 500),
        ("{a,b}" * 6 + "*[a-z]" * 150 + "!", "a" * 4000),
    ],
)
def test_a_hostile_glob_is_answered_without_trying_every_split(glob: str, path: str) -> None:
    assert len(glob) <= globs.MAX_GLOB_CHARACTERS
    assert not regions.contains_path(
        region([glob]), path
    )  # tried every way, this outlives the test's time limit


def test_all_overlapping_pairs_are_found_without_unknown_regions_being_lost() -> None:
    many = [
        region(list(each)) for each in (["a"], ["b", "a/x"], [], ["c"], ["a/x/y", "b/z"], ["C/**"])
    ]
    assert sorted(regions.overlapping_pairs(many)) == [
        (0, 1), (0, 2), (0, 4), (1, 2), (1, 4), (2, 3), (2, 4), (2, 5), (3, 5),
    ]  # fmt: skip
    assert (
        list(regions.overlapping_pairs([])) == list(regions.overlapping_pairs([region([])])) == []
    )


@pytest.mark.parametrize(
    ("a", "b", "conflict"),
    [
        (Mode.SHARED, Mode.SHARED, False),
        (Mode.SHARED, Mode.EXCLUSIVE, True),
        (Mode.EXCLUSIVE, Mode.SHARED, True),
        (Mode.EXCLUSIVE, Mode.EXCLUSIVE, True),
    ],
)
def test_only_readers_share_a_region(a: Mode, b: Mode, conflict: bool) -> None:
    assert regions.modes_conflict(a, b) is conflict
    assert regions.conflict(region(["a"]), a, region(["a/b"]), b) is conflict
    assert regions.conflict(region([]), a, region(["a/b"]), b) is conflict
    assert not regions.conflict(region(["a"]), a, region(["b"]), b)


@pytest.mark.parametrize(
    ("requested", "held", "tolerant", "strict"),
    [
        ("a/**", "b/**", "admit_disjoint", "admit_disjoint"),
        ("a/**", "a/**", "refuse_exact_glob", "refuse_exact_glob"),
        ("a/x", "a/**", "refuse_overlap", "refuse_overlap"),
        ("a/x b", "a/**", "refuse_overlap", "refuse_overlap"),
        ("a/x b c", "a/**", "admit_soft", "refuse_overlap"),
        ("a/** p1 p2 p3 p4 p5", "a/**", "refuse_exact_glob", "refuse_exact_glob"),
        ("**/*", "a/**", "refuse_overlap", "refuse_overlap"),
        ("a/**", "**/*", "refuse_overlap", "refuse_overlap"),
        ("**/*", "**", "refuse_overlap", "refuse_overlap"),
        ("A/x.py", "a/x.py", "refuse_exact_glob", "refuse_exact_glob"),
        ("", "a/**", "admit_disjoint", "admit_disjoint"),
        ("a", "", "refuse_overlap", "refuse_overlap"),
    ],
)
def test_a_request_is_scored_against_what_is_held(
    requested: str, held: str, tolerant: str, strict: str
) -> None:
    assert regions.score(requested.split(), held.split(), ratio_max=THIRD).verdict == tolerant
    assert regions.score(requested.split(), held.split()).verdict == strict


def test_tolerance_cannot_be_bought_with_blanks_or_repetition() -> None:
    padded = regions.score(["a/x", "b", "", " ", "\t", "b/", "./b"], ["a/**", ""], ratio_max=THIRD)
    assert (padded.verdict, padded.shared, padded.requested) == (Verdict.REFUSE_OVERLAP, 1, 2)
    assert not padded.admissible
    assert regions.score(["a/x", "b", "c"], ["a/**"], ratio_max=THIRD).admissible


def test_an_exact_refusal_quotes_up_to_three_globs_as_the_requester_wrote_them() -> None:
    reason = regions.score(["A/**", "a", "b\\", "c", "d"], ["a", "b", "c", "d"]).reason
    assert "exact-glob" in reason
    assert all(repr(glob) in reason for glob in ("A/**", "b\\", "c"))
    assert "'d'" not in reason


@pytest.mark.parametrize("ratio", [float("nan"), -0.1, 1.1, float("inf")])
def test_a_tolerance_that_is_no_share_is_refused(ratio: float) -> None:
    with pytest.raises(BadInput, match="tolerance"):
        regions.score(["a"], ["b"], ratio_max=ratio)
