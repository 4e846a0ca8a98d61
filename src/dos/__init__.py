"""dos keeps a fleet of coding agents working on one git repository, and believes git instead of the
agents.
"""
