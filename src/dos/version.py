"""The version of this package: the build reads it from here too, because asking the installed
metadata is slow.
"""

VERSION = "0.2.0"
