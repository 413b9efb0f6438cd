# SPDX-License-Identifier: Apache-2.0
"""Node's own: values, modules, top-level await, errors, sessions."""
import base64
import errno
import json
import resource
import signal
import subprocess

import pytest

from driver import ENV, PROGRAMS, Done, Driver, Error, Result, code_message

NODE = PROGRAMS["node"]
PNG = b"\x89PNG\r\n\x1a\n"


def plain(code, *args, stdin=b""):
    return subprocess.run([NODE, "-e", code, "--", *args], env=ENV, input=stdin,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE)


@pytest.mark.parametrize("code, want", [
    ("1 + 1", "2"), ("let x = 5\nx", "5"), ("let x = 5; x", "5"),
    ("let x = 5\n\nx;\n\n", "5"), ("'text'", "'text'"), ("[1,\n 2]", "[ 1, 2 ]"),
    ("({\n  a: 1,\n})", "{ a: 1 }"), ("`\nfor x\n`", "'\\nfor x\\n'"),
    ("function f() { return 3 }\nf()", "3"), ("x = 1\nx // the end\n// more", "1"),
    ("const a = 1\nconst b = 2\na + b", "3"), ("null", "null"),
    ("new Map([[1, 2]])", "Map(1) { 1 => 2 }"), ("10n", "10n"),
    ("Symbol('s')", "Symbol(s)"), ("NaN", "NaN"), ("-0", "-0"),
    ("() => 1", "[Function (anonymous)]"), ("await 5", "5"),
    ("await (async () => 7)()", "7"), ("Promise.resolve(8)", "8"),
    ("const s = await Promise.resolve('é'); s", "'é'"), ("await 10n", "10n"),
    ("await -0", "-0"), ("await Symbol('s')", "Symbol(s)"),
    ("import { sep } from 'path'\nsep", "'/'"),
    ("import os, * as p from 'node:path'\n[typeof os.join, p.sep].join()", "'function,/'"),
    ("import path from 'path'; path.sep + 'x'", "'/x'"),
    ("import {\n  sep as s, // the\n  join,\n} from \"path\";\njoin(s, 'a')", "'/a'"),
    ("import 'fs'\n1", "1"), ("(await import('path')).sep", "'/'"),
    ("const p = import('path')\n;(await p).sep", "'/'"),
    ("export const q = 3\nq", "3"), ("export default function f() {}\nf.name", "'f'"),
    ("export function g() { return 4 }\nexport { g as h }\ng()", "4"),
    ("export default () => 3\n6", "6"), ("export * from 'path'\n6", "6"),
    ("export class A {}\nnew A()", "A {}"), ("require('path').sep", "'/'"),
    ("typeof import.meta.url", "'string'"), ("this === globalThis", "true"),
    ("let t = `import x from 'y'`; await 1; t", '''"import x from 'y'"'''),
    ("const u = 'import(1)' // import(2)\nawait u", "'import(1)'"),
    ("for await (const x of [1, 2]) ;\n3", "3"), ("var a = 1, b = 2;\n[a, b]", "[ 1, 2 ]"),
    ("typeof require + typeof module + typeof __filename", "'functionobjectstring'"),
])
def test_the_last_expression_is_the_value(node, code, want):
    r = node(code)
    assert r.status == 0, r.err
    one, = r.results
    assert (one.text, one.value) == (want, True)


@pytest.mark.parametrize("code", [
    "undefined", "console.log(1)", "let x = 1", "for (let i = 0; i < 3; i++) i",
    "if (1) { 5 }", "if (1) 5", "function f() { return 5 }", "class A {}",
    "try { 5 } catch { 6 }", "{ 5 }", "for (const x of [1]) {\n  x\n}",
    "switch (1) { case 1: 5 }", "let n = 0; while (n < 3) n++",
    "setTimeout(() => {}, 1)", "await undefined", "Promise.resolve()",
    "async function main() {}\nmain()", "[1].forEach((x) => x)",
    "import 'fs'", "export const a = 1", "await 1; for (const x of [1]) x",
    "const a = {\n  b: 1,\n}", "do 5; while (0)", "l: 5",
])
def test_a_block_without_a_value_displays_nothing(node, code):
    r = node(code)
    assert r.messages == [] and r.status == 0, (r.err, r.results)


