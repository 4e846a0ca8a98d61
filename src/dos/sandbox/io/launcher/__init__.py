"""The process between dos and a program: it sets up walls, starts the program and keeps it.

A bare interpreter runs these modules. They import only the standard library and one another, and
get their orders as plain values, so that a start costs little more than the interpreter.
"""
