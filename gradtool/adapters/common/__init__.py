"""A Function as the checker sees it, over whichever library computes."""
