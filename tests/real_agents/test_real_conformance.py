"""What dos says of an agent program is what the real program does."""

import os

import pytest
from installing import Unavailable, path_of
from programs import BY_ACP, CLAUDE_CODE, CODEX, GEMINI, ONE_WAY, OPENCODE

from dos.agents.programs.catalog import known_agent
from dos.conformance.io.measure import measure
from dos.conformance.io.published import measurements

pytestmark = pytest.mark.timeout(900)
# Codex as an agent of a fleet is part of other soaks.
PROGRAMS = [
    CLAUDE_CODE,
    pytest.param(CODEX, marks=pytest.mark.programs),
    GEMINI,
    OPENCODE,
    *BY_ACP,
    *ONE_WAY,
]


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.name)
def test_the_published_measurement_is_what_the_real_program_does(program, monkeypatch, tmp_path):
    needed = [program, *filter(None, [program.interpreter])]
    try:
        folders = [str(path_of(each).parent) for each in needed]
    except Unavailable as error:
        pytest.skip(str(error))
    monkeypatch.setenv("PATH", os.pathsep.join(reversed(folders)), prepend=os.pathsep)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    measured = measure(known_agent(program.name), print)
    published = measurements()[program.name]
    assert measured.version == published.version
    seen = {question.name.lower(): answer.verdict for question, answer in measured.answers.items()}
    assert seen == {name: answer.verdict for name, answer in published.answers.items()}, measured
    assert not list(tmp_path.iterdir()), "nothing is left behind"
