// SPDX-License-Identifier: Apache-2.0
// modules - blocks with `await` at the top level, `import` and `export`, and all
// blocks of a session. Loaded at the first of them.
//
// V8's own REPL mode runs them: await works where it stands, names live from
// block to block, and const may be said again. It is reached by an inspector of
// this thread; nothing listens. REPL mode knows no import, so imports become
// awaited calls, at the places that V8 names when it refuses them.
'use strict';
const path = require('node:path');
const vm = require('node:vm');
const { pathToFileURL } = require('node:url');
const { Session } = require('node:inspector');
const Module = require('node:module');

const REWRITES_MAX = 10000;
const WORDS = /\b(?:import|export)\b/;
const HANDLERS = ['unhandledRejection', 'uncaughtException'];
const PREFIX = '(async () => {';

const ID = '[\\p{ID_Start}$_][\\p{ID_Continue}$]*';
const TEXT = `"(?:[^"\\\\\\n]|\\\\.)*"|'(?:[^'\\\\\\n]|\\\\.)*'`;
const LIST = '\\{[^}]*\\}';
const WITH = `(?:\\s*(?:with|assert)\\s*(${LIST}))?\\s*;?`;
const IMPORT = new RegExp(
  `import\\s*(?:(?:(${ID})\\s*,?\\s*)?(?:(${LIST})|\\*\\s*as\\s+(${ID}))?` +
  `\\s*from\\s*)?(${TEXT})${WITH}`, 'yu');
const EXPORTS = [
  // export {a, b} and export * from 'x'
  [new RegExp(`export\\s*(?:${LIST}|\\*(?:\\s*as\\s+(?:${ID}|${TEXT}))?)` +
              `(?:\\s*from\\s*(${TEXT})${WITH})?`, 'yu'),
  (_, from, attributes) => from === undefined ? ''
    : `void (await karzerImport(${from}, ${attributes}));`],
  // a declaration with a name stays one
  [new RegExp('export\\s+(?:default\\s+)?(?=(?:async\\s+)?function\\b' +
              `\\s*\\*?\\s*${ID}|class\\s+(?!extends\\b)${ID})`, 'yu'),
  () => ''],
  [/export\s+default\b/y, () => 'karzerDefault ='],
  [/export\s+(?=const\b|let\b|var\b)/y, () => ''],
];

