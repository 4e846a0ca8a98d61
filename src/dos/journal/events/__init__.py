"""Events as a closed set: all kinds, who reads which, and how those of older versions are read."""
