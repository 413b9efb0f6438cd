// SPDX-License-Identifier: Apache-2.0
// session - more than one block, one after the other, in one context. Loaded for
// a block that is not the last.
//
// A block has ended when its code has run to its end and what it awaited, or its
// last value if that is a promise, has settled. Timers and servers live on while
// the next block is waited for.
'use strict';
const fs = require('node:fs');
const vm = require('node:vm');

const DONE = 66;
const LAST = 1;
const CHECK = 2;
const UNSETTLED = 13; // node's exit status for it

class Exit {
  constructor(code) {
    this.code = code;
  }
}

module.exports = (driver) => {
  const { read } = fs;
  const { evaluate } = driver.part('modules');
  const { stderr } = process;
  const really = process.exit;
  let block = null; // the one that runs: {status, waits}
  let count = 0;
  let over = false; // the last block has ended

  // process.exit() ends the block; what it threw through is undone by nobody.
  function exit(code) {
    if (code !== undefined) process.exitCode = code;
    throw new Exit(Number(process.exitCode ?? 0) | 0);
  }

  function fail(error) {
    if (error instanceof Exit) {
      if (block) block.exit = error.code;
      return;
    }
    driver.part('errors').complain(error);
    if (!block) return;
    if (!block.failed) driver.part('errors').report(error);
    block.failed = true;
  }

  // Errors of callbacks and promises, which would end the process.
  function caught(error, origin) {
    if (!(error instanceof Exit) &&
        process.listenerCount('uncaughtException') > 0) {
      process.emit('uncaughtException', error, origin);
      return;
    }
    if (over) driver.part('errors').fatal(error);
    fail(error);
    if (error instanceof Exit && block) end(block);
  }

  function end(which) {
    if (block !== which) return;
    block = null;
    const status = which.exit ?? (which.failed ? 1
      : Number(process.exitCode ?? 0) | 0);
    if (which.last) {
      finish(which, status);
      return;
    }
    process.exitCode = undefined;
    done(status);
    listen();
  }

  // From here on it is a program like any other, and ends as one.
  function finish(which, status) {
    over = true;
    process.exit = really;
    if (which.failed || which.exit !== undefined) really.call(process, status);
    process.exitCode = status;
  }

  // What has been awaited in the end, and then displayed.
  async function settle(which, result) {
    try {
      if ('error' in result) throw result.error;
      const value = await result.value;
      if (value !== undefined && !driver.isTimer(value) &&
          driver.part('display').isLast(result.code))
        await driver.part('display').showValue(value);
      await Promise.all(which.waits);
    } catch (error) {
      fail(error);
    }
    end(which);
  }

  function done(status) {
    const data = driver.u32(0);
    data.writeInt32LE(status);
    driver.send(DONE, [data]);
  }

  // Must more lines follow? So it is when the brackets that are put around it
  // are where the parser stumbles.
  function isPart(code) {
    if (/^\s*(?:import|export)\b/.test(code)) return false;
    if (code.lastIndexOf('/*') > code.lastIndexOf('*/')) return true;
    try {
      new vm.Script(`(async () => {${code}\n})`, { filename: 'block' });
    } catch (error) {
      const line = /^block:(\d+)/.exec(error.stack);
      return line !== null && Number(line[1]) === code.split('\n').length + 1;
    }
    return false;
  }

  function run({ flags, name, code }) {
    if (flags & CHECK) {
      done(isPart(code) ? 1 : 0);
      listen();
      return;
    }
    count++;
    if (count > 1) driver.begin(name);
    if (name[0] === '<' && count > 1) name = name.replace(/>$/, `_${count}>`);
    const which = { failed: false, exit: undefined, waits: [],
      last: (flags & LAST) !== 0 };
    block = which;
    evaluate(name, code, (result) => settle(which, result));
  }

  // Nobody is left who could settle what the block awaits.
  function drained() {
    if (!block) return;
    if (!block.failed && block.exit === undefined) {
      stderr.write('Warning: Detected unsettled top-level await\n');
      block.exit = UNSETTLED;
    }
    end(block);
  }

  // The next block: the event loop goes on meanwhile.
  function listen() {
    let next;
    try {
      next = driver.take();
    } catch (error) {
      stderr.write(`${error.message}\n`);
      really.call(process, 1);
    }
    if (next) {
      setImmediate(run, next);
      return;
    }
    const more = Buffer.allocUnsafe(driver.want());
    read(driver.channel, more, 0, more.length, null, (error, n) => {
      if (error || n === 0) return; // the engine is gone: end as a program
      driver.inbox = Buffer.concat([driver.inbox, more.subarray(0, n)]);
      listen();
    });
  }

  function start(first) {
    driver.session = { wait: (done) => block?.waits.push(done) };
    process.exit = exit;
    process.setUncaughtExceptionCaptureCallback(caught);
    process.on('beforeExit', drained);
    run(first);
  }

  return { start };
};
