"""Each system call of each program fails once, and the result never lies.

tests/helper/torture.c lets the n-th call of one role fail. The short form takes
one call in six; `make soak` takes all, with more kinds of failure.
"""
import errno
import json
import os
import subprocess

import pytest

import karzer

LONG = os.environ.get("KARZER_LONG") == "1"
ROLES = ("engine", "holder", "agent", "child")
ERRORS = (errno.ENOMEM, errno.EPERM, errno.EIO) if LONG else (errno.ENOMEM,)
STEP = 1 if LONG else 6
WRITE = 1  # the number of the system call


class Run:
    """One run, in which the n-th call of a role failed; or none did."""

    def __init__(self, box, role, n, error):
        report = box.dir / "report"
        self.done = subprocess.run(
            [box.session.helper / "torture", str(ROLES.index(role)), str(n),
             str(error), report, *box.command("run", "--json", "--tier",
                                              box.tier, "-c", "print(42)")],
            input=b"", capture_output=True, env=box.user.env, cwd=box.dir,
            timeout=60, check=False)
        self.calls, self.failed = map(int, report.read_text().split())
        self.role, self.n = role, n

    def __repr__(self):
        return (f"call {self.n} of the {self.role}, number {self.failed}: "
                f"exit {self.done.returncode} {self.done.stdout[:700]} "
                f"{self.done.stderr[:300]}")

    def lies(self):
        rc, stderr = self.done.returncode, self.done.stderr
        output_lost = self.role == "engine" and self.failed == WRITE
        try:
            answer = json.loads(self.done.stdout)
        except ValueError:
            # nothing could be said on stdout, or nobody knew yet how
            return not (rc == 125 and stderr)
        if "error" in answer and "status" not in answer:
            return not (rc == 125 and answer["error"]["text"])
        if answer["status"] == "ok":
            whole = answer["stdout"] == "42\n"
            return not (whole and (rc == 0 or rc == 125 and output_lost))
        if answer["status"] == "error":  # the program could not be started
            return not (rc in (126, 127) and answer["message"]
                        and self.role in ("agent", "child"))
        return not (answer["status"] in ("unavailable", "internal")
                    and rc == 125 and answer["message"])


@pytest.mark.users("root")
@pytest.mark.parametrize("role", ROLES)
def test_whichever_call_fails_the_result_says_so(box, role):
    calls = Run(box, role, 0, 0).calls
    assert calls > 5
    lies = []
    for error in ERRORS:
        for n in range(1, calls + 1, STEP):
            run = Run(box, role, n, error)
            if run.lies():
                lies.append(run)
    assert lies == []
    assert box.run("print(1)").status == "ok"
    assert karzer.wait_until(lambda: not karzer.leftovers(box.session), 3), \
        karzer.leftovers(box.session)
