"""What a judge says about a claim."""

from collections.abc import Callable

from dos.sources.judges import registry
from dos.sources.world import World
from dos.verdicts.belief.judging import Claim, JudgeVerdict


def asking(world: World, name: str, warn: Callable[[str], None]) -> Callable[[Claim], JudgeVerdict]:
    """The judge of that name, ready to be asked."""
    found = registry.find(world, name, warn)
    return lambda claim: registry.run_judge(found, claim, world.config)