module.exports = (driver) => {
  const session = new Session();
  session.connect();
  const box = {}; // where values of the inspector arrive
  const boxId = reach();

  // The inspector's name for `box`.
  function reach() {
    const key = Symbol.for('karzer');
    globalThis[key] = box;
    let id;
    session.post('Runtime.evaluate',
      { expression: 'globalThis[Symbol.for("karzer")]' },
      (_, answer) => { id = answer.result.objectId; });
    delete globalThis[key];
    return id;
  }

  // The value itself of what the inspector describes.
  function valueOf(remote) {
    if (remote.objectId === undefined) {
      const text = remote.unserializableValue;
      if (text === undefined) return remote.value;
      return text.endsWith('n') ? BigInt(text.slice(0, -1)) : Number(text);
    }
    session.post('Runtime.callFunctionOn', {
      objectId: boxId, arguments: [{ objectId: remote.objectId }],
      functionDeclaration: 'function (o) { this.value = o; }',
    });
    session.post('Runtime.releaseObject', { objectId: remote.objectId });
    const { value } = box;
    box.value = undefined;
    return value;
  }

  // imports

  // An import() that looks from `file`.
  function importer(file) {
    const module = new Module(file, null);
    module.filename = file;
    module.paths = Module._nodeModulePaths(path.dirname(file));
    module._compile('module.exports = (name, attributes) => attributes' +
      ' === undefined ? import(name)' +
      ' : import(name, {with: attributes, assert: attributes});', file);
    return module.exports;
  }

  function provide(name) {
    const file = path.resolve(name[0] === '<' ? 'code.mjs' : name);
    const load = importer(file);
    driver.hide('karzerImport', async (from, attributes, wanted = []) => {
      const space = await load(from, attributes);
      for (const one of wanted)
        if (!(one in space))
          throw new SyntaxError(`The requested module '${from}' does not ` +
                                `provide an export named '${one}'`);
      return space;
    });
    driver.hide('karzerDefault', undefined);
    driver.hide('karzerMeta', { __proto__: null,
      url: pathToFileURL(file).href, filename: file,
      dirname: path.dirname(file),
      resolve: (from) => {
        const found = Module.createRequire(file).resolve(from);
        return path.isAbsolute(found) ? pathToFileURL(found).href : found;
      } });
  }

  // {a, b as c} as the pattern of a const, and the names that are wanted.
  function pattern(list) {
    const items = list.slice(1, -1)
      .replace(/\/\*[^]*?\*\/|\/\/[^\n]*/g, '')
      .split(',').map((one) => one.trim()).filter(Boolean)
      .map((one) => one.split(/\s+as\s+/));
    return { wanted: items.map(([name]) => unquote(name)),
      text: items.map(([name, as]) => as ? `${name}: ${as}` : name).join(', ') };
  }

  function unquote(name) {
    return /^["']/.test(name) ? name.slice(1, -1) : name;
  }

  function rewriteImport(_, main, list, all, from, attributes) {
    const wanted = main ? ['default'] : [];
    const names = main ? [`default: ${main}`] : [];
    if (list) {
      const some = pattern(list);
      wanted.push(...some.wanted);
      if (some.text) names.push(some.text);
    }
    const call = `await karzerImport(${from}, ${attributes}, ` +
                 `${JSON.stringify(wanted)})`;
    if (all)
      return `const ${all} = ${call}` +
             `${main ? `, {${names.join(', ')}} = ${all}` : ''};`;
    return names.length ? `const {${names.join(', ')}} = ${call};` : `void (${call});`;
  }

  // As many lines as there were, so that errors name the right ones.
  function put(code, at, regexp, rewrite) {
    regexp.lastIndex = at;
    const found = regexp.exec(code);
    if (!found) return null;
    const text = rewrite(...found) +
                 '\n'.repeat(found[0].split('\n').length - 1);
    return code.slice(0, at) + text + code.slice(at + found[0].length);
  }

  // What V8 refuses in the code, and where; null: nothing.
  function refusal(code) {
    try {
      new vm.Script(`${PREFIX}${code}\n})`, { filename: 'k' });
      return null;
    } catch (error) {
      const [head, , marks] = String(error.stack).split('\n');
      const row = Number(/^k:(\d+)$/.exec(head)?.[1] ?? 0);
      if (row === 0 || marks === undefined) return { message: '', at: -1 };
      const before = code.split('\n').slice(0, row - 1);
      const at = before.reduce((n, line) => n + line.length + 1, 0) +
                 marks.indexOf('^') - (row === 1 ? PREFIX.length : 0);
      return { message: error.message, at };
    }
  }

  // One refused import or export made into what a script may hold.
  function mend(code, { message, at }) {
    if (message === 'Cannot use import statement outside a module')
      return put(code, at, IMPORT, rewriteImport);
    if (message === "Cannot use 'import.meta' outside a module") {
      const start = code.lastIndexOf('import', at);
      return put(code, start, /import\s*\.\s*meta/y, () => 'karzerMeta');
    }
    if (message !== "Unexpected token 'export'") return null;
    for (const [regexp, rewrite] of EXPORTS) {
      const mended = put(code, at, regexp, rewrite);
      if (mended !== null) return mended;
    }
    return null;
  }

  // import(...) itself: in code, not in a text or a comment, where V8 would take
  // anything in its place.
  function rewriteCalls(code) {
    const word = /(?<![.\w$#])import(?=\s*\()/g;
    let from = 0;
    for (let i = 0; i < REWRITES_MAX; i++) {
      word.lastIndex = from;
      const found = word.exec(code);
      if (!found) break;
      from = found.index + 6;
      const head = code.slice(0, found.index);
      if (refusal(`${head}@@@@@@${code.slice(from)}`) === null) continue;
      code = `${head}karzerImport${code.slice(from)}`;
      from = found.index + 12;
    }
    return code;
  }

  function rewrite(code) {
    if (!WORDS.test(code)) return code;
    for (let i = 0; i < REWRITES_MAX; i++) {
      const refused = refusal(code);
      if (refused === null) return rewriteCalls(code);
      const mended = mend(code, refused);
      if (mended === null) break;
      code = mended;
    }
    return code; // V8 will say what is wrong
  }

  // running

  // The name that frames of the block carry; it may hold no space.
  function frameName(name) {
    return name.replace(/[\s"']/g, (c) => encodeURIComponent(c));
  }

  function hasFrames(error) {
    return error.stack.split('\n').some((line) => /^\s+at /.test(line) &&
      !line.includes('node:') && !line.includes(driver.home));
  }

  // An error of the compiler has no frame: where it is comes from the inspector.
  function placed(error, details, name, code) {
    const lines = code.split('\n');
    const last = Math.min(details.lineNumber, lines.length - 1);
    const text = lines[last];
    if (!(error instanceof SyntaxError) || hasFrames(error)) return error;
    const row = last + 1;
    const at = last < details.lineNumber ? text.length : details.columnNumber;
    error.stack = `${name}:${row}\n${text}\n${' '.repeat(at)}^\n\n` +
      `${error.name}: ${error.message}\n    at ${name}:${row}:${at + 1}`;
    return error;
  }

  // Calls back once, with {value, code as it ran} or {error}; perhaps never.
  function evaluate(name, code, done) {
    const ready = rewrite(code);
    if (WORDS.test(code)) provide(name);
    const frames = frameName(name);
    driver.sources.set(frames, code);
    session.post('Runtime.evaluate', {
      expression: `${ready}\n//# sourceURL=${frames}`, replMode: true,
    }, (failed, answer) => {
      if (failed) {
        // the process ends, and with it what was awaited
        if (!/context was destroyed/.test(failed.message))
          done({ error: new Error(failed.message) });
        return;
      }
      const details = answer.exceptionDetails;
      if (!details) {
        done({ value: valueOf(answer.result), code: ready });
        return;
      }
      done({ error: placed(valueOf(details.exception), details, name, ready) });
    });
  }

  // A block that is all of the program. Its error is an unhandled rejection, as
  // a module's is.
  function program(name, code) {
    let pending = true;
    process.on('beforeExit', () => {
      if (!pending) return;
      process.stderr.write('Warning: Detected unsettled top-level await\n');
      process.exit(13);
    });
    evaluate(name, code, (end) => {
      pending = false;
      if (!('error' in end)) driver.showLast(end.value, end.code);
      else if (HANDLERS.some((one) => process.listenerCount(one) > 0))
        Promise.reject(end.error);
      else driver.part('errors').fatal(end.error);
    });
  }

  return { evaluate, program };
};
