"""Verbs about a loop: does it continue, and why?"""
