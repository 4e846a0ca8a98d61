"""Every option of every verb, with values that nobody should give it: an answer or a clear error,
never a traceback."""

import re

import pytest

from dos.verbs import lookup
from dos.verbs.listing.table import VERBS

# No path of a real file elsewhere: some of these options write.
TEXTS = [
    "", " ", "\t", "a\nb", "\x1b[31mred", "\u202etxt.exe", "a\x9b2J", "a\u2028b", "a\0b", "\udc80",
    "x" * 5_000, "/", ".", "..", "/nosuch/dir/file", "../x", "/dev/full", "nonsense", "-", "NaN",
    "-1", "%s{0}", "[", "日本", "api/a.txt", "api/binary", "HEAD~99",
    "postgresql://nobody@127.0.0.1:1/none",
]  # fmt: skip
NUMBERS = [
    "", " ", "nonsense", "nan", "inf", "-inf", "-1", "-0.5", "0", "1e-320", "1e308", "4e18",
    "4611686018427387903", "9" * 30, "9" * 5_000, "1_000", "0x10", "1e3", "--", "\x1b[31m",
]  # fmt: skip

RUN = "RID-0123456789ABCDE"

# What each verb needs beside the option that is tried, so that it comes as far as it can and ends
# at once.
BESIDE = {
    "init": {"directory": ".", "--dry-run": None},
    "worker": {"--lane": "nosuch"},
    "decisions add": {"--kind": "REVIEW", "--lane": "api", "--text": "t"},
    "decisions answer": {"decision": "x", "choice": "y"},
    "decide-for": {"decision": "x", "choice": "y"},
    "lease-lane acquire": {"--owner": "B", "--lane": "docs"},
    "lease-lane heartbeat": {"--owner": "A", "--lane": "api"},
    "lease-lane release": {"--owner": "A", "--lane": "api"},
    "lease-lane adopt": {"--owner": "N", "--lane": "api"},
    "lease-lane wait": {"--lane": "docs", "--timeout": "0"},
    "lease-lane spawn": {"--lane": "api"},
    "scope-gate": {"--lane": "api"},
    "lease acquire": {"owner": "A", "--retries": "0"},
    "lease release": {"owner": "A"},
    "journal show": {"pos": "1"},
    "journal import": {"file": "dos.toml"},
    "id-alloc allocate": {"scope": "s"},
    "id-alloc peek": {"scope": "s"},
    "run-id mint": {"process": "p"},
    "config get": {"key": "supervise.target"},
    "config set": {"key": "supervise.target", "value": "3"},
    "config unset": {"key": "supervise.target"},
    "man": {"section": "lane"},
    "reconcile": {"unit": "P/1"},
    "enumerate": {"plan_doc": "dos.toml"},
    "cooldown": {"unit": "P/1"},
    "pick-priority": {"unit": "P/1"},
    "health": {"--lane": "api"},
    "attempt": {"unit": "P/1", "--outcome": "drained"},
    "run claim": {"run": RUN, "step": "s"},
    "run verify": {"run": RUN, "step": "s"},
    "run suspend": {"run": RUN},
    "run end": {"run": RUN, "--result": "failed"},
    "resume": {"--run-id": RUN},
    "rewind": {"--run-id": RUN},
    "complete": {"--run-id": RUN},
    "halt": {"--handle": "1"},
    "logs": {"lane": "api"},
    "trace": {"run_id": RUN},
    "liveness": {"--run-id": RUN},
    "decide": {"--outcome": '{"kind":"UNCLEAR"}'},
    "completion": {"what": "lanes"},
    "attest": {"--claim": "c", "--accept-cmd": "true"},
    "receipt": {"plan": "P", "unit": "1"},
    "witness": {"key": "k", "--source": "file"},
    "reward": {"--source": "file=api/a.txt"},
    "judge": {"claim": "c", "--judge": "similarity", "--evidence": "c"},
    "judge-eval": {"--cases": "dos.toml"},
    "coverage": {"--declared": "2", "--states": "HEALTHY"},
    "arg-provenance": {
        "--tool": "update_user",
        "--args": '{"user_id": "usr_4711"}',
        "--prior": "x",
    },
    "hook-exit": {"--code": "7"},
    "plan add": {"unit": "P/9", "title": "t"},
    "steer": {"run": RUN, "message": "m"},
    "memory recall": {"name": "x"},
    "hook stop": {"--plan": "P", "--phase": "1"},
}
TRIED = [
    (name, field)
    for name, verb in VERBS.items()
    for field in lookup.arguments(verb)
    if field.type is not bool
]  # fmt: skip
PYTHONISMS = re.compile(
    r"Traceback|\[Errno|<class|PosixPath|object at 0x|NoneType|bug in dos|invalid literal|"
    r"could not convert|codec can't"
    r"|==SUPPRESS==|unhashable|argument of type|Error:"
)
CONTROLS = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")


