"""Agents as processes: who may be started, in which environment, what they print, and what they leave behind."""
