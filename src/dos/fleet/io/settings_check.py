"""Settings of [workers] that are right each for itself, and wrong together."""

from dos.config.schema import Config
from dos.errors import BadInput


def check_settings(config: Config) -> None:
    """What each for itself is right, and together is not."""
    workers = config.workers
    if workers.isolation == "shared" and (workers.landing == "branch" or workers.remote):
        other = (
            'landing = "branch"' if workers.landing == "branch" else f"remote = {workers.remote!r}"
        )
        raise BadInput(
            f'[workers] isolation = "shared" works on the target branch of the one tree, and {other} lands elsewhere',
            hint="dos config unset workers.isolation",
        )
