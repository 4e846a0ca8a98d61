"""Agents as processes: who may be started, with which environment, and what they leave behind."""
