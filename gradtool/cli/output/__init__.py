"""The output of commands: the terminal, and the files of reports."""
