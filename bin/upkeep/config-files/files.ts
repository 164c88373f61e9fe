import {
  closeSync,
  constants,
  type Dirent,
  fstatSync,
  lstatSync,
  openSync,
  readdirSync,
  readFileSync,
  statSync,
} from 'node:fs';
import { basename, join } from 'node:path';
import { parse } from 'yaml';

import { messageOf } from '../../../core/sdk/index.ts';
import { Failure } from 'svc/cli';
import { filled, type Kind, type Thing } from './kinds.ts';

/** A thing as a file has it. */
export interface ConfigFile {
  readonly file: string;
  readonly name: string;
  readonly kind: Kind;
  readonly thing: Thing;
}

const mostBytes = 1024 * 1024;

/** All files of a folder, kind by kind, but for those of things whose end is past. Throws where one cannot be read, or two bring the same. */
export function readFiles(folder: string, kinds: ReadonlyMap<string, Kind>): readonly ConfigFile[] {
  if (statSync(folder, { throwIfNoEntry: false })?.isDirectory() !== true) {
    throw refusal(folder, 'is not a folder: name the one that "svc export" has written');
  }
  const files = [...kinds].flatMap(([name, kind]) =>
    namesIn(join(folder, name))
      .map((file) => join(folder, name, file))
      .map((file) => ({ file, name, kind, thing: readThing(file) }))
      .filter(({ thing }) => !isOver(kind, thing)),
  );
  assertApart(files);
  return files;
}

/**
 * Returns whether its end has passed: it stays in the history of the files, and is not created any
 * more.
 */
const isOver = ({ until }: Kind, thing: Thing): boolean =>
  until !== undefined && Date.parse(String(thing[until])) <= Date.now();

function namesIn(folder: string): readonly string[] {
  const stat = lstatSync(folder, { throwIfNoEntry: false });
  if (stat === undefined) {
    return [];
  }
  if (!stat.isDirectory()) {
    throw stat.isSymbolicLink()
      ? refusal(folder, linkAdvice)
      : refusal(folder, 'is not a folder: the files of a kind belong into a folder with its name');
  }
  return readdirSync(folder).filter(isYaml).sort();
}

const linkAdvice = 'is a link, which may lead outside the folder: put the file itself there';

function readThing(file: string): Thing {
  const text = readText(file);
  try {
    const thing = parse(text, { maxAliasCount: 10 }) as unknown;
    if (typeof thing !== 'object' || thing === null || Array.isArray(thing)) {
      throw new Error('it contains no fields');
    }
    return thing as Thing;
  } catch (error) {
    throw refusal(file, `cannot be read: ${messageOf(error)}`);
  }
}

/** A pipe would be waited for without end, and a complaint about what a link leads to would show a line of it. */
function readText(file: string): string {
  const seen = lstatSync(file);
  if (seen.isSymbolicLink()) {
    throw refusal(file, linkAdvice);
  }
  if (!seen.isFile()) {
    throw refusal(file, 'is not a regular file: remove it');
  }
  let descriptor: number;
  try {
    // What was looked at may have been replaced since: neither is followed or waited for then, too.
    descriptor = openSync(file, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  } catch (error) {
    throw refusal(file, `cannot be read: ${messageOf(error)}`);
  }
  try {
    const stat = fstatSync(descriptor);
    if (!stat.isFile()) {
      throw refusal(file, 'is not a regular file: remove it');
    }
    if (stat.size > mostBytes) {
      throw refusal(file, `has more than ${mostBytes / 1024} KiB`);
    }
    return readFileSync(descriptor, 'utf8');
  } finally {
    closeSync(descriptor);
  }
}

/** Two files of one thing would take turns, and svc would never be as the folder has it. */
function assertApart(files: readonly ConfigFile[]): void {
  const known = new Map<string, string>();
  for (const { file, name, kind, thing } of files) {
    const key = filled(kind.key, thing);
    const other = known.get(`${name}/${key}`);
    if (other !== undefined) {
      throw refusal(
        file,
        `has the key ${key}, which ${other} has too: change one of them, or remove it`,
      );
    }
    known.set(`${name}/${key}`, file);
  }
}

/**
 * Returns a warning for everything that is ignored, such as a folder whose name is misspelt, or a
 * file next to the folders.
 */
export function strangersIn(folder: string, kinds: ReadonlyMap<string, Kind>): readonly string[] {
  const there = entriesOf(folder);
  const among = `kinds are ${[...kinds.keys()].toSorted().join(', ')}`;
  return [
    ...there
      .filter((entry) => entry.isDirectory() && !kinds.has(entry.name))
      .map(({ name }) => passedOver(join(folder, name), `it is not named after a kind; ${among}`)),
    ...there
      .filter((entry) => !entry.isDirectory() && isYaml(entry.name))
      .map(({ name }) =>
        passedOver(join(folder, name), `a file belongs into the folder of its kind; ${among}`),
      ),
    ...there
      .filter((entry) => entry.isDirectory() && kinds.has(entry.name))
      .flatMap(({ name: kind }) =>
        entriesOf(join(folder, kind)).map(({ name }) => join(kind, name)),
      )
      .filter((name) => !isYaml(name) && !/^readme\b/i.test(basename(name)))
      .map((name) => passedOver(join(folder, name), 'a file of a kind ends with .yaml or .yml')),
  ].toSorted();
}

const entriesOf = (folder: string): readonly Dirent[] =>
  readdirSync(folder, { withFileTypes: true }).filter(({ name }) => !name.startsWith('.'));

const isYaml = (name: string): boolean => /^[^.].*\.ya?ml$/.test(name);

const passedOver = (path: string, why: string): string => `${path} is skipped: ${why}`;

export const refusal = (file: string, why: string): Failure =>
  new Failure(2, 'invalid_argument', `${file} ${why}`);
