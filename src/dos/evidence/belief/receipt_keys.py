"""Can the receipts of what lands here be signed?"""

import sys
from shlex import quote

from dos.errors import BadInput
from dos.evidence.health.finding import Finding, note, warning
from dos.sources.receipts import public_keys, signatures
from dos.sources.world import World

KIND = "RECEIPTS_UNSIGNED"
WHY = "Units land all the same, with a receipt that proves nothing to others."


def examine(world: World) -> list[Finding]:
    """A key that is not there is none: the first landing makes it."""
    try:
        path = public_keys.own_key()
        if path.exists():
            public_keys.check_kept(path, world.workspace)
    except BadInput as error:
        return [warning(KIND, error.message, WHY, error.hint)]
    if path.suffix != ".pub" and not signatures.installed():
        install = f"{quote(sys.executable)} -m pip install 'cryptography>=42'"
        return [note(KIND, signatures.missing().message, WHY, install)]
    return []
