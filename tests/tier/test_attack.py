"""The six attacks: blocked, in a table for people and in JSON."""
import json
import subprocess

import pytest

import karzer


@pytest.mark.kernel
def test_every_attack_is_blocked(box):
    done = box.cli("attack", "--tier", box.tier, "--json", timeout=120)
    assert done.returncode == 0, done
    answer = json.loads(done.stdout)
    text = json.dumps(answer)
    assert text.count("blocked") >= 6, answer


def test_the_table_names_attacks_and_tiers(any_box):
    done = any_box.cli("attack", timeout=120)
    assert done.returncode == 0, done
    assert b"container" in done.stdout and b"process" in done.stdout
    assert done.stdout.count(b"blocked") >= 12, done


@pytest.mark.kernel
@pytest.mark.guest
@pytest.mark.users("root")
def test_root_without_user_namespaces_is_held_all_the_same(box):
    """The setting is the whole host's; an ordinary user is told the fix."""
    setting = "/proc/sys/user/max_user_namespaces"
    with open(setting) as f:
        before = f.read()
    try:
        with open(setting, "w") as f:
            f.write("0")
        r = box.run("print(1)")
        assert (r.status, r.text) == ("ok", "1\n"), r
        assert "user namespace" not in r.effective["mechanisms"]["users"], r
        user = karzer.User(box.session, "nons", karzer.USER_ID)
        other = karzer.Box(box.session, user, "container")
        r = other.run("print(1)")
        assert (r.status, r.rc) == ("unavailable", 125), r
        assert "max_user_namespaces" in r.message, r
        subprocess.run(["rm", "-rf", str(user.dir)], check=True)
    finally:
        with open(setting, "w") as f:
            f.write(before)