def words(name, field, value):
    """The verb with one of its options set to the value, and whatever else it cannot do without."""
    beside = BESIDE.get(name, {})
    places = [argument for argument in lookup.arguments(VERBS[name]) if argument.option.positional]
    flags = [
        flag if given is None else f"{flag}={given}"
        for flag, given in beside.items()
        if flag.startswith("--")
    ]
    if not field.option.positional:
        flags = [flag for flag in flags if not flag.startswith(f"{field.flag}=")] + [
            f"{field.flag}={value}"
        ]
    bare = [
        value if path == field else beside[path.name]
        for path in places
        if path == field or path.name in beside
    ]
    return [*name.split(), *flags, *(["--", *bare] if bare else [])]


@pytest.fixture
def busy(dos, workspace):
    """A workspace in which something is going on."""
    (workspace / "api" / "binary").write_bytes(bytes(range(256)) * 40)
    dos("lease-lane", "acquire", "--lane", "api", "--owner", "A")
    dos("lease", "acquire", "A")
    dos("id-alloc", "allocate", "s")
    return dos


RUN_A_FLEET = ("demo", "quickstart", "serve")  # for most values of their options
QUICK = [(name, field) for name, field in TRIED if name not in RUN_A_FLEET]


@pytest.mark.sampled(10)
@pytest.mark.parametrize(
    ("name", "field"), QUICK, ids=[f"{name} {field.label}" for name, field in QUICK]
)
def test_no_value_of_any_option_gets_more_than_a_clear_answer(busy, name, field):
    codes = lookup.exit_codes(VERBS[name]).values()
    for value in NUMBERS if field.type in (int, float) else TEXTS:
        answer = busy(*words(name, field, value))
        assert answer.code in codes, (value, answer)
        assert not PYTHONISMS.search(answer.out + answer.err), (value, answer)
        assert not CONTROLS.search(answer.out + answer.err), (value, answer)
        if answer.code == 2:
            assert answer.err.startswith("error: ") and "hint: " in answer.err, (value, answer)
    assert busy("journal", "check").code == 0


@pytest.mark.sampled(3)
@pytest.mark.parametrize(
    ("name", "field"),
    [(name, field) for name, field in TRIED if not field.option.may_be_empty],
    ids=lambda each: getattr(each, "label", each),
)
def test_an_empty_value_is_a_mistake_and_never_means_not_given(dos, state, name, field):
    for value in ("", "  "):
        answer = dos(*words(name, field, value))
        assert (
            answer.code == (0 if name.startswith("hook ") else 2) and answer.out == ""
        )  # a hook denies nothing
        assert field.label in answer.err or field.metavar in answer.err
    assert not state.exists()


@pytest.mark.sampled(3)
@pytest.mark.parametrize("flag", ["--workspace", "--output", "--driver"])
@pytest.mark.parametrize("value", TEXTS, ids=ascii)
def test_no_value_of_a_flag_that_every_verb_has_does_either(dos, flag, value):
    answer = dos("journal", "seq", f"{flag}={value}")
    assert answer.code in (0, 2)
    assert not PYTHONISMS.search(answer.err) and not CONTROLS.search(answer.out + answer.err)
    assert answer.code == 0 or "hint: " in answer.err
