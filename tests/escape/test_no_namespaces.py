"""The same attacks where no namespace can be had, and Landlock and the seccomp
list alone hold the process tier: as root, as an ordinary user. The short form
runs in `make check`; KARZER_LONG=1 is the long one.
"""
import os

import pytest

import attacks
import karzer
import test_escape

# Limits of a cell like that are the subject of tests/tier/test_fallback.py; the
# long form tries to exceed them in every way that is here.
LAST = 63 if os.environ.get("KARZER_LONG") == "1" else 48
ABLE = [a for a in attacks.ATTACKS
        if "process" in a.tiers and a.without_namespaces and a.line <= LAST
        and not a.engine and not (a.meanwhile and a.line <= 30)]


@pytest.fixture(scope="module")
def batches():
    return {}


@pytest.fixture(params=["root", "user"])
def cell(request, session, users):
    if request.param not in users:
        karzer.lack("root", "needs root")
    of = users[request.param]
    user = karzer.User(session, f"bare-{request.param}-{len(os.listdir(of.dir.parent))}",
                       of.uid)
    user.name = request.param
    user.prefix = [*user.prefix, str(session.helper / "refuse_namespaces")]
    return karzer.Box(session, user, "process")


@pytest.mark.parametrize("attack", ABLE, ids=lambda a: a.name)
def test_an_attack_is_refused(cell, attack, batches):
    o = test_escape.outcome(cell, attack, batches)
    assert o.evidence is None, f"{o.evidence}: {o.text}"
    if o.result.status == "unavailable":
        return  # it needs what this host does not have, and nothing ran
    what, why = attacks.marker(o.text)
    if o.result.status in attack.ends and what != "ESCAPED":
        what = "refused"
    assert what in ("refused", "planted"), f"{what}: {why} ({o.end}); {o.result}"
