"""Verbs that explain: what there is to type, what an answer means, what a name stands for."""