def test_display_shows_all_that_it_is_given(node):
    r = node("display(1, 'a')\nfor (let i = 0; i < 2; i++) display(i)\n'last'")
    assert [(one.text, one.value) for one in r.results] == [
        ("1", False), ("'a'", False), ("0", False), ("1", False),
        ("'last'", True)]


@pytest.mark.parametrize("code, mime, want", [
    ("Buffer.from('%s', 'base64')" % base64.b64encode(PNG + b"x").decode(),
     "image/png", PNG + b"x"),
    ("new Uint8Array([0xff, 0xd8, 0xff, 0])", "image/jpeg", b"\xff\xd8\xff\0"),
    ("Buffer.from('GIF89a')", "image/gif", b"GIF89a"),
    ("Buffer.from('%PDF-1')", "application/pdf", b"%PDF-1"),
    ("({ toPNG() { return Buffer.from([137, 1]) } })", "image/png", b"\x89\x01"),
    ("({ async toPNG() { return Buffer.from([137, 2]) } })", "image/png", b"\x89\x02"),
    ("({ toSVG: () => '<svg/>' })", "image/svg+xml", b"<svg/>"),
    ("({ toHTML: () => '<b>é</b>' })", "text/html", "<b>é</b>".encode()),
    ("({ toMarkdown: () => '*x*' })", "text/markdown", b"*x*"),
    ("class Canvas { toBuffer(t) { return Buffer.from(t) } }\nnew Canvas()",
     "image/png", b"image/png"),
    ("({ [Symbol.for('Jupyter.display')]: () => ({ 'text/x': 'y' }) })",
     "text/x", b"y"),
    ("({ [Symbol.for('Jupyter.display')]: async () => ({ 'text/x': 'z' }) })",
     "text/x", b"z"),
    ("display.html('<i>')", "text/html", b"<i>"),
    ("display.svg('<svg/>')", "image/svg+xml", b"<svg/>"),
    ("display.markdown('# x')", "text/markdown", b"# x"),
    ("display.latex('$x$')", "text/latex", b"$x$"),
    ("display.json({ a: [1] })", "application/json", b'{"a":[1]}'),
    ("display.png(Buffer.from([1, 2]))", "image/png", b"\x01\x02"),
    ("display.png('AQI=')", "image/png", b"\x01\x02"),
    ("display.mime({ 'application/x-y': 'z' })", "application/x-y", b"z"),
    ("display({ 'text/html': '<u>', 'text/plain': 'u' })", "text/html", b"<u>"),
    ("display({ 'application/json': { a: 1 } })", "application/json", b'{"a":1}'),
])
def test_what_is_more_than_text_has_its_mime_type(node, code, mime, want):
    r = node(code)
    one, = r.results
    assert one.bundle[mime] == want and one.bundle["text/plain"], r.err


def test_a_representation_that_fails_is_told_and_ends_nothing(node):
    r = node("({ toHTML() { throw new Error('no') }, toSVG: () => '<svg/>',"
             " async toPNG() { throw new Error('nor') } })")
    one, = r.results
    assert set(one.bundle) == {"text/plain", "image/svg+xml"} and r.status == 0
    assert b"Error: no\n" in r.err and b"Error: nor\n" in r.err


def test_what_is_too_large_is_said_and_left_out(node):
    r = node("display.html('x'.repeat(17 << 20))\n'y'.repeat(2 << 20)")
    assert "text/html" not in r.results[0].bundle
    assert b"more than can be displayed" in r.err
    assert r.results[1].text.endswith("more characters)") and len(r.results[1].text) < 1100000


def test_a_bundle_never_breaks_the_channel(node):
    r = node("display({ 'text/a b': 1 })\n"
             "display({ ['text/' + 'x'.repeat(200)]: 'long' })\n"
             "display(Object.fromEntries([...Array(40)].map((_, i) =>"
             " ['text/x' + i, 'y'])))\n"
             "display(new Proxy({}, { get() { throw new Error('trap') } }))\n"
             "display(Object.create(null))\n"
             "display({ get toPNG() { throw new Error('get') } })\n'\\ud800'")
    assert r.status == 0 and len(r.results) == 7, r.err


