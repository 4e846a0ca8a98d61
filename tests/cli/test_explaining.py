"""Help, man and exit-codes: what there is to type, what an answer means, what a name stands for."""

import pytest

from dos.cli.help import COMMON_VERBS
from dos.loop import tokens
from dos.verbs import lookup
from dos.verbs.listing.table import VERBS
from dos.verbs.listing.verb import ANYONE, GROUPS

FAMILIES = sorted(
    {name.split()[0] for name in VERBS if " " in name and name.split()[0] not in VERBS}
)


@pytest.mark.parametrize("name", VERBS)
def test_every_verb_explains_itself(name, dos):
    verb = VERBS[name]
    module = lookup.load_module(verb)
    assert verb.summary and verb.group in GROUPS
    assert module.__doc__ and module.EXITS and 0 in module.EXITS.values()
    answer = dos(*name.split(), "--help")
    assert answer.code == 0 and answer.out.startswith(f"usage: dos {name}")
    assert "exit codes:" in answer.out
    assert all(f" {lookup.exit_words(token)}\n" in answer.out for token in module.EXITS)
    assert dos("help", *name.split()).out == answer.out == dos("man", *name.split()).out


SHARED_MODULES = ("dos.cli.decisions.answer", "dos.cli.fleet.demo")


@pytest.mark.parametrize("name", VERBS)
def test_a_help_line_is_a_short_imperative_and_the_first_line_of_the_docstring(name):
    verb = VERBS[name]
    assert len(verb.summary) <= 60 and verb.summary[0].isupper()
    assert not verb.summary.endswith((".", "?"))
    if verb.module not in SHARED_MODULES:
        assert lookup.load_module(verb).__doc__.splitlines()[0] == f"{verb.summary}."


def test_the_overview_lists_twelve_common_verbs_and_then_every_other_under_its_group(dos):
    text = dos("--help").out
    assert text == dos("help").out == dos().out
    for verb in VERBS.values():
        assert text.count(f"\n  {verb.name}  ") == 1
    listed = [line.split()[0] for line in text.splitlines() if line.startswith("  ")]
    assert listed[:12] == list(COMMON_VERBS)
    for group in {verb.group for verb in VERBS.values()}:
        assert f"\n{GROUPS[group]}:" in text


@pytest.mark.parametrize("first", FAMILIES)
def test_the_first_word_of_a_family_alone_lists_the_family(first, dos):
    asked, bare, helped = dos(first, "--help"), dos(first), dos("help", first)
    # To an agent program, which has no terminal, exit code 2 of a hook would deny its tool call.
    refused = (0, "warning: ") if first == "hook" else (2, "error: ")
    assert (asked.code, helped.code) == (0, 0)
    assert (bare.code, bare.out) == (refused[0], "") and bare.err.startswith(refused[1])
    for name in (name for name in VERBS if name.startswith(f"{first} ")):
        assert name in asked.out and name in helped.out
        assert name.split()[1] in bare.err


