"""Classes that a program registers are taken apart as lists are."""

from __future__ import annotations

import importlib

import pytest


class Pair:
    def __init__(self, first, second, name):
        self.first, self.second, self.name = first, second, name


def test_instances_of_a_registered_class_are_taken_apart(torch):
    pytree = importlib.import_module(f"{torch.__name__}.utils._pytree")

    class Own(Pair):
        pass

    def register():
        pytree.register_pytree_node(
            Own,
            lambda pair: ((pair.first, pair.second), pair.name),
            lambda children, name: Own(*children, name),
            serialized_type_name="tests.Own",
        )

    register()
    tree = {"pair": Own(1, [2, 3], "name"), "other": Pair(4, 5, "leaf")}
    leaves, spec = pytree.tree_flatten(tree)
    assert leaves == [1, 2, 3, tree["other"]]
    doubled = pytree.tree_unflatten([each * 2 for each in leaves[:3]] + leaves[3:], spec)
    assert (doubled["pair"].first, doubled["pair"].second) == (2, [4, 6])
    assert doubled["pair"].name == "name"
    with pytest.raises(ValueError, match="already registered"):
        register()