PLAIN = [
    "console.log([1, { a: 'b' }], 'x', 5n); console.error('e')",
    "console.table([{ a: 1 }]); console.dir({ a: 1 })",
    "process.exitCode = 4", "process.exit()", "process.abort()",
    "process.on('exit', (c) => console.log('bye', c)); process.exit(5)",
    "process.on('beforeExit', () => console.log('before'))",
    "setTimeout(() => console.log('late'), 20); console.log('now')",
    "process.nextTick(() => console.log(2)); console.log(1);"
    " queueMicrotask(() => console.log(3)); setImmediate(() => console.log(4))",
    "process.on('uncaughtException', (e) => console.log('caught', e.message)); null.x",
    "process.on('unhandledRejection', (e) => console.log('got', e)); void Promise.reject(5)",
    "process.kill(process.pid, 'SIGTERM'); setTimeout(() => {}, 1000)",
    "process.on('SIGUSR2', () => { console.log('sig'); process.exit() });"
    " process.kill(process.pid, 'SIGUSR2'); setTimeout(() => {}, 5000)",
    "const { Worker } = require('worker_threads');"
    " new Worker('require(\"worker_threads\").parentPort.postMessage(40 + 2)',"
    " { eval: true }).on('message', console.log); undefined",
    "new (require('worker_threads').Worker)('process.exit(3)', { eval: true })"
    ".on('exit', (c) => console.log('exit', c)); undefined",
    "const http = require('http'); const s = http.createServer((q, r) => r.end('hi'))"
    ".listen(0, '127.0.0.1', () => http.get(s.address(), (r) => r.on('data', (d) =>"
    " { console.log(String(d)); s.close() }))); undefined",
    "require('child_process').fork('/dev/null').on('exit', (c) => console.log(c)); undefined",
    "console.log(Object.keys(globalThis).includes('display'))",
    "console.log(process.stdin.isTTY, process.stdout.isTTY)",
    "process.stdin.on('data', (d) => console.log(d.length)); undefined",
    "require('fs').readFileSync(0).length > 3 && console.log('read'); undefined",
    "const assert = require('assert'); assert.deepStrictEqual({ a: 1 }, { a: 1 })",
    "console.log(structuredClone(new Date(0)), new Intl.NumberFormat('de').format(1e6))",
    "console.log(typeof fetch, performance.now() > 0)",
]


@pytest.mark.parametrize("code", PLAIN)
def test_a_program_does_what_it_does_under_node(node, code):
    want = plain(code, stdin=b"one\ntwo\n")
    got = node(code, stdin=b"one\ntwo\n")
    assert (got.out, got.status) == (want.stdout, want.returncode), got.err


def test_the_driver_is_out_of_sight(node):
    r = node("console.log(process.execArgv, process.argv.slice(1), require.main === module,"
             " Object.keys(require.cache), Object.keys(globalThis).includes('require'))", "a")
    assert r.text == "[] [ '<code>', 'a' ] true [] false\n"


def test_the_use_of_all_descriptors_is_reported(node):
    r = node("const l = []\nfor (;;) l.push(require('fs').openSync('/dev/null'))")
    assert r.error.errno == errno.EMFILE and r.status == 1


def test_an_exit_while_something_is_awaited_is_that_exit(node):
    r = node("setTimeout(() => process.exit(5), 5)\nawait new Promise(() => {})")
    assert (r.status, r.err, r.messages) == (5, b"", [])


def test_an_error_has_its_name_value_and_number(node):
    e = node("require('fs').readFileSync('/nonexistent')").error
    assert (e.name, e.errno) == ("Error", errno.ENOENT)
    assert e.value.startswith("ENOENT: no such file")
    e = node("class E extends Error {}\nthrow new E('mine')").error
    assert (e.name, e.value, e.errno) == ("E", "mine", 0)
    e = node("const e = new Error('x'); e.name = 'Named'; throw e").error
    assert e.name == "Named"
    for code, name, value in (("throw 5", "Number", "5"),
                              ("throw 'x'", "String", "'x'"),
                              ("throw null", "Error", "null"),
                              ("throw { a: 1 }", "Object", "{ a: 1 }")):
        r = node(code)
        assert (r.error.name, r.error.value, r.status) == (name, value, 1)


