"""No attack gets out of a cell, and what must be recorded is.

Every file of this folder, in both tiers, as root and as an ordinary user.
Attacks that disturb nobody share a cell: see batch.py.
"""
import json
import shutil
import subprocess

import pytest

import attacks
import checks
import given
import karzer

# Where a program's home is depends on what the host can do.
LAUNCH = ("/bin/sh", "-c",
          'exec /usr/bin/python3 -I -S "$HOME/attacks/$0" "$@"')
TOGETHER = 30  # attacks in one cell


def run_in_cell(g, files, argv, options, meanwhile=lambda: None):
    """Runs a program of attack files in a cell: a Result."""
    box = g.box
    folder = box.user.work()
    for path, text in files.items():
        (folder / path).write_text(text)
    options = ["--in", f"{folder}:attacks", *options]
    process = box.start("exec", "--json", "--tier", box.tier, *options, "--",
                        *LAUNCH, *argv, **g.start())
    try:
        meanwhile()
        out, err = process.communicate(timeout=180 * karzer.SLOW)
    finally:
        karzer.end(process)
        shutil.rmtree(folder)
    return karzer.Result(
        subprocess.CompletedProcess(process.args, process.returncode, out, err))


class Outcome:
    """What became of one attack in one cell."""

    def __init__(self, result, text, end, evidence):
        self.result, self.text, self.end = result, text, end
        self.evidence = evidence


def run_batch(box, some):
    """{name: Outcome} of attacks that share a cell."""
    files = {f"{a.name}.py": a.path.read_text() for a in some}
    files["batch.py"] = (attacks.HERE / "batch.py").read_text()
    with given.Given(box.user, box) as g:
        for a in some:
            g.prepare(a.needs)
        files["list.json"] = json.dumps({
            "seconds": 15 * min(karzer.SLOW, 6),
            "attacks": [[a.name, *g.words(a.needs)] for a in some]})
        r = run_in_cell(g, files, ["batch.py"],
                        ["--wall", karzer.seconds(60), "--cpu-time",
                         karzer.seconds(60), "--mem", "512M"])
        happened = g.happened()
    told = [json.loads(line) for line in r.text.splitlines()
            if line.startswith("{")]
    return {one["name"]: Outcome(r, one["text"], one["end"],
                                 g.printed(one["text"]) or happened)
            for one in told} | {"": r}


def run_alone(box, attack):
    with given.Given(box.user, box) as g:
        g.prepare(attack.needs)
        options = [o.format(**g.values) for o in attack.options]
        r = run_in_cell(
            g, {f"{attack.name}.py": attack.path.read_text()},
            [f"{attack.name}.py", *g.words(attack.needs)], options,
            lambda: attack.meanwhile and getattr(checks, attack.meanwhile)(g))
        text = r.text + r.stderr.decode("utf-8", "replace")
        evidence = g.evidence(text)
        if attack.check and not evidence:
            evidence = getattr(checks, attack.check)(g, text)
    return Outcome(r, text, r.exit_code, evidence)


@pytest.fixture(scope="session")
def batches():
    return {}


def outcome(box, attack, batches):
    if not attack.batched:
        return run_alone(box, attack)
    able = [a for a in attacks.ATTACKS if a.batched and box.tier in a.tiers]
    at = able.index(attack) // TOGETHER
    key = box.tier, box.user.name, at
    if key not in batches:
        some = able[at * TOGETHER:(at + 1) * TOGETHER]
        batches[key] = run_batch(box, some)
    if attack.name not in batches[key]:
        pytest.fail(f"its cell told nothing of it: {batches[key]['']}")
    return batches[key][attack.name]


def recorded(result, wanted):
    """Is there an event of that kind with that word in it?"""
    kind, word = wanted
    return any(word in map(str, event.values()) for event in result.events(kind))


@pytest.mark.kernel
@pytest.mark.parametrize("attack", attacks.ATTACKS, ids=lambda a: a.name)
def test_an_attack_is_refused(box, attack, batches):
    o = outcome(box, attack, batches)
    assert o.evidence is None, f"{o.evidence}: {o.text}"
    what, why = attacks.marker(o.text)
    if o.result.status in attack.ends and what != "ESCAPED":
        what = "refused"
    allowed = ("refused", "planted") if attack.check else ("refused",)
    assert what in allowed, (
        f"{what}: {why} (ended with {o.end}, the run with {o.result.status})")
    wanted = attack.wanted(box.tier)
    assert wanted is None or recorded(o.result, wanted), (
        wanted, [e for e in o.result.boundary if e["kind"] == wanted[0]])


def test_each_attack_has_a_line_and_says_what_blocks_it():
    assert attacks.ATTACKS
    for a in attacks.ATTACKS:
        assert 1 <= a.line <= 63, a.name
        assert set(a.needs) <= set(given.NEEDS), a.name
        for function in filter(None, (a.check, a.meanwhile)):
            assert hasattr(checks, function), a.name


