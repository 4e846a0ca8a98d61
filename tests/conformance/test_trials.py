"""Each known agent program can be tried: there is a trial of every one."""

from dos.agents.programs.catalog import known_agents
from dos.conformance.hook_trial import steps
from dos.conformance.io.measure import seconds_to_next_minute
from dos.conformance.io.published import measurements
from dos.conformance.programs import AIDER, TRIALS
from dos.conformance.questions import Question


def test_every_known_agent_has_a_trial_and_a_published_measurement():
    names = {agent.name for agent in known_agents()}
    assert set(TRIALS) == names == set(measurements())
    questions = {question.name.lower() for question in Question}
    assert all(set(measured.answers) == questions for measured in measurements().values())


def test_a_program_without_tools_is_given_its_files_in_one_answer():
    (step,) = steps(AIDER, "/anywhere")
    assert "own/written.md\n```\ntext\n```\n" in step["say"]
    assert "held/written.md\n```\ntext\n```\n" in step["say"]
    assert AIDER.script([step]) == {"default": [step], "answer_all": True}


def test_a_conversation_is_continued_in_another_minute_than_it_began_in():
    for now in (0.0, 59.9, 60.0, 1_763_570_000.25):
        then = now + seconds_to_next_minute(now)
        assert then // 60 == now // 60 + 1 and then - now <= 60.5
