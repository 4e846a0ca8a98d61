"""`dos doctor`: checks every subject of a workspace, and repairs what needs no decision.

`examine` collects the findings of all `subjects/` and makes the repairs; `facts` reads what the
report says about the machine and the workspace; `view` prints both, as text and as JSON.
"""
