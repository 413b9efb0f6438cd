// SPDX-License-Identifier: Apache-2.0
// display - values as mime bundles: text, images, what an object's own methods
// give. Loaded at the first value that is displayed.
'use strict';
const vm = require('node:vm');

const RESULT = 64;
const VALUE = 1;
const MIMES_MAX = 32;
const MIME_MAX = 100;
const TEXT_MAX = 1 << 20; // characters of text/plain
const BUNDLE_MAX = (16 << 20) - 4096;
const MIME = /^[\w!#$&^.+-]+\/[\w!#$&^.+-]+$/;
const BASE64 = /^(?:image\/(?:png|jpeg|gif|webp)|application\/pdf)$/;

// What bytes begin with, and what they then are.
const MAGIC = [
  ['image/png', Buffer.from('\x89PNG\r\n\x1a\n', 'latin1')],
  ['image/jpeg', Buffer.from('\xff\xd8\xff', 'latin1')],
  ['image/gif', Buffer.from('GIF8')],
  ['application/pdf', Buffer.from('%PDF-')],
];

// Methods that objects have for this, and what they give.
const METHODS = [
  ['toPNG', 'image/png'], ['toSVG', 'image/svg+xml'], ['toHTML', 'text/html'],
  ['toMarkdown', 'text/markdown'], ['toLaTeX', 'text/latex'],
];
const BUNDLE_METHODS = [Symbol.for('Jupyter.display'), '_repr_mimebundle_'];

module.exports = (driver) => {
  const { inspect, types } = driver;
  const { isPromise } = types;

  function note(text) {
    process.stderr.write(`karzer: ${text}\n`);
  }

  function toBytes(mime, data) {
    if (ArrayBuffer.isView(data))
      return Buffer.from(data.buffer, data.byteOffset, data.byteLength);
    if (data instanceof ArrayBuffer) return Buffer.from(data);
    if (typeof data === 'string' && BASE64.test(mime))
      return Buffer.from(data, 'base64');
    if (mime === 'application/json' || typeof data !== 'string')
      data = JSON.stringify(data) ?? 'null';
    return Buffer.from(data);
  }

  function add(bundle, mime, data) {
    if (data === undefined || data === null || mime.length > MIME_MAX ||
        !MIME.test(mime)) return;
    try {
      if (mime === 'text/plain') data = short(String(data));
      bundle.set(mime, toBytes(mime, data));
    } catch (error) {
      driver.part('errors').complain(error);
    }
  }

  function textOf(value) {
    let text;
    try {
      text = inspect(value, { maxStringLength: Infinity });
    } catch (error) {
      text = `<a value that cannot be shown: ${error?.message}>`;
    }
    return short(text);
  }

  function short(text) {
    return text.length <= TEXT_MAX ? text
      : `${text.slice(0, TEXT_MAX)}... (${text.length - TEXT_MAX} more ` +
        'characters)';
  }

  function call(value, name, ...args) {
    try {
      return typeof value[name] === 'function' ? value[name](...args) : null;
    } catch (error) {
      driver.part('errors').complain(error);
      return null;
    }
  }

  // {mime: data or a promise of it} that the value itself gives.
  function given(value) {
    const found = new Map();
    if ((typeof value !== 'object' && typeof value !== 'function') ||
        value === null || types.isProxy(value)) return found;
    if (ArrayBuffer.isView(value)) {
      const bytes = toBytes('', value);
      for (const [mime, magic] of MAGIC)
        if (bytes.subarray(0, magic.length).equals(magic))
          found.set(mime, value);
      return found;
    }
    for (const name of BUNDLE_METHODS) {
      const bundle = call(value, name);
      if (bundle && typeof bundle === 'object') found.set('', bundle);
    }
    for (const [name, mime] of METHODS) {
      const data = call(value, name);
      if (data) found.set(mime, data);
    }
    if (value.constructor?.name === 'Canvas' && !found.has('image/png'))
      found.set('image/png', call(value, 'toBuffer', 'image/png'));
    return found;
  }

  // A plain object whose every name is a mime type is a bundle.
  function isBundle(value) {
    if (typeof value !== 'object' || value === null) return false;
    const keys = Object.keys(value);
    return keys.length > 0 && keys.length <= MIMES_MAX &&
           keys.every((key) => MIME.test(key));
  }

  function encode(bundle, flags) {
    const parts = [];
    let count = 0;
    let size = 0;
    for (const [mime, data] of bundle) {
      if (count === MIMES_MAX ||
          size + mime.length + data.length + 8 > BUNDLE_MAX) {
        note(`${mime} of ${data.length} bytes is more than can be displayed`);
        continue;
      }
      size += mime.length + data.length + 8;
      count++;
      for (const one of [Buffer.from(mime), data])
        parts.push(driver.u32(one.length), one);
    }
    return [driver.u32(flags), driver.u32(count), ...parts];
  }

  function send(bundle, flags) {
    if (driver.connected()) driver.send(RESULT, encode(bundle, flags));
    else if (!flags) console.log(bundle.get('text/plain').toString());
  }

  function fill(bundle, mime, data) {
    if (mime !== '') {
      add(bundle, mime, data);
      return;
    }
    for (const [key, one] of Object.entries(data)) add(bundle, key, one);
  }

  // What is there at once is sent at once; a promise is waited for.
  function show(value, flags = 0) {
    const bundle = new Map([['text/plain', Buffer.from(textOf(value))]]);
    const found = flags === 0 && isBundle(value)
      ? new Map([['', value]]) : given(value);
    const waits = [...found.values()].filter(isPromise);
    if (waits.length === 0) {
      for (const [mime, data] of found) fill(bundle, mime, data);
      send(bundle, flags);
      return undefined;
    }
    const done = Promise.allSettled(found.values()).then((all) => {
      [...found.keys()].forEach((mime, i) => {
        if (all[i].status === 'fulfilled') fill(bundle, mime, all[i].value);
        else driver.part('errors').complain(all[i].reason);
      });
      send(bundle, flags);
    });
    driver.session?.wait(done);
    return done;
  }

  function ofKind(mime) {
    return (data) => show({ [mime]: data,
      'text/plain': typeof data === 'string' ? data : textOf(data) });
  }

  const kinds = {
    html: ofKind('text/html'), svg: ofKind('image/svg+xml'),
    markdown: ofKind('text/markdown'), latex: ofKind('text/latex'),
    json: (data) => show({ 'application/json': data ?? null,
      'text/plain': textOf(data) }),
    png: (data) => show({ 'image/png': data, 'text/plain': textOf(data) }),
    mime: (bundle) => show(bundle),
  };

  // Is the last statement of the code an expression? A loop, an `if` and the
  // like have a value too, which nobody asked for. V8 is the judge: the text is
  // cut before the last line that can begin a statement, or behind a `;` of it.
  function compiles(text) {
    try {
      new vm.Script(`(async () => {${text}\n})`);
      return true;
    } catch {
      return false;
    }
  }

  function isExpression(text) {
    const bare = text.replace(/(?:\s*;)+\s*$/, '');
    return /\S/.test(bare) && !/^\s*(?:function|class|async\s+function)\b/
      .test(bare) && compiles(`return (${bare}\n)`);
  }

  function isLast(code) {
    const lines = code.split('\n');
    for (let i = lines.length - 1; i >= 0 && lines.length - i < 10000; i--) {
      if (!/^[^\s)}\]/*.,?:;]/.test(lines[i]) && !/^\/[^/*]/.test(lines[i]))
        continue;
      const tail = lines.slice(i).join('\n');
      if (isExpression(tail)) return compiles(lines.slice(0, i).join('\n'));
      if (i === 0 || compiles(lines.slice(0, i).join('\n')))
        return behindSemicolon(tail);
    }
    return false;
  }

  function behindSemicolon(tail) {
    const text = tail.replace(/[\s;]+$/, '');
    for (let at = text.lastIndexOf(';'), i = 0; at > 0 && i < 100;
      at = text.lastIndexOf(';', at - 1), i++) {
      if (isExpression(text.slice(at + 1)) && compiles(text.slice(0, at + 1)))
        return true;
    }
    return false;
  }

  return { show, kinds, isLast, showValue: (value) => show(value, VALUE) };
};
