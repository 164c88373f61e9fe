import { isAbsolute } from 'node:path';

export interface ProgramOptions {
  /** Folder from which external packages are resolved: that of the project. */
  readonly packagesFrom: string;
  /** SQLite in the single binary: the package as one text, and the path of its addon. */
  readonly sqlite?: { readonly text: string; readonly nativeBinding: string };
}

/**
 * The text of a thread: the bundle as the module that its source is, so that errors name the source, with a `require`
 * that finds Node's own modules and SQLite, and nothing else.
 */
export function threadText(
  code: string,
  filename: string,
  { packagesFrom, sqlite }: ProgramOptions,
): string {
  const [file, text, from, database] = [placeOf(filename), code, packagesFrom, sqlite ?? null].map(
    (value) => JSON.stringify(value),
  );
  return `process.setSourceMapsEnabled(true);
const { Module, isBuiltin, createRequire } = require('node:module');
const compiled = (text, name, require) => {
  const module = new Module(name);
  module.filename = name;
  module.paths = [];
  module.require = require;
  module._compile(text, name);
  return module.exports;
};
const own = require;
let sqlite;
const database = () => {
  const carried = ${database};
  if (carried === null) return createRequire(${from})('better-sqlite3');
  const addon = { exports: {} };
  process.dlopen(addon, carried.nativeBinding);
  return new Proxy(compiled(carried.text, 'better-sqlite3.cjs', own).default, {
    construct: (target, [file, options], newTarget) => Reflect.construct(target, [file, { ...options, nativeBinding: addon.exports }], newTarget),
  });
};
compiled(${text}, ${file}, (name) => {
  if (name === 'better-sqlite3') return (sqlite ??= database());
  if (isBuiltin(name)) return own(name);
  throw new Error('a thread cannot import ' + name + ': it is neither bundled nor one of Node\\'s own modules');
});`;
}

/** Source maps are only found for what looks like a file; `embedded:metrics/…` does not. */
const placeOf = (filename: string): string =>
  isAbsolute(filename) ? filename : `/${filename.replace(':', '/')}`;
