// SPDX-License-Identifier: Apache-2.0
// driver - runs blocks of JavaScript that come over the channel (README.md).
//
// Started by the engine inside a cell as the main script. The other files of
// this folder are loaded when something first needs them, for console.log(1)
// needs none. What is used here is held from before user code ran.
'use strict';
const fs = require('node:fs');
const path = require('node:path');
const vm = require('node:vm');
const Module = require('node:module');
const util = require('node:util');

const CHANNEL = 3;
const CODE_MAX = 8 + 4096 + (16 << 20);
const LAST = 1;
// A block with one of these words may need more than a script's grammar.
const MODULE_WORDS = /\b(?:await|import|export)\b/;

const { readFileSync, readSync, writeSync, fstatSync, openSync, closeSync } = fs;
const { compileFunction } = vm;
const { inspect, types } = util;
const { isPromise } = types;
const { defineProperty } = Object;
const { allocUnsafe, from } = Buffer;

const driver = {
  home: __dirname,
  inspect,
  types,
  channel: CHANNEL,
  identity: identify(),
  sources: new Map(), // name of a block: its code
  blocks: 0,
  inbox: allocUnsafe(0),
  parts: Object.create(null),
  session: null, // blocks end, and the program does not
};

function identify() {
  try {
    const { dev, ino } = fstatSync(CHANNEL);
    return `${dev}:${ino}`;
  } catch {
    return null;
  }
}

// Another file of this folder, with what all of them share.
driver.part = (name) => {
  if (driver.parts[name]) return driver.parts[name];
  const filename = `${driver.home}/${name}.js`;
  const part = {};
  compileFunction(text(filename), ['module', 'require'], { filename })(
    part, require);
  driver.parts[name] = part.exports(driver);
  return driver.parts[name];
};

// The program may have used up its file descriptors: one was kept.
function text(filename) {
  try {
    return readFileSync(filename, 'utf8');
  } catch (error) {
    if (driver.spare < 0) throw error;
    closeSync(driver.spare);
    driver.spare = -1;
    return readFileSync(filename, 'utf8');
  }
}

driver.connected = () => identify() === driver.identity;

driver.u32 = (n) => {
  const b = allocUnsafe(4);
  b.writeUInt32LE(n >>> 0);
  return b;
};

// A whole message; not at all when the channel is gone.
driver.send = (type, parts) => {
  const payload = Buffer.concat(parts);
  const whole = Buffer.concat(
    [driver.u32(payload.length), driver.u32(type), payload]);
  if (!driver.connected()) return;
  try {
    for (let at = 0; at < whole.length;) at += writeSync(CHANNEL, whole, at);
  } catch {
    // the engine is gone
  }
};

// A block in the inbox as {flags, name, code}, taken out; null: not all yet.
driver.take = () => {
  const box = driver.inbox;
  if (box.length < 8) return null;
  const size = box.readUInt32LE(0);
  if (size < 8 || size > CODE_MAX || box.readUInt32LE(4) !== 1)
    throw new Error('karzer: bad message from the engine');
  if (box.length < 8 + size) return null;
  const end = 16 + box.readUInt32LE(12);
  driver.inbox = box.subarray(8 + size);
  return { flags: box.readUInt32LE(8), name: box.toString('utf8', 16, end),
    code: box.toString('utf8', end, 8 + size).replace(/^\ufeff/, '') };
};

// How many bytes to ask for now.
driver.want = () => {
  const box = driver.inbox;
  return box.length < 8 ? 4096
    : Math.max(1, 8 + box.readUInt32LE(0) - box.length);
};

driver.receive = () => {
  for (;;) {
    const block = driver.take();
    if (block) return block;
    const more = allocUnsafe(driver.want());
    const n = readSync(CHANNEL, more);
    if (n === 0) return null;
    driver.inbox = Buffer.concat([driver.inbox, more.subarray(0, n)]);
  }
};

// What a block finds as its own: require, module and the like, of the place
// where its file would be.
driver.begin = (name) => {
  const file = path.resolve(name);
  const module = new Module('.', null);
  module.filename = file;
  module.paths = Module._nodeModulePaths(path.dirname(file));
  process.argv[1] = name[0] === '<' ? name : file;
  process.mainModule = module;
  const names = { module, exports: module.exports,
    require: Module.createRequire(file),
    __filename: file, __dirname: path.dirname(file) };
  for (const key of Object.keys(names)) hide(key, names[key]);
  driver.module = module;
};

function hide(name, value) {
  defineProperty(globalThis, name,
    { value, writable: true, configurable: true, enumerable: false });
}
driver.hide = hide;

// What setTimeout and its like give is nothing to look at.
function isTimer(value) {
  const kind = value?.constructor?.name;
  return (kind === 'Timeout' || kind === 'Immediate') &&
         typeof value.hasRef === 'function';
}
driver.isTimer = isTimer;

// The value of the last expression, once it is there.
driver.showLast = (value, code) => {
  if (value === undefined || isTimer(value)) return;
  if (isPromise(value)) {
    value.then((settled) => driver.showLast(settled, code));
  } else if (driver.part('display').isLast(code)) {
    driver.part('display').showValue(value);
  }
};

// A block that is all of the program: what it throws ends the process as in
// any node; errors.js only listens.
function program({ name, code }) {
  if (MODULE_WORDS.test(code)) {
    driver.part('modules').program(name, code);
    return;
  }
  let script;
  try {
    script = new vm.Script(code, { filename: name });
  } catch (error) {
    if (error.message !== 'Illegal return statement') throw error;
    driver.module._compile(code, driver.module.filename);
    return;
  }
  driver.showLast(script.runInThisContext(), code);
}

function main() {
  const block = driver.receive();
  if (!block) return;
  driver.spare = openSync('/dev/null');
  process.execArgv.length = 0;
  delete Module._cache[__filename];
  hide('display', function display(...values) {
    for (const value of values) driver.part('display').show(value);
  });
  defineProperty(globalThis.display, 'mime', { configurable: true,
    get: () => driver.part('display').kinds.mime });
  for (const kind of ['html', 'svg', 'markdown', 'json', 'png', 'latex'])
    defineProperty(globalThis.display, kind, { configurable: true,
      get: () => driver.part('display').kinds[kind] });
  driver.begin(block.name);
  if (!(block.flags & LAST)) {
    driver.part('session').start(block);
    return;
  }
  driver.sources.set(block.name, block.code);
  process.on('uncaughtExceptionMonitor', (error) => {
    if (process.listenerCount('uncaughtException') === 0 &&
        !process.hasUncaughtExceptionCaptureCallback())
      driver.part('errors').report(error);
  });
  program(block);
}

main();
