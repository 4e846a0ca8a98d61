"""The file `dos.toml`: its tables, how it is read, shown, checked, edited and first written."""