@pytest.mark.parametrize("code, line, frames", [
    ("function f() {\n  throw new TypeError('q')\n}\nf()", 2, ["f", ""]),
    ("const f = async () => {\n  await 1\n  throw new TypeError('q')\n}\nawait f()", 3, ["f", ""]),
    ("async function main() {\n  throw new TypeError('q')\n}\nmain()", 2, ["main", ""]),
    ("setTimeout(function late() {\n  throw new TypeError('q')\n}, 1)", 2, ["late"]),
    ("import fs from 'fs'\n\nthrow new TypeError('q')", 3, [""]),
    ("import {\n  sep,\n} from 'path'\nthrow new TypeError('q')", 4, [""]),
    ("\n\nvoid Promise.reject(new TypeError('q'))", 3, [""]),
])
def test_a_traceback_has_the_users_frames_alone(node, code, line, frames):
    r = node(code)
    assert r.status == 1 and r.error.name == "TypeError"
    text = r.error.traceback
    assert text.startswith(f"<code>:{line}\n"), text
    assert code.split("\n")[line - 1] in text and "^" in text
    found = [l for l in text.split("\n") if l.startswith("    at ")]
    assert len(found) == len(frames) and all("<code>:" in l for l in found), text
    for one, name in zip(found, frames):
        assert name in one
    for said in (text, r.err.decode()):
        assert "karzer" not in said and "node:" not in said, said


@pytest.mark.parametrize("code, place", [
    ("if x", "1:4"), ("let a = 1\nlet a = 2", "2:5"), ("x = (", "1:"),
    ("await 1; if x", "1:13"), ("import a from 'fs'\nif x", "2:4"),
    ("import { from 'fs'", "1:"), ("await 1\nx = {", "2:"), ("'abc", "1:1"),
])
def test_a_syntax_error_points_at_its_place(node, code, place):
    r = node(code)
    assert r.status == 1 and r.error.name == "SyntaxError"
    assert f"at <code>:{place}" in r.error.traceback, r.error.traceback
    assert "karzer" not in r.err.decode() and "node:" not in r.err.decode()


def test_a_name_that_a_module_does_not_have_is_told(node):
    e = node("import { nosuch } from 'fs'").error
    assert e.name == "SyntaxError" and "nosuch" in e.value
    assert node("import x from './nosuch.js'").error.value.startswith("Cannot find module")
    assert node("import x from 'nosuch'").error.value.startswith("Cannot find package")


def test_causes_and_properties_are_shown(node):
    text = node("throw new Error('out', { cause: new Error('in') })").error.traceback
    assert "[cause]: Error: in" in text and "driver.js" not in text, text


def test_errors_that_are_hard_to_tell_are_told(node):
    for code in ("const e = new Error('x'); Object.defineProperty(e, 'stack',"
                 " { get() { throw 1 } }); throw e",
                 "throw new Proxy({}, { get() { throw new Error('trap') } })",
                 "const e = new Error('x'); e.stack = 5; throw e",
                 "throw Object.create(null)", "throw Symbol('s')",
                 "const e = new Error('x'); e.name = Symbol('n'); throw e",
                 "const e = new Error('x'); e.cause = e; throw e",
                 "Error.prepareStackTrace = () => { throw 1 }; throw new Error('x')",
                 "Error.stackTraceLimit = 0; throw new Error('x')",
                 "throw new Error('\\ud800\\0')"):
        r = node(code)
        assert r.status == 1 and r.error is not None, (code, r.err)


def test_text_that_is_long_keeps_its_ends(node):
    e = node("throw new Error('a'.repeat(5000000) + 'END')").error
    assert len(e.value) < 300000 and e.value.endswith("END")
    assert len(e.traceback) < 1100000


def test_an_await_that_never_settles_is_told(node):
    r = node("console.log(1)\nawait new Promise(() => {})")
    assert (r.out, r.status) == (b"1\n", 13)
    assert b"unsettled top-level await" in r.err


