"""Questions to a person: one class per question, their state, and how they are answered.

A question says what waits for it, its choices with their effects, and what happens without an
answer. It is asked once, and the first answer counts.
"""
