"""What of gradtool works on this machine, and what to do about the rest.

Nothing is imported here before it is asked about, and whatever that raises is an answer.
"""
