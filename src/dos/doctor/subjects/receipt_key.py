"""Can the receipts of what lands here be signed?"""

import sys
from shlex import quote

from dos.doctor.subjects.finding import Finding, note, warning
from dos.errors import BadInput
from dos.receipts.io import keys
from dos.world import World

UNSIGNED = "RECEIPTS_UNSIGNED"
UNSIGNED_WHY = "Units land all the same, with a receipt that proves nothing to others."


def examine_receipt_key(world: World) -> list[Finding]:
    """A key that is not there is none: the first landing makes it."""
    try:
        path = keys.own_key()
        if path.exists():
            keys.check_private_key(path, world.workspace)
    except BadInput as error:
        return [warning(UNSIGNED, error.message, UNSIGNED_WHY, error.hint)]
    if path.suffix != ".pub" and not keys.cryptography_installed():
        install = f"{quote(sys.executable)} -m pip install 'cryptography>=42'"
        return [note(UNSIGNED, keys.cryptography_missing().message, UNSIGNED_WHY, install)]
    return []
