# SPDX-License-Identifier: Apache-2.0
"""Fixtures of the drivers' tests."""
import os
import shutil

import pytest

from driver import PROGRAMS, Driver, code_message, install
from karzer import lack


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


def started(lang):
    """One whole program of a language, as the fixture `run` is of Python."""
    folder = install(lang)

    def run(code, *args, name="<code>", stdin=None, **options):
        if stdin is not None:
            options["stdin"] = -1
        with Driver(folder, *args, lang=lang, **options) as driver:
            driver.send(code_message(code, name))
            return driver.finish(stdin)
    run.home = folder
    run.lang = lang
    return run


@pytest.fixture(scope="session")
def programs():
    """run() of each language that is on this machine."""
    found = {lang: started(lang) for lang in PROGRAMS
             if os.path.exists(PROGRAMS[lang])}
    yield found
    for run in found.values():
        shutil.rmtree(run.home)


def program_of(programs, lang):
    if lang not in programs:
        lack(lang, f"{PROGRAMS[lang]} is not installed")
    return programs[lang]


@pytest.fixture(params=sorted(PROGRAMS))
def program(request, programs):
    """run() of every language, one after the other."""
    return program_of(programs, request.param)


@pytest.fixture
def blocks(program):
    """A session of every language."""
    with Driver(program.home, lang=program.lang) as driver:
        driver.lang = program.lang
        yield driver


@pytest.fixture
def node(programs):
    return program_of(programs, "node")


@pytest.fixture
def node_session(node):
    with Driver(node.home, lang="node") as driver:
        yield driver


@pytest.fixture
def bash(programs):
    return program_of(programs, "bash")


@pytest.fixture
def bash_session(bash):
    with Driver(bash.home, lang="bash") as driver:
        yield driver


@pytest.fixture(scope="module", autouse=True)
def nothing_is_left():
    """These tests start no cell."""
