"""What the table of agents says of a program is what the real program was seen to do."""

import pytest
from installing import Unavailable, path_of
from programs import CLAUDE_CODE, CODEX, GEMINI, OPENCODE

from dos.agents.programs.catalog import MessageFacts, UsageFacts, known_agent
from dos.conformance.io.measure import measure
from dos.conformance.questions import Question, Verdict

pytestmark = pytest.mark.timeout(900)
# Codex as an agent of a fleet is part of other soaks.
PROGRAMS = [
    CLAUDE_CODE,
    pytest.param(CODEX, marks=pytest.mark.programs),
    GEMINI,
    OPENCODE,
]
USAGE = {
    UsageFacts.COST: {Verdict.YES},
    UsageFacts.TOKENS: {Verdict.YES},
    UsageFacts.LAST_REQUEST: {Verdict.PARTLY},
    UsageFacts.NONE: {Verdict.NO},
}
MESSAGES = {
    MessageFacts.YES: Verdict.YES,
    MessageFacts.INTERRUPTED: Verdict.PARTLY,
    MessageFacts.NO: Verdict.NO,
}


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.name)
def test_the_table_of_agents_agrees_with_the_real_program(program, monkeypatch, tmp_path):
    try:
        path = path_of(program)
    except Unavailable as error:
        pytest.skip(str(error))
    monkeypatch.setenv("PATH", str(path.parent), prepend=":")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    agent = known_agent(program.name)
    measured = measure(agent, print)
    seen = {question: answer.verdict for question, answer in measured.answers.items()}
    assert measured.version == program.version and not measured.unknown, measured
    assert seen[Question.ASKS] is Verdict.YES
    assert seen[Question.USAGE] in USAGE[agent.usage]
    assert seen[Question.LIMIT] is seen[Question.OVERLOAD] is Verdict.YES
    assert (seen[Question.RESUMES] is Verdict.YES) is agent.resumes
    assert seen[Question.MESSAGES] is MESSAGES[agent.messages]
    assert (seen[Question.ENDS] is Verdict.YES) is agent.ends_on_eof
    assert not list(tmp_path.iterdir()), "nothing is left behind"
