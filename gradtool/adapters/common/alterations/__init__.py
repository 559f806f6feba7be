"""Forward or backward with one expression altered, which may show what is wrong with a gradient.

An edit of `forward` makes a wrong backward right for another function; a repair of `backward` makes
it right for this one. What both need is beside them.
"""
