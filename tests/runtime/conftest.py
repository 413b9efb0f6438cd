# SPDX-License-Identifier: Apache-2.0
"""Fixtures of the driver's tests."""
import shutil

import pytest

from driver import Driver, code_message, install


@pytest.fixture(scope="session")
def home():
    folder = install()
    yield folder
    shutil.rmtree(folder)


@pytest.fixture
def run(home):
    """run(code): one whole program, as `karzer run` has it."""
    def run(code, *args, name="<code>", stdin=None, **options):
        if stdin is not None:
            options["stdin"] = -1
        with Driver(home, *args, **options) as driver:
            driver.send(code_message(code, name))
            return driver.finish(stdin)
    return run


@pytest.fixture
def session(home):
    with Driver(home) as driver:
        yield driver


@pytest.fixture(scope="module", autouse=True)
def nothing_is_left():
    """These tests start no cell."""
