"""Whoever breaks dos.toml keeps nobody from giving a lane back: what needs only the journal goes on
past the errors."""

import pytest

UNKNOWN_KEY = "[lanes]\nconcurent = ['api']\n"
NOT_TOML = "[lanes\nconcurrent = ['api']\n"
# Each verb that needs nothing of dos.toml but [store], with what it answers where A holds api and
# the archive lock.
JOURNAL_ONLY = {
    ("lease-lane", "heartbeat", "--lane", "api", "--owner", "A"): 0,
    ("lease-lane", "release", "--lane", "api", "--owner", "A"): 0,
    ("lease-lane", "release", "--lane", "docs", "--owner", "A"): 1,
    ("lease-lane", "live"): 0,
    ("lease", "acquire", "A"): 0,
    ("lease", "release", "A"): 0,
    ("lease", "status"): 0,
    ("down", "--timeout", "0"): 0,
    ("journal", "tail"): 0,
    ("journal", "show", "1"): 0,
    ("journal", "check"): 0,
    ("journal", "seq"): 0,
    ("journal", "export"): 0,
    ("journal", "replay"): 0,
    ("id-alloc", "allocate", "s"): 0,
    ("id-alloc", "peek", "s"): 0,
    ("run-id", "mint", "p", "--write"): 0,
}
BY_POLICY = [
    ("arbitrate",),
    ("lease-lane", "acquire", "--owner", "B"),
    ("lease-lane", "wait", "--lane", "api"),
    ("lease-lane", "adopt", "--lane", "api", "--owner", "B"),
    ("lease-lane", "spawn", "--lane", "api"),
    ("scope-gate", "--lane", "api", "--file", "api/a"),
    ("journal", "prune"),
    ("up",),
    ("worker", "--lane", "api"),
]


@pytest.fixture
def held(dos):
    """A holds the lane api and the archive lock."""
    dos("lease-lane", "acquire", "--lane", "api", "--owner", "A")
    dos("lease", "acquire", "A")
    return dos


@pytest.fixture
def write(workspace):
    return (workspace / "dos.toml").write_text


@pytest.mark.sampled(2)
@pytest.mark.parametrize("text", [UNKNOWN_KEY, NOT_TOML], ids=["unknown key", "not TOML"])
@pytest.mark.parametrize("flags", [(), ("--lenient",)], ids=["strict", "lenient"])
@pytest.mark.parametrize(
    ("words", "code"), JOURNAL_ONLY.items(), ids=[" ".join(words) for words in JOURNAL_ONLY]
)
def test_a_verb_that_needs_only_the_journal_goes_on_with_one_warning(
    held, write, words, code, flags, text
):
    before = held(*words).out if words[:2] in (("journal", "tail"), ("journal", "show")) else None
    write(text)
    answer = held(*words, *flags)
    assert answer.code == code, answer
    assert (
        answer.err.startswith("warning: ")
        and "dos.toml:" in answer.err
        and answer.err.count("\n") == 1
    )
    assert before in (None, answer.out)


@pytest.mark.parametrize("words", BY_POLICY, ids=" ".join)
@pytest.mark.parametrize("flags", [(), ("--lenient",)], ids=["strict", "lenient"])
def test_a_verb_that_judges_by_policy_still_refuses(held, write, words, flags):
    write(UNKNOWN_KEY)
    answer = held(*words, *flags)
    assert answer.code == 2 and answer.err.startswith("error: ") and "dos.toml:2" in answer.err


@pytest.mark.parametrize(
    "text",
    [
        "[store]\nurl = 7\n",
        '[store]\nulr = "sqlite:x.db"\n',
        "[lanes\n[store]\nurl = sqlite\n",
        '[lanes\nstore.url = "sqlite:x.db"\n',
        '[lanes\n[[store]]\nurl = "sqlite:x.db"\n',
        '[lanes\n"store" = { url = "sqlite:x.db" }\n',
        '[store]\nurl = ""\n[store]\nurl = "sqlite:x.db"\n',
        '[lanes\n[store]\nurl = "sqlite:elsewhere.db"\n',
        "\0",
    ],
)
def test_a_store_that_nobody_can_tell_is_an_error_and_never_the_default(held, write, state, text):
    before = sorted(state.iterdir())
    write(text)
    answer = held("lease-lane", "release", "--lane", "api", "--owner", "A")
    assert answer.code == 2 and answer.err.startswith("error: ") and "hint: " in answer.err
    assert sorted(state.iterdir()) == before


@pytest.mark.parametrize("newline", ["\n", "\r\n"])
def test_the_store_of_a_file_that_is_not_toml_is_the_one_that_it_names(dos, write, state, newline):
    named = '[store]  # ours\nurl = "sqlite:other.db"\n'
    write(named)
    assert dos("lease-lane", "acquire", "--lane", "main", "--owner", "A").code == 0
    assert (state / "other.db").exists()
    write(f"[lanes\n{named}[workers]\n".replace("\n", newline))
    answer = dos("lease-lane", "release", "--lane", "main", "--owner", "A")
    assert (answer.code, answer.json["released"]) == (0, True)
    assert not (state / "state.db").exists()


def test_a_broken_file_without_any_journal_is_an_error(dos, write, state):
    write(NOT_TOML)
    assert dos("lease", "acquire", "A").code == 2
    assert not state.exists()


def test_many_errors_are_still_one_line(held, write):
    write("[lanes]\na = 1\nb = 2\n[supervise]\nc = 3\n")
    answer = held("journal", "seq")
    assert (
        answer.code == 0 and answer.err.count("\n") == 1 and "`dos lint` shows 2 more" in answer.err
    )


@pytest.mark.parametrize(
    "words",
    [("config", "show"), ("man", "lane"), ("completion", "lanes"), ("status",)],
    ids=" ".join,
)
def test_reading_the_policy_past_its_errors_has_to_be_asked_for_and_is_said(dos, write, words):
    write(UNKNOWN_KEY)
    assert dos(*words).code == 2
    answer = dos(*words, "--lenient")
    assert answer.code == 0 and answer.err.startswith("warning: ") and answer.err.count("\n") == 1


def test_a_lane_is_not_called_unknown_by_a_file_that_has_errors(held, write):
    write(UNKNOWN_KEY)
    answer = held("lease-lane", "heartbeat", "--lane", "nosuch", "--owner", "A")
    assert (answer.code, answer.json["beat"]) == (1, False)


LANES = "[lanes]\nconcurrent = ['api']\n[lanes.trees]\napi = ['api/**']\n"


@pytest.mark.parametrize(
    ("table", "value", "known"),
    [
        ("[overlap]\npolicy", "jaccard", '"prefix"'),
        ("[verify]\nnon_git_oracle", "ci-status", '"ci_status"'),
    ],
)
def test_a_rule_of_a_name_that_nobody_has_is_refused_and_the_known_one_is_taken(
    dos, write, table, value, known
):
    write(f"{LANES}{table} = '{value}'\n")
    linted = dos("lint", "--json")
    (finding,) = linted.json["findings"]
    assert (linted.code, finding["kind"]) == (1, "CONFIG_INVALID")
    assert known in finding["detail"] and value in finding["detail"]
    refused = dos("arbitrate", "--lane", "api")
    assert (refused.code, refused.out) == (2, "")
    assert "dos.toml:6" in refused.err and known in refused.err
    write(f"{LANES}{table} = {known}\n")
    assert dos("lint", "--json").code == 0
    assert dos("arbitrate", "--lane", "api").json["outcome"] == "acquire"
