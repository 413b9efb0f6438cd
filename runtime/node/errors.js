// SPDX-License-Identifier: Apache-2.0
// errors - uncaught errors: node's own text, with the program's frames alone,
// and a message to the engine. Loaded at the first one.
'use strict';
const ERROR = 65;
const ENOMEM = 12;
const NAME_MAX = 1 << 10;
const VALUE_MAX = 1 << 18;
const TEXT_MAX = 1 << 20;

module.exports = (driver) => {
  const { inspect } = driver;
  const { isNativeError } = driver.types;

  function isError(value) {
    return isNativeError(value) || value instanceof Error;
  }

  // The stack without the driver's frames and node's own below the program's.
  function trim(error) {
    try {
      const lines = error.stack.split('\n');
      let end = lines.findIndex((l) => /^\s+at /.test(l) &&
                                       l.includes(driver.home));
      if (end < 0) end = lines.length;
      const ours = /^\s+at (?:.* \()?node:(?:vm|inspector|internal)\b/;
      while (end > 0 && ours.test(lines[end - 1])) end--;
      if (end === lines.length) return;
      const kept = lines.slice(0, end);
      if (!kept.some((line) => /^\s+at /.test(line))) kept.push(...frame(kept));
      error.stack = kept.join('\n');
    } catch {
      // no stack, or one that cannot be set
    }
  }

  // A syntax error has no frame but the place that is above its text: without
  // any, node puts the text in brackets.
  function frame([head, , marks]) {
    if (!/:\d+$/.test(head) || marks === undefined) return [];
    const at = marks.indexOf('^');
    return [`    at ${head}:${(at < 0 ? marks.length : at) + 1}`];
  }

  function trimAll(error) {
    for (let i = 0; isError(error) && i < 100; i++) {
      trim(error);
      if (Array.isArray(error.errors)) error.errors.forEach(trim);
      error = error.cause;
    }
  }

  // Where in a block the first frame is: the lines that node shows above.
  function arrow(error) {
    if (/^.+:\d+\n/.test(error.stack)) return ''; // it is there
    for (const line of error.stack.split('\n')) {
      const found = /^\s+at (?:.*\()?(.+):(\d+):(\d+)\)?$/.exec(line);
      if (!found) continue;
      const [, name, row, column] = found;
      const text = driver.sources.get(name)?.split('\n')[row - 1];
      if (text === undefined || text.length > 500) return '';
      return `${name}:${row}\n${text}\n${' '.repeat(column - 1)}^\n\n`;
    }
    return '';
  }

  function cut(text, most) {
    if (text.length <= most) return text;
    const half = most >> 1;
    return `${text.slice(0, half)}\n... (${text.length - 2 * half} ` +
           `characters) ...\n${text.slice(-half)}`;
  }

  function nameOf(error) {
    const kind = error?.constructor?.name;
    const name = isError(error) ? error.name : kind;
    if (name === 'Error' && typeof kind === 'string' && kind) return kind;
    return typeof name === 'string' && name ? name : 'Error';
  }

  function valueOf(error) {
    return isError(error) ? String(error.message) : inspect(error);
  }

  function safely(get, otherwise) {
    try {
      return get();
    } catch {
      return otherwise;
    }
  }

  function errnoOf(error) {
    const no = -error?.errno;
    if (Number.isInteger(no) && no > 0 && no < 4096) return no;
    return error instanceof RangeError &&
      /^Array buffer allocation failed/.test(error.message) ? ENOMEM : 0;
  }

  // What a person reads of it.
  function textOf(error) {
    if (!isError(error)) return `Uncaught ${inspect(error)}\n`;
    return `${arrow(error)}${inspect(error)}\n`;
  }

  // To the engine; what is on stderr is node's, or complain()'s, business.
  function report(error) {
    trimAll(error);
    const parts = [driver.u32(safely(() => errnoOf(error), 0))];
    for (const [get, most] of [[nameOf, NAME_MAX], [valueOf, VALUE_MAX],
      [textOf, TEXT_MAX]]) {
      const text = safely(() => get(error), '<an error that has no text>');
      const data = Buffer.from(cut(text, most));
      parts.push(driver.u32(data.length), data);
    }
    driver.send(ERROR, parts);
  }

  function complain(error) {
    trimAll(error);
    process.stderr.write(safely(() => textOf(error), 'Uncaught error\n'));
  }

  // Ends the process as node does for it.
  function fatal(error) {
    report(error);
    complain(error);
    process.stderr.write(`\nNode.js ${process.version}\n`);
    process.exit(1);
  }

  return { report, complain, fatal };
};
