"""What is checked: modules, their Functions, the cases of each, and the run over them."""
