"""Verdicts on the progress of runs and loops. Pure: evidence and policy in, verdict out."""