def test_help_without_a_workspace_still_helps(dos, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert dos("help", "doctor").code == 0
    assert dos("exit-codes").code == 0
    assert dos("man", "doctor").code == 0


def test_exit_codes_are_those_of_every_verb(dos):
    table = dos("exit-codes", "--json").json
    assert table.keys() == VERBS.keys()
    assert all(exits["contract_error"] == 2 for exits in table.values())
    assert table["lint"] == {"clean": 0, "findings": 1, "contract_error": 2}
    assert table == dos("doctor", "--json").json["exit_codes"]


@pytest.mark.parametrize("name", VERBS)
def test_the_exit_codes_are_read_as_the_verb_has_them(name):
    verb = VERBS[name]
    refused = {} if verb.allowed == ANYONE else {"not_permitted": 77}  # to agents of the fleet
    assert lookup.exit_codes(verb) == {
        **lookup.load_module(verb).EXITS,
        **refused,
        "contract_error": 2,
    }


def test_the_scope_gate_lists_what_its_verdict_can_be():
    from dos.lanes.scope import EXIT_CODES

    assert {answer.value: code for answer, code in EXIT_CODES.items()}.items() <= lookup.exit_codes(
        VERBS["scope-gate"]
    ).items()


@pytest.mark.parametrize(
    ("words", "names"),
    [
        (("lint",), {"lint"}),
        (("config", "get"), {"config get"}),
        (("config",), {n for n in VERBS if "config " in n}),
    ],
)
def test_exit_codes_of_one_verb_or_family(words, names, dos):
    assert dos("exit-codes", *words, "--json").json.keys() == names


def test_an_unknown_verb_is_a_contract_error_everywhere(dos):
    for words in (("exit-codes", "lnt"), ("help", "lnt"), ("man", "lnt"), ("lnt",)):
        answer = dos(*words)
        assert answer.code == 2 and "did you mean `dos lint`" in answer.err


@pytest.mark.parametrize(
    ("words", "meant"),
    [
        (["config", "gte"], "dos config get"),
        (["lease-lan", "live"], "dos lease-lane live"),
        (["lease-lan", "liv"], "dos lease-lane live"),
        (["jurnal"], "dos journal"),
        (["jurnal", "--json"], "dos journal"),
        (["leas", "status"], "dos lease status"),
        (["statsu", "api"], "dos status"),
        (["help", "lease-lan", "live"], "dos lease-lane live"),
        (["exit-codes", "lease-lan", "live"], "dos lease-lane live"),
    ],
    ids=" ".join,
)
def test_mistyped_words_are_answered_with_the_nearest_verb(dos, words, meant):
    answer = dos(*words)
    assert answer.code == 2 and f"did you mean `{meant}`?" in answer.err


def test_lanes_are_listed_with_their_kinds(dos):
    assert dos("man", "lane").out.splitlines() == [
        "api     concurrent",
        "docs    concurrent",
        "worker  concurrent",
        "global  exclusive",
    ]


@pytest.mark.parametrize("name", ["api", "API", "backend"])
def test_a_lane_is_explained_by_any_of_its_names(name, dos):
    lane = dos("man", "lane", name, "--json").json
    assert (lane["lane"], lane["kind"], lane["tree"]) == ("api", "concurrent", ["api/**"])
    assert lane["aliases"] == ["backend"] and lane["held_by"] is None
    assert (lane["section"], lane["name"]) == ("lane", "api")
    assert "TREE         api/**" in dos("man", "lane", name).out


def test_a_lane_says_who_holds_it(dos):
    assert dos("lease-lane", "acquire", "--lane", "api", "--owner", "A").code == 0
    assert dos("man", "lane", "api", "--json").json["held_by"].startswith("A, fence ")


def test_an_unknown_lane_exits_1_with_the_known_ones(dos):
    answer = dos("man", "lane", "nowhere")
    assert answer.code == 1 and "api" in answer.err and answer.out == ""


def test_reasons_are_listed_and_explained(dos):
    listed = dos("man", "wedge").out
    assert "LANE_DRAINED" in listed and "TRUE_DRAIN" in listed and "iteration-cap" in listed
    assert dos("man", "decision-needed").out == dos("man", "wedge", "decision-needed").out
    page = dos("man", "wedge", "lane_held").out
    for label in ("NAME", "CATEGORY", "REFUSAL?", "TYPICAL FIX", "SEE ALSO", "LIVE"):
        assert label in page
    assert "next: " in dos("man", "wedge", "LANE_HELD", "--explain").out
    explained = dos("man", "wedge", "lane_held", "--output", "json").json
    assert (explained["section"], explained["key"]) == ("wedge", "LANE_HELD")


@pytest.mark.parametrize(
    ("token", "kind", "clears_by"),
    [
        ("LANE_HELD", "refusal", "other-worker"),
        ("soak_open", "hold", "time"),
        ("operator_decision", "cause", "operator"),
        ("stale_claim_false_block", "cause", "code-fix"),
        ("RESULT_EMPTY", "result", "operator"),
        ("iteration-cap", "stop", "nobody"),
    ],
)
def test_every_kind_of_reason_says_what_clears_it(token, kind, clears_by, dos):
    row = dos("man", "wedge", token, "--json").json
    assert (row["kind"], row["clears_by"]) == (kind, clears_by)
    assert f"CLEARED BY   {tokens.words(clears_by)}" in dos("man", "wedge", token).out
    assert row["token"] in dos("man", "wedge").out


def test_a_reason_of_the_workspace_is_explained_too(workspace, dos):
    with (workspace / "dos.toml").open("a") as file:
        file.write(
            '\n[reasons.VENDOR]\ncategory = "OPERATOR_GATE"\nsummary = "Waits."\n'
            'fix = "Call them."\n'
        )
    row = dos("man", "wedge", "vendor", "--json").json
    assert (row["token"], row["category"], row["fix"], row["built_in"]) == (
        "VENDOR",
        "OPERATOR_GATE",
        "Call them.",
        False,
    )


def test_an_unknown_reason_exits_1_with_a_guess(dos):
    answer = dos("man", "wedge", "SOMETHING_DRAINED", "--json")
    assert answer.code == 1 and answer.json["category"] == "TRUE_DRAIN"
    assert dos("man", "wedge", "PROPAGATE_FIX", "--json").json["category"] == "UNCLASSIFIED"


def test_a_reason_names_the_lanes_that_stopped_for_it(workspace, dos):
    from dos import workspace as places
    from dos.journal.events.fleet import RunStopped
    from dos.world import open_journal

    with open_journal(places.find(workspace), "") as journal:
        fact = RunStopped(
            run_id="RID-1", lane="api", stop_reason="blocked", needs="operator", reason="x"
        )
        journal.record("run/RID-1", fact)
    assert dos("man", "wedge", "blocked", "--json").json["live"] == ["api"]
    assert dos("man", "wedge", "drain", "--json").json["live"] == []


def test_the_version_is_the_packages(dos):
    from importlib.metadata import version

    assert dos("--version").out == f"dos {version('dispatch-os')}\n"
    assert dos("version", "--json").json["dos_version"] == version("dispatch-os")
    assert dos("--version", "--json").json == dos("version", "--json").json


@pytest.mark.parametrize("flag", [["--driver", "x"], ["--job"]])
def test_a_driver_is_refused_and_not_ignored(flag, dos):
    answer = dos(*flag, "status")
    assert answer.code == 2 and "driver" in answer.err


def test_an_argument_that_may_be_left_out_is_not_called_missing(dos):
    missing = dos("man")
    assert missing.code == 2
    assert missing.err.startswith("error: dos man: the following arguments are required: SECTION\n")
    assert dos("man", "lane").code == dos("man", "lane", "api").code == 0
