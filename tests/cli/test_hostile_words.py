"""Whatever is typed: a clear error or a safe record, never a traceback, never a file outside the
state directory."""

from importlib import import_module

import pytest
from commanding import in_process
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from dos.verbs.listing.table import VERBS

pytestmark = pytest.mark.sampled(3)

UNUSABLE = ["a\nb", "a\rb", "a\u2028b", "a\u2029b", "a\x00b", "\x1b[31mred", "a\x85b", "x" * 10_000]
ODD = [
    "..",
    "../../../x",
    "/etc/passwd",
    "a'b\"c",
    "$(touch x)",
    "`touch x`",
    "a;b",
    "CON",
    "a\\b",
    "ü",
    "日本",
    "-",
    "%s{0}",
]

# Each slot that takes a name, as the words around it.
NAMED = {
    "owner": ["lease-lane", "acquire", "--lane", "api", "--owner={}"],
    "any owner": ["lease-lane", "acquire", "--any", "--owner={}"],
    "kind": ["lease-lane", "acquire", "--lane=hot", "--tree=lib/**", "--owner=A", "--kind={}"],
    "own lane": [
        "lease-lane",
        "acquire",
        "--kind=keyword",
        "--tree=lib/**",
        "--owner=A",
        "--lane={}",
    ],
    "loop stamp": ["lease-lane", "acquire", "--lane=api", "--owner=A", "--loop-ts={}"],
    "renewed lane": ["lease-lane", "heartbeat", "--owner=A", "--lane={}"],
    "renewing owner": ["lease-lane", "heartbeat", "--lane=api", "--owner={}"],
    "releasing owner": ["lease-lane", "release", "--lane=api", "--owner={}"],
    "release reason": ["lease-lane", "release", "--lane=api", "--owner=A", "--reason={}"],
    "adopting owner": ["lease-lane", "adopt", "--lane=api", "--owner={}"],
    "adopted lane": ["lease-lane", "adopt", "--owner=N", "--lane={}"],
    "reaped lane": ["lease-lane", "reap", "--lane={}"],
    "spawned lane": ["lease-lane", "spawn", "--lane={}"],
    "spawning owner": ["lease-lane", "spawn", "--lane=api", "--owner={}"],
    "awaited lane": ["lease-lane", "wait", "--timeout=0", "--lane={}"],
    "arbitrated lane": ["arbitrate", "--tree=lib/**", "--lane={}"],
    "arbitrated kind": ["arbitrate", "--lane=api", "--kind={}"],
    "gated lane": ["scope-gate", "--file=api/a", "--lane={}"],
    "lock owner": ["lease", "acquire", "--retries=0", "--", "{}"],
    "lock releaser": ["lease", "release", "--", "{}"],
    "scope": ["id-alloc", "allocate", "--", "{}"],
    "peeked scope": ["id-alloc", "peek", "--", "{}"],
    "process": ["run-id", "mint", "--write", "--", "{}"],
    "attempted unit": ["attempt", "--outcome=error", "--", "{}"],
    "attempted lane": ["attempt", "U", "--outcome=error", "--lane={}"],
    "attempting loop": ["attempt", "U", "--outcome=error", "--loop-ts={}"],
    "resting unit": ["cooldown", "--", "{}"],
    "sorted unit": ["pick-priority", "--", "{}"],
    "offered unit": ["pickable", '--state={"x": 1}', "--", "{}"],
    "launching lane": ["health", "--tree=lib/**", "--lane={}"],
    "reconciled unit": ["reconcile", "--no-oracle-shipped", "--", "{}"],
    "reconciled plan": ["reconcile", "U1", "--phase=U1", "--plan={}"],
    "reconciled phase": ["reconcile", "U1", "--plan=A", "--phase={}"],
    "planned pair": ["plan", "--", "{}", "U1"],
    "enumerated series": ["enumerate", "docs/a.txt", "--series={}"],
    "goal": ["run", "begin", "--goal={}"],
    "planned run": ["run", "begin", "--plan={}"],
    "phase": ["run", "begin", "--goal=g", "--phase={}"],
    "step": ["run", "begin", "--step={}"],
    "approver": ["run", "begin", "--goal=g", "--approve={}"],
    "handle": ["halt", "--handle={}"],
    "halting owner": ["halt", "--handle=h", "--owner={}"],
    "halted lane": ["halt", "--handle=h", "--lane={}"],
    "halted loop": ["halt", "--handle=h", "--loop-ts={}"],
    "halting command": ["halt", "--handle=h", "--command={}"],
    "halt reason": ["halt", "--handle=h", "--reason={}"],
    "stream": ["journal", "tail", "--stream={}"],
    "exported stream": ["journal", "export", "--stream={}"],
}
# A lane that must have been declared, or held before.
MUST_BE_KNOWN = {
    "halted lane",
    "awaited lane",
    "renewed lane",
    "adopted lane",
    "reaped lane",
    "spawned lane",
}
RUN_IDS = {
    "lease": ["lease-lane", "acquire", "--lane=api", "--owner=A", "--run-id={}"],
    "adopt": ["lease-lane", "adopt", "--lane=api", "--owner=A", "--run-id={}"],
    "spawn": ["lease-lane", "spawn", "--lane=api", "--run-id={}"],
    "attempt": ["attempt", "U", "--outcome=error", "--run-id={}"],
    "begun": ["run", "begin", "--goal=g", "--run-id={}"],
    "gone on with": ["run", "begin", "--resumes={}"],
    "claimed": ["run", "claim", "{}", "s1"],
    "verified": ["run", "verify", "{}", "s1", "--sha=HEAD"],
    "suspended": ["run", "suspend", "{}"],
    "ended": ["run", "end", "{}", "--result=failed"],
    "resumed": ["resume", "--run-id={}"],
    "rewound": ["rewind", "--run-id={}"],
    "completed": ["complete", "--run-id={}"],
    "halted": ["halt", "--handle=h", "--resumable", "--run-id={}"],
    "traced": ["trace", "{}"],
    "seen": ["status", "{}"],
    "parent": ["run-id", "mint", "p", "--parent={}"],
    "root": ["run-id", "mint", "p", "--root={}"],
}


