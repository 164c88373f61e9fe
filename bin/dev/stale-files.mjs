// Determines which files have to be linted with types again: what a rule says of a file depends on
// it and on everything it imports.
import { createHash } from 'node:crypto';
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';

/** Files whose change may affect the result for any file. */
const settings = [
  '.oxlintrc.json',
  'tsconfig.json',
  'package.json',
  'package-lock.json',
  'node_modules/.package-lock.json',
];
const skipped = new Set(['node_modules', '.git', 'dist', 'data']);
const code = /\.(?:tsx?|mts|mjs|js)$/;
/**
 * Returns whether a declaration describes other files than itself: a JavaScript file next to it, or
 * all of them.
 */
const isAmbient = (path, text) =>
  /\.d\.m?ts$/.test(path) || /^\s*declare (?:global|module)\b/m.test(text);

/**
 * Returns `files`: those that changed since the last call of `clean()`, with all direct and
 * indirect importers; undefined means every file. `clean` records the content as read here, not
 * what it has become since.
 */
export function staleFiles(root, record) {
  const found = readFiles(root);
  const texts = new Map(found.map((path) => [path, readFileSync(join(root, path), 'utf8')]));
  const hashes = Object.fromEntries([...texts].map(([path, text]) => [path, hashOf(text)]));
  const ambient = [...texts]
    .filter(([path, text]) => isAmbient(path, text))
    .map(([path]) => `${path} ${hashes[path]}`);
  const setting = settings.map((name) =>
    existsSync(join(root, name)) ? hashOf(readFileSync(join(root, name), 'utf8')) : '',
  );
  const key = hashOf([...setting, ...ambient].join('\n'));
  const before = readRecord(record);
  return {
    files:
      before?.key === key
        ? reaching(
            found.filter((path) => before.files[path] !== hashes[path]),
            importersOf(root, texts),
          )
        : undefined,
    clean() {
      mkdirSync(dirname(record), { recursive: true });
      // Whole or not there at all: two checks may run at once.
      const draft = `${record}.${process.pid}`;
      writeFileSync(draft, JSON.stringify({ key, files: hashes }));
      renameSync(draft, record);
    },
  };
}

function readFiles(root, folder = '') {
  return readdirSync(join(root, folder), { withFileTypes: true }).flatMap((entry) => {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) {
      return skipped.has(entry.name) ? [] : readFiles(root, path);
    }
    return entry.isFile() && code.test(entry.name) ? [path] : [];
  });
}

/** Returns the importers of each file. */
function importersOf(root, texts) {
  const { exports = {} } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
  const importers = new Map();
  for (const [path, text] of texts) {
    // More than imports may look like one: then a file is linted that need not be.
    for (const [, specifier] of text.matchAll(/\b(?:from|import)\s*\(?\s*['"]([^'"]+)['"]/g)) {
      const target = specifier.startsWith('.')
        ? relative(root, resolve(root, dirname(path), specifier))
        : exports[specifier.replace(/^svc/, '.')];
      if (target !== undefined) {
        const name = join(target);
        importers.set(name, [...(importers.get(name) ?? []), path]);
      }
    }
  }
  return importers;
}

function reaching(changed, importers) {
  const reached = new Set(changed);
  for (const path of reached) {
    importers.get(path)?.forEach((importer) => reached.add(importer));
  }
  return [...reached];
}

/** Reads the record; without a readable one every file is linted. */
function readRecord(record) {
  try {
    return JSON.parse(readFileSync(record, 'utf8'));
  } catch {
    return undefined;
  }
}

const hashOf = (text) => createHash('sha256').update(text).digest('base64url');
