"""What every suite of tests shares: tiers, users, skips that count, the sum.

A test that takes `box` runs in every tier as every user; one that takes
`any_box` runs once. KARZER_NEED names what the machine has ("root,cgroup"): a
skip for lack of one of these is a failure.
"""
import os
import pathlib
import sys

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).parent / "lib"))
import karzer  # noqa: E402

TIERS = ("process", "container")
lack = karzer.lack


def pytest_configure(config):
    config.addinivalue_line(
        "markers", "kernel: depends on the kernel; also run on Debian's own")
    config.addinivalue_line("markers", "guest: changes the host, so only there")
    config.addinivalue_line("markers", "tiers(*names): only in these tiers")
    config.addinivalue_line("markers", "users(*names): only as these users")


def pytest_collection_modifyitems(items):
    if not karzer.GUEST:
        items[:] = [i for i in items if not i.get_closest_marker("guest")]


def pytest_generate_tests(metafunc):
    if "box" in metafunc.fixturenames:
        tiers, users = TIERS, ("root", "user")
        for mark in metafunc.definition.iter_markers("tiers"):
            tiers = mark.args
        for mark in metafunc.definition.iter_markers("users"):
            users = mark.args
        pairs = [(t, u) for t in tiers for u in users]
        metafunc.parametrize("box", pairs, indirect=True,
                             ids=[f"{t}-{u}" for t, u in pairs])


@pytest.fixture(scope="session")
def session():
    s = karzer.Session()
    yield s
    s.close()


@pytest.fixture(scope="session")
def users(session):
    if os.getuid() == 0:
        return {"root": karzer.User(session, "root"),
                "user": karzer.User(session, "user", karzer.USER_ID)}
    return {"user": karzer.User(session, "user")}


@pytest.fixture
def box(request, session, users):
    tier, user = request.param
    if user not in users:
        karzer.lack("root", "needs root")
    return karzer.Box(session, users[user], tier)


@pytest.fixture
def any_box(session, users):
    """The strongest tier, as whoever runs the tests."""
    return karzer.Box(session, next(iter(users.values())), "container")


@pytest.fixture(scope="module", autouse=True)
def nothing_is_left(session):
    """After each module: no process, cgroup, mount or file of ours."""
    yield
    karzer.wait_until(lambda: not karzer.leftovers(session), timeout=3)
    left = karzer.leftovers(session)
    assert not left, "left behind:\n" + "\n".join(left[:30])


def pytest_runtest_logreport(report):
    """A failure is shown at once where a session may not come to its end."""
    if report.failed and karzer.SLOW > 1:
        print(f"\n{report.nodeid} {report.when}: {report.longreprtext[-1500:]}",
              flush=True)


def pytest_terminal_summary(terminalreporter):
    """The sum, for tools/check; and why each skipped."""
    stats = terminalreporter.stats
    passed, skipped = (len(stats.get(k, [])) for k in ("passed", "skipped"))
    failed = len(stats.get("failed", [])) + len(stats.get("error", []))
    for report in stats.get("skipped", []):
        reason = report.longrepr
        print("SKIP", reason[2] if isinstance(reason, tuple) else reason)
    if os.environ.get("KARZER_COUNTS"):
        with open(os.environ["KARZER_COUNTS"], "a") as f:
            f.write(f"{passed} {failed} {skipped}\n")
