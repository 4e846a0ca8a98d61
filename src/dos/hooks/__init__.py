"""The commit gate: git hooks that refuse commits which an agent makes outside its lane.

`install` puts the hooks into a repository, `check` is what they ask.
"""
