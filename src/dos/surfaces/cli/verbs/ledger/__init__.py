"""Verbs that write down what a run sets out to do, and how it stands."""
