"""The state that a loop starts from, with the limits of `dos.toml`."""

from msgspec import structs

from dos.config.tables import Config
from dos.plans.gate import Mode
from dos.plans.iterations import LoopState


def fresh(config: Config) -> LoopState:
    limits = structs.asdict(config.loop) | {"gate_mode": Mode(config.loop.gate_mode)}
    return LoopState(max_iterations=config.workers.max_iterations, **limits)
