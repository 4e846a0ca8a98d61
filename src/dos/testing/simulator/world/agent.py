"""The process of a simulated agent."""

from msgspec import Struct

from dos.fleet import effects
from dos.testing.simulator.world.process import Process
from dos.testing.simulator.world.repository import Tree


class Agent(Struct):
    """The process of an agent. It works on while its worker sleeps, and dies with it.

    `fault` is "" for an agent that does its work; `began` and `seconds` say when it started and how
    long it takes; `done` counts its acts so far.
    """

    worker: Process
    effect: effects.RunAgent
    tree: Tree
    fault: str
    began: int
    seconds: float
    done: int = 0
    alive: bool = True
