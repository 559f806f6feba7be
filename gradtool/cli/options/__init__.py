"""Options shared by commands, and how their text becomes values."""