def test_a_top_level_return_is_a_commonjs_program(node):
    r = node("console.log(typeof require, typeof exports)\nif (1) return\nconsole.log(2)",
             name="prog.cjs")
    assert (r.out, r.status) == (b"function object\n", 0)


def test_a_file_has_its_name_and_its_arguments(node, tmp_path):
    code = ("console.log(__filename, process.argv[1], process.argv[2],"
            " require.main === module)\nnull.x")
    r = node(code, "x", name="dir/prog.js", cwd=tmp_path)
    assert r.text == f"{tmp_path}/dir/prog.js {tmp_path}/dir/prog.js x true\n"
    assert r.error.traceback.startswith("dir/prog.js:2\nnull.x\n")
    assert "dir/prog.js:2:6" in r.error.traceback


def test_modules_are_found_from_where_the_file_is(node, tmp_path):
    (tmp_path / "node_modules/dep").mkdir(parents=True)
    (tmp_path / "node_modules/dep/package.json").write_text(
        '{"exports": {"import": "./i.mjs", "require": "./r.cjs"}}')
    (tmp_path / "node_modules/dep/i.mjs").write_text("export default 'esm'")
    (tmp_path / "node_modules/dep/r.cjs").write_text("module.exports = 'cjs'")
    (tmp_path / "lib.mjs").write_text("export const here = import.meta.url; export default 7")
    code = ("import dep from 'dep'\nimport lib, { here } from './lib.mjs'\n"
            "const later = (await import('./lib.mjs')).default\n"
            "console.log(dep, require('dep'), lib, later, here, import.meta.url,"
            " import.meta.resolve('./lib.mjs'))")
    for name, cwd in (("<code>", tmp_path), ("prog.mjs", tmp_path),
                      (str(tmp_path / "sub.mjs"), "/")):
        r = node(code, name=name, cwd=cwd)
        file = "code.mjs" if name == "<code>" else name.rpartition("/")[2]
        assert r.text == (f"esm cjs 7 7 file://{tmp_path}/lib.mjs "
                          f"file://{tmp_path}/{file} file://{tmp_path}/lib.mjs\n"), r.err


def test_json_is_imported_with_its_attribute(node, tmp_path):
    (tmp_path / "d.json").write_text('{"a": 1}')
    r = node("import d from './d.json' with { type: 'json' }\nd.a", cwd=tmp_path)
    assert r.results[0].text == "1", r.err


def test_a_program_that_breaks_its_own_names_is_still_reported(node):
    for code in ("JSON = null\n", "globalThis.console = null\n",
                 "require('fs').writeSync = require('fs').fstatSync = null\n",
                 "process.exit = process.on = null\n", "var Object = null\n",
                 "Error.prepareStackTrace = () => 'mine'\n",
                 "globalThis.display = 1\n", "require('module')._cache = null\n",
                 "require('util').inspect = null\n", "process.argv = null\n"):
        r = node(code + "0x10 + 1")
        assert [one.text for one in r.results] == ["17"], (code, r.err)
        r = node(code + "null.x")
        assert r.status == 1 and r.error.name == "TypeError", (code, r.err)


def test_a_file_in_the_channels_place_is_not_written(node, tmp_path):
    path = tmp_path / "mine"
    r = node("const fs = require('fs')\nfs.closeSync(3)\n"
             f"fs.openSync({json.dumps(str(path))}, 'w')\ndisplay(1)\nnull.x")
    assert r.status == 1 and path.read_bytes() == b"" and r.messages == []
    assert r.text == "1\n"


def test_little_memory_is_enough_or_told(node):
    def limits():
        resource.setrlimit(resource.RLIMIT_DATA, (256 << 20, 256 << 20))
    assert node("1 + 1", limits=limits).results[0].text == "2"
    assert node("await 1", limits=limits).results[0].text == "1"
    r = node("try { new ArrayBuffer(1 << 30) } catch (e) { throw e }", limits=limits)
    assert r.status == 1 and r.error.errno == errno.ENOMEM, r.err


def test_an_interrupted_program_dies_by_the_signal(node):
    with Driver(node.home, lang="node") as d:
        d.send(code_message("console.log('up')\nfor (;;) ;"))
        d.read_until(d.process.stdout, b"up")
        d.process.send_signal(signal.SIGINT)
        d.finish()
    assert d.status == -signal.SIGINT