def filled(words, name):
    return [word.replace("{}", name) for word in words]


def declared(words):
    """The exit codes that the verb says it has."""
    name = " ".join(words[:2]) if " ".join(words[:2]) in VERBS else words[0]
    return set(import_module(VERBS[name].module).EXITS.values())


def files(folder):
    state = folder / "workspace" / ".git" / "dos"
    return sorted(path for path in folder.rglob("*") if path != state and state not in path.parents)


@pytest.mark.sampled(3)
@pytest.mark.parametrize("slot", NAMED)
def test_a_name_that_cannot_be_stored_is_an_error(dos, tmp_path, state, slot):
    before = files(tmp_path)
    for name in UNUSABLE:
        answer = dos(*filled(NAMED[slot], name))
        assert answer.code == 2, answer
        assert answer.err.startswith(("error: the ", "error: '")) and "Traceback" not in answer.err
        assert len(answer.err) < 500 and "\x1b" not in answer.err and "\u2028" not in answer.err
    assert files(tmp_path) == before and not state.exists()


@pytest.mark.sampled(3)
@pytest.mark.parametrize("slot", NAMED)
def test_an_odd_name_is_a_name(dos, tmp_path, slot):
    before = files(tmp_path)
    for name in ODD:
        answer = dos(*filled(NAMED[slot], name))
        assert answer.code in declared(NAMED[slot]) - (set() if slot in MUST_BE_KNOWN else {2}), (
            answer
        )
        assert "Traceback" not in answer.err and "bug in dos" not in answer.err
    assert files(tmp_path) == before
    assert dos("journal", "check").code == 0


@pytest.mark.sampled(3)
@pytest.mark.parametrize(
    "run_id",
    ["../../x", "RID-", "rid-000000001000002", "RID-00000000100000Z/", "RID-0000000010000U2"],
)
@pytest.mark.parametrize("slot", RUN_IDS)
def test_a_run_id_that_is_none_is_an_error(dos, tmp_path, state, slot, run_id):
    before = files(tmp_path)
    if slot == "adopt":
        dos("lease-lane", "acquire", "--lane=api", "--owner=A")
    answer = dos(*filled(RUN_IDS[slot], run_id))
    assert answer.code == 2 and "is not a run id" in answer.err
    assert files(tmp_path) == before


@pytest.mark.parametrize("owner", ODD, ids=ascii)
def test_an_odd_owner_can_renew_and_release_what_it_took(dos, workspace, owner):
    who = ("--lane=api", f"--owner={owner}")
    assert dos("lease-lane", "acquire", *who).code == 0
    assert dos("lease-lane", "live").json[0]["holder"] == owner
    assert dos("lease-lane", "heartbeat", *who).code == 0
    assert dos("lease-lane", "release", *who).code == 0


@settings(
    max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(slot=st.sampled_from(sorted(NAMED)), name=st.text(max_size=30))
def test_no_text_breaks_a_verb(workspace, slot, name):
    answer = in_process(*filled(NAMED[slot], name))
    assert answer.code in declared(NAMED[slot]), answer
    assert "bug in dos" not in answer.err


@settings(
    max_examples=100, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(leases=st.one_of(st.text(max_size=40), st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), st.floats(), st.text(max_size=5)),
    lambda inner: st.one_of(
        st.lists(inner, max_size=3),
        st.dictionaries(st.sampled_from(["lane", "tree", "lane_kind", "fence", "mode", "x"]), inner,
            max_size=4),
    ),
    max_leaves=8,
).map(repr)))  # fmt: skip
def test_no_leases_break_the_arbiter(workspace, leases):
    answer = in_process("arbitrate", f"--leases={leases}")
    assert answer.code in (0, 1, 2), answer
    assert "bug in dos" not in answer.err
