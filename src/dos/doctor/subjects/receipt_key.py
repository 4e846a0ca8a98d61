"""Can the receipts of what lands here be signed?"""

import sys
from shlex import quote

from dos.doctor.subjects.finding import Finding, note, warning
from dos.errors import BadInput
from dos.receipts.io import public_keys, verify_signature
from dos.world import World

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
    if path.suffix != ".pub" and not verify_signature.installed():
        install = f"{quote(sys.executable)} -m pip install 'cryptography>=42'"
        return [note(KIND, verify_signature.missing().message, WHY, install)]
    return []
