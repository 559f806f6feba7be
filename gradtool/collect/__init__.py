"""What is to be checked: from paths to files, modules and the Functions in them."""
