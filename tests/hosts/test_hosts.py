"""Each kind of host has the best tier that still holds its promise there, or
says in one line what it needs.
"""
import json
import os
import resource
import subprocess

import pytest

import conftest
import groups
import karzer
import kinds
import page


SESSION_ID = 1000  # of the guest's user


def here(kind):
    if karzer.GUEST:
        return kind.boot == os.environ.get("KARZER_BOOT")
    return kind.boot is None and not groups.unified()


@pytest.fixture(scope="module", params=[k for k in kinds.KINDS if here(k)],
                ids=lambda k: f"{k.name} ({k.who})")
def host(request, session):
    """A Box whose commands run on such a host."""
    kind = request.param
    if os.getuid() != 0:
        conftest.lack("root", "only root can make such a host")
    name = f"host-{kinds.KINDS.index(kind)}"
    ids = {"root": None, "user": karzer.USER_ID, "session": SESSION_ID}
    user = karzer.User(session, name, ids[kind.who])
    if kind.who == "session":
        user.prefix = []
    user.prefix, made = kind.enter(session, user)
    box = karzer.Box(session, user, "auto")
    box.kind = kind
    done = box.cli("tiers", "--json")
    assert done.returncode == 0, done
    box.tiers = json.loads(done.stdout)
    yield box
    if made is not None:
        made.remove()


@pytest.mark.kernel
def test_the_strongest_tier_is_the_expected_one(host):
    strongest = [t["name"] for t in host.tiers if t["strongest"]]
    assert strongest == ([host.kind.tier] if host.kind.tier else []), host.tiers


def test_what_is_not_available_says_what_it_needs(host):
    why = [t["why"] for t in host.tiers if not t["available"]]
    assert all(why), host.tiers
    if host.kind.fix:
        assert any(host.kind.fix in w for w in why), why
        told = [w for w in why if host.kind.fix in w]
        assert all("\n" not in w for w in told), told


@pytest.mark.kernel
def test_a_run_is_as_strong_as_that_and_says_so(host):
    r = host.run("print(1)")
    if host.kind.tier is None:
        assert r.status == "unavailable" and r.answer["message"], r
        page.check(host.kind, None, {})
        return
    assert (r.status, r.text) == ("ok", "1\n"), r
    assert r.effective["tier"] == host.kind.tier, r.effective
    page.check(host.kind, host.kind.tier, r.effective["mechanisms"])


@pytest.mark.skipif(karzer.GUEST, reason="once is enough")
@pytest.mark.parametrize("tier", ["process", "container"])
def test_where_mounts_are_shared_as_under_systemd_a_run_takes_none_away(
        session, users, tier):
    if "root" not in users:
        conftest.lack("root", "an ordinary user's are never shared")
    done = subprocess.run(
        ["/usr/bin/unshare", "-m", "/bin/sh", "-c",
         "mount --make-rshared / && cat /proc/self/mountinfo && echo RUN && "
         'LANG=C "$@" && cat /proc/self/mountinfo', "sh", str(session.karzer), "run",
         "--tier", tier, "print(1)"], env=users["root"].env, capture_output=True,
        text=True, check=True)
    before, after = done.stdout.split("RUN\n")
    assert after == "1\n" + before, done


def test_every_attack_is_blocked_in_that_tier(host):
    if host.kind.tier is None:
        done = host.cli("attack", "--json", timeout=120)
        assert done.returncode != 0 and b"succeeded" not in done.stdout, done
        return
    done = host.cli("attack", "--tier", host.kind.tier, "--json", timeout=120)
    assert done.returncode == 0, done
    attacks = json.loads(done.stdout)["tiers"][0]["attacks"]
    assert [a["outcome"] for a in attacks] == ["blocked"] * 6, attacks


def test_doctor_tells_in_no_time_what_is_missing_and_how_to_fix_it(host):
    """Processor time: the machine may be busy."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = host.cli("doctor", "--json")
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    took = (after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime)
    told = json.loads(done.stdout)
    assert done.returncode == (0 if host.kind.tier else 1), done
    missing = [c for c in told["checks"] if c["state"] == "missing"]
    assert all(c["fix"] or c["instead"] for c in missing), missing
    assert took < 0.1 * karzer.SLOW, took
