import type { Source } from './source.ts';

/** Files that may be longer than a screenful of screens, and why: a table or a state machine, never two nouns in one file. */
export const longFiles: Readonly<Record<string, string>> = {};

export const longestFile = 400;
export const longestReadme = 20;
/** Entries of the top folder, without hidden and ignored files. */
export const topLevel = [
  'CHANGELOG.md',
  'CONTRIBUTING.md',
  'LICENSE',
  'SECURITY.md',
  'agents',
  'bin',
  'config',
  'core',
  'docs',
  'marketplace',
  'package-lock.json',
  'package.json',
  'plugins',
  'README.md',
  'skills',
  'vault',
  'test',
  'tsconfig.json',
];

/** Words of leftovers, written in two halves, so that this file does not match itself. */
const leftovers = ['TO' + 'DO', 'FIX' + 'ME', 'XX' + 'X', 'HA' + 'CK'];
const leftover = new RegExp(`\\b(?:${leftovers.join('|')})\\b`);
const nameless = /(?:^|[/-])(?:utils?|helpers?|managers?|common|misc)(?=[./-]|$)/;

/** Returns the style violations of one file, as sentences. */
export function blemishes({ path, text, code }: Source): string[] {
  const lines = text.split('\n').length - 1;
  const found = [
    lines > longestFile &&
      !path.startsWith('test/') &&
      !(path in longFiles) &&
      `has ${lines} lines; past ${longestFile} it holds two nouns, or belongs into longFiles with a reason`,
    nameless.test(path) &&
      'has a name that says nothing; name it after the noun of this domain that it holds',
    leftover.test(text) && `holds a ${leftover.exec(text)![0]}; finish it, or open an issue`,
    /\.(?:only|todo)\s*\(|\b(?:only|todo)\s*:\s*true\b/.test(code) &&
      'keeps other tests from running, or promises one',
    path.endsWith('.test.ts') &&
      !path.startsWith('test/') &&
      'is a test outside test/, where "npm test" does not look',
  ];
  return found
    .filter((complaint) => complaint !== false)
    .map((complaint) => `${path}: ${complaint}`);
}

/**
 * Returns what is wrong with a plugin's README: it is read before the code, so it must be short
 * enough.
 */
export function readmeProblem(folder: string, text: string | undefined): string | undefined {
  if (text === undefined) {
    return `${folder}/README.md is missing; at most ${longestReadme} lines: what this is, what it owns, what must stay true`;
  }
  const lines = text.trimEnd().split('\n').length;
  return lines > longestReadme
    ? `${folder}/README.md has ${lines} lines; ${longestReadme} are enough`
    : undefined;
}
