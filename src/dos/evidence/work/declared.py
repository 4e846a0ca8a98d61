"""What a run set out to do, with what git says of each step now."""

from dos.evidence.work.step import Commits
from dos.journal.states.run import Run
from dos.sources.world import World
from dos.verdicts.work import step as step_verdict
from dos.verdicts.work.declared import Declared, Step


def gather(world: World, run_id: str, run: Run) -> Declared:
    commits = Commits(world, run.start_sha)
    return Declared(
        run_id=run_id,
        has_intent=run.has_intent,
        goal=run.goal,
        plan=run.plan,
        phase=run.phase,
        steps=tuple(_step(commits, run, name) for name in run.steps),
        kept_steps=tuple(run.kept_steps),
        start_sha=run.start_sha,
        start_reachable=commits.start_reachable if run.has_intent else False,
        unreadable_lines=run.unreadable_lines,
        unreadable_newer=run.unreadable_newer,
    )


def step(world: World, run: Run, name: str) -> Step:
    """One step alone, declared or not."""
    return _step(Commits(world, run.start_sha), run, name)


def _step(commits: Commits, run: Run, name: str) -> Step:
    claimed = run.claimed.get(name, "")
    verified = run.verified.get(name)
    if verified is None:
        return Step(id=name, claimed=claimed)
    now = step_verdict.judge(commits.gather(verified.sha, run.regions.get(name, ())))
    return Step(id=name, claimed=claimed, verified=verified.sha, via=verified.via, now=now)
