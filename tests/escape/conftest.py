"""Which attack is tried in which cell: in each, but for what is the engine's own.

In the guest, where programs are about fifteen times slower, `make check` tries
what can share a cell in one kind of cell a tier, and some of the attacks bare;
`make check-kernels` tries all, as the host does.
"""
import os

import karzer

FEW = karzer.GUEST and os.environ.get("KARZER_EVERY") != "1"
PAIRS = ("container", "user"), ("process", "root")
BARE_EACH = 8


def is_tried(item):
    call = getattr(item, "callspec", None)
    if call is None or not {"box", "attack"} <= set(call.params):
        return True
    attack, (tier, user) = call.params["attack"], call.params["box"]
    if attack.engine:
        return tier == "container" and (user == "user" or not karzer.GUEST)
    return tier in attack.tiers


def is_of_the_few(item, bare):
    if item.path.name == "test_escape.py" and "attack" in item.fixturenames:
        call = item.callspec.params
        return call["attack"].batched and call["box"] in PAIRS
    return item.path.name == "test_bare.py" and next(bare) % BARE_EACH == 0


def pytest_collection_modifyitems(items):
    items[:] = [i for i in items if is_tried(i)]
    if FEW:
        bare = iter(range(len(items)))
        items[:] = [i for i in items if i.path.parent.name != "escape"
                    or is_of_the_few(i, bare)]
