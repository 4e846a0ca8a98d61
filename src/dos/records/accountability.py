"""`Accountability` under the name that plugins import it by; it is defined in
`dos.witness.accountability`."""

from dos.witness.accountability import Accountability

__all__ = ["Accountability"]
