"""The subjects of `dos doctor`, one file for each, with functions that return findings.

A finding says what is wrong, what follows from it, and one command that clears it or shows more.
An examiner only reads. It may raise a DosError or an OSError: `doctor/examine.py` reports those.
"""