# sessions

def texts(messages):
    return [m.text for m in messages if isinstance(m, Result)]


def test_const_may_be_said_again(node_session):
    node_session.block("const x = 1; class A {}")
    assert texts(node_session.block("const x = 2; class A {}\nx")) == ["2"]


def test_imports_live_from_block_to_block(node_session):
    node_session.block("import path, { sep as s } from 'path'")
    assert texts(node_session.block("path.sep + s")) == ["'//'"]


def test_exit_ends_the_block_with_its_status(node_session):
    node_session.block("let x = 1")
    for code, status in (("process.exit(3)", 3), ("process.exit()", 0),
                         ("await 1; process.exit(4)", 4), ("process.exitCode = 5; undefined", 5),
                         ("setTimeout(() => process.exit(6), 1); await new Promise(() => {})", 6)):
        done, = node_session.block(code)
        assert done.status == status, code
    assert texts(node_session.block("x")) == ["1"]


def test_a_promise_as_the_last_value_is_waited_for(node_session):
    value, done = node_session.block(
        "const f = async () => { await new Promise((r) => setTimeout(r, 20)); return 7 }\nf()")
    assert (value.text, done.status) == ("7", 0)
    error, done = node_session.block("(async () => { await 1; throw new RangeError('z') })()")
    assert (error.name, error.value, done.status) == ("RangeError", "z", 1)


def test_an_error_of_a_callback_is_the_running_blocks(node_session):
    error, done = node_session.block(
        "setTimeout(() => { throw new Error('late') }, 1)\n"
        "await new Promise((r) => setTimeout(r, 30))")
    assert (error.value, done.status) == ("late", 1)
    assert texts(node_session.block("5")) == ["5"]


def test_an_error_between_blocks_is_told_and_ends_nothing(node_session):
    node_session.block("setTimeout(() => { throw new Error('between') }, 1)")
    said = node_session.read_until(node_session.process.stderr, b"at Timeout")
    assert b"Error: between" in said
    assert texts(node_session.block("5")) == ["5"]


def test_timers_and_servers_live_on_between_blocks(node_session):
    node_session.block("let n = 0; const t = setInterval(() => n++, 1)")
    value, _ = node_session.block(
        "await new Promise((r) => setTimeout(r, 50)); clearInterval(t); n > 1")
    assert value.text == "true"
    node_session.block("const s = require('http').createServer((q, r) => r.end('hi'))"
                       ".listen(0, '127.0.0.1'); await require('events').once(s, 'listening')")
    value, _ = node_session.block(
        "await (await fetch(`http://127.0.0.1:${s.address().port}`)).text()")
    assert value.text == "'hi'"


def test_an_await_that_never_settles_ends_the_block(node_session):
    done, = node_session.block("await new Promise(() => {})")
    assert done.status == 13
    assert texts(node_session.block("5")) == ["5"]


def test_a_traceback_goes_through_all_blocks(node_session):
    node_session.block("function f() {\n  return null.x\n}")
    node_session.block("function g() { return f() }")
    error, _ = node_session.block("g()")
    frames = [line for line in error.traceback.split("\n") if "    at " in line]
    assert [f.partition("<")[2].partition(">")[0] for f in frames] == \
        ["code", "code_2", "code_3"], frames
    assert error.traceback.startswith("<code>:2\n  return null.x\n")


def test_handlers_of_the_program_get_its_errors(node_session):
    node_session.block("let got; process.on('uncaughtException', (e) => { got = e.message })")
    node_session.block("setTimeout(() => { throw new Error('mine') }, 1);"
                       " await new Promise((r) => setTimeout(r, 30))")
    assert texts(node_session.block("got")) == ["'mine'"]


def test_types_are_told_apart(node_session):
    found = node_session.block("display(1)\nnull.x")
    assert [type(m) for m in found] == [Result, Error, Done]


def test_display_waits_for_images_before_the_block_ends(node_session):
    shown, done = node_session.block(
        "display({ async toPNG() { await new Promise((r) => setTimeout(r, 20));"
        " return Buffer.from([137]) } }); undefined")
    assert shown.bundle["image/png"] == b"\x89" and done.status == 0
