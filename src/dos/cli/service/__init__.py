"""Verbs that let the system keep `dos up` running.

A service is one file of systemd or launchd, which `unit_file` plans; each verb plans the same file
and then writes it, removes it, or asks the system about it.
"""
