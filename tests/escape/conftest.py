"""Which attack is tried in which cell: in each, but for what is the engine's own.

In the guest, where programs are slow, those that need a cell of their own are
tried in one of two cells each, and the others in both: the four kinds of cell
are all tried on the host, and in the guest by tests/kernel/run --all.
"""
import os
import zlib

import karzer

FEW = karzer.GUEST and os.environ.get("KARZER_EVERY") != "1"
PAIRS = ("container", "user"), ("process", "root")


def is_of_the_few(attack, pair):
    able = [p for p in PAIRS if p[0] in attack.tiers]
    if attack.batched or len(able) < 2:
        return pair in able
    return pair == able[zlib.crc32(attack.name.encode()) % 2]


def is_tried(item):
    call = getattr(item, "callspec", None)
    if call is None or not {"box", "attack"} <= set(call.params):
        return True
    attack, (tier, user) = call.params["attack"], call.params["box"]
    if attack.engine:
        return tier == "container" and (user == "user" or not karzer.GUEST)
    if FEW:
        return is_of_the_few(attack, (tier, user))
    return tier in attack.tiers


def pytest_collection_modifyitems(items):
    items[:] = [item for item in items if is_tried(item)]
