"""Each attack succeeds where no karzer stops it: then "refused" means something.

In the test guest only, whose kernel and settings are nobody else's.
"""
import glob
import os
import shutil
import subprocess

import pytest

import attacks
import checks
import given
import karzer

PYTHON = ("/usr/bin/python3", "-I", "-S")
SHOWN = [a for a in attacks.ATTACKS if a.bare]


@pytest.fixture(autouse=True)
def nothing_stays():
    """What an attack made outside of a cell: nobody else takes it away."""
    yield
    for path in glob.glob("/tmp/a[0-9][0-9]-*"):
        if os.path.isdir(path) and not os.path.islink(path):
            shutil.rmtree(path)
        else:
            os.unlink(path)


@pytest.mark.kernel
@pytest.mark.guest
@pytest.mark.parametrize("attack", SHOWN, ids=lambda a: a.name)
def test_an_attack_succeeds_without_karzer(users, attack):
    user = users[attack.bare]
    with given.Given(user) as g:
        g.prepare(attack.needs)
        folder = user.work()
        path = folder / f"{attack.name}.py"
        path.write_text(attack.path.read_text())
        process = subprocess.Popen(
            [*user.prefix, *PYTHON, str(path), *g.words(attack.needs)],
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, cwd=folder,
            **g.start())
        try:
            text = process.communicate(timeout=20 * karzer.SLOW)[0]
            text = text.decode("utf-8", "replace")
        finally:
            karzer.end(process)
        what, why = attacks.marker(text)
        if what == "planted":
            why = getattr(checks, attack.check)(g, text)
            what = "ESCAPED" if why else "planted, and that did nothing"
    assert what == "ESCAPED", f"{what}: {why}\n{text}"
