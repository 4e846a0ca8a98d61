"""Runs as verdicts see them, in all the ways that they can stand."""

from hypothesis import strategies as st

from dos.runs.steps import Answer, Declaration, Step, Verdict
from dos.unknown import Unknown

STEPS = ("s1", "s2", "s3", "s4")
DONE = Verdict(answer=Answer.DONE, reason="touches api/1")
GONE = Verdict(answer=Answer.UNDONE, reason="was undone")
UNREAD = Verdict(answer=Answer.UNKNOWN, reason="cannot be judged")


def done(name, via="file-path"):
    return Step(id=name, verified=f"{name}-sha", via=via, now=DONE)


def said(name):
    return Step(id=name, claimed=f"{name}-sha")


def open_step(name):
    return Step(id=name)


def gone(name):
    return Step(id=name, verified=f"{name}-sha", via="file-path", now=GONE)


def declared(*steps, **more):
    fields = {
        "run_id": "R",
        "has_intent": True,
        "goal": "g",
        "start_sha": "start",
        "start_reachable": True,
    }
    return Declaration(**fields | {"steps": tuple(steps)} | more)


def _step(name):
    return st.builds(
        Step,
        id=st.just(name),
        claimed=st.sampled_from(["", "c-sha"]),
        verified=st.sampled_from(["", "v-sha"]),
        via=st.sampled_from(["", "direct", "file-path", "registry"]),
        now=st.sampled_from([None, DONE, GONE, UNREAD]),
    )


runs = st.builds(
    Declaration,
    run_id=st.just("R"),
    has_intent=st.booleans(),
    goal=st.sampled_from(["", "g"]),
    plan=st.sampled_from(["", "P"]),
    phase=st.sampled_from(["", "F"]),
    steps=st.integers(0, len(STEPS)).flatmap(
        lambda count: st.tuples(*(_step(name) for name in STEPS[:count]))
    ),
    kept_steps=st.sampled_from([(), ("s1",)]),
    start_sha=st.sampled_from(["", "start"]),
    start_reachable=st.sampled_from([True, False, Unknown("no git")]),
    unreadable_lines=st.integers(0, 2),
    unreadable_newer=st.booleans(),
)
