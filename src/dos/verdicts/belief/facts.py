"""The answers of a source of evidence under the name that plugins import them by; see
`dos.witness.fact`."""

from dos.witness.fact import EvidenceFacts, attest, no_signal, refute

__all__ = ["EvidenceFacts", "attest", "no_signal", "refute"]
