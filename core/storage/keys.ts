import { createHash, createSecretKey, hkdfSync, type KeyObject, randomBytes } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';

import { SvcError } from '../sdk/index.ts';
import { writeDurably } from './durable.ts';

/** Master keys by id: every one opens what it sealed, the newest seals. */
export interface KeyRing {
  readonly newest: string;
  /** The others, oldest first. */
  readonly older: readonly string[];
  /** The data folder keeps the newest key; otherwise whoever starts svc gives it. */
  readonly isOwn: boolean;
  has(kid: string): boolean;
  /** Makes a new key. Nothing is sealed with it before it is on disk. */
  renew(): void;
  /** Takes keys out of the ring, and from its file into one that svc never reads: only a person destroys a key. */
  retire(kids: readonly string[]): void;
  /** A key for one purpose; knowing it tells nothing about the master or about other purposes. */
  derive(purpose: string, kid?: string): KeyObject;
}

export const keyFile = (dataDir: string): string => join(dataDir, 'keys', 'secret.key');

const retiredFile = (dataDir: string): string => join(dataDir, 'keys', 'retired.key');

/** The ring of a data folder. Keys that are given come after those of the file, so the last given one seals. */
export function openKeyRing(dataDir: string, given: readonly string[] = []): KeyRing {
  const file = keyFile(dataDir);
  const inFile = (): Buffer[] => (existsSync(file) ? readKeys(file) : []);
  if (!existsSync(file) && given.length === 0) {
    writeKeys(dataDir, [randomBytes(32)]);
  }
  const masters = new Map<string, Buffer>();
  const derived = new Map<string, KeyObject>();
  let newest = '';

  function take(key: Buffer): void {
    newest = idOf(key);
    masters.set(newest, key);
  }

  [...inFile(), ...given.map((text) => parseKey(text, 'SVC_SECRET_KEY'))].forEach(take);

  return {
    get newest() {
      return newest;
    },
    get older() {
      return [...masters.keys()].filter((kid) => kid !== newest);
    },
    isOwn: given.length === 0,
    has: (kid) => masters.has(kid),
    renew() {
      const key = randomBytes(32);
      // Whoever put a key back into the file since the start must not lose it again.
      const putBack = inFile().filter((other) => !masters.has(idOf(other)));
      writeKeys(dataDir, [...putBack, ...masters.values(), key]);
      take(key);
    },
    retire(kids) {
      const gone = kids.map((kid) => masters.get(kid)!);
      const retired = retiredFile(dataDir);
      writeDurably(retired, (existsSync(retired) ? readFileSync(retired, 'utf8') : '') + linesOf(gone), 0o600);
      kids.forEach((kid) => masters.delete(kid));
      writeKeys(dataDir, [...masters.values()]);
    },
    derive(purpose, kid = newest) {
      const label = `${kid} ${purpose}`;
      let key = derived.get(label);
      if (key === undefined) {
        key = createSecretKey(Buffer.from(hkdfSync('sha256', masters.get(kid)!, 'svc', purpose, 32)));
        derived.set(label, key);
      }
      return key;
    },
  };
}

/** The keys in a key file, oldest first; refuses a file that others on this machine may read. */
export function readKeys(file: string): Buffer[] {
  const mode = statSync(file).mode & 0o777;
  if ((mode & 0o077) !== 0) {
    throw new SvcError(
      'unavailable',
      `${file} can be read by others (mode ${mode.toString(8)}); it seals every secret: run "chmod 600 ${file}" and start again`,
    );
  }
  const lines = readFileSync(file, 'utf8').split('\n').filter(Boolean);
  if (lines.length === 0) {
    throw new SvcError('unavailable', `${file} is empty: put the key back from your backup, or delete the file to start with a new key`);
  }
  return lines.map((line) => parseKey(line, file));
}

/** Writes the key file whole or not at all, readable by its owner only. */
export function writeKeys(dataDir: string, keys: readonly Buffer[]): void {
  mkdirSync(join(dataDir, 'keys'), { recursive: true, mode: 0o700 });
  writeDurably(keyFile(dataDir), linesOf(keys), 0o600);
}

const linesOf = (keys: readonly Buffer[]): string => keys.map((key) => `${key.toString('base64url')}\n`).join('');

function parseKey(text: string, origin: string): Buffer {
  const trimmed = text.trim();
  const key = /^[0-9a-f]{64}$/i.test(trimmed) ? Buffer.from(trimmed, 'hex') : Buffer.from(trimmed, 'base64');
  if (key.length !== 32 || !/^[\w+/=-]+$/.test(trimmed)) {
    throw new SvcError('invalid_argument', `${origin} does not hold a key of 32 bytes in base64 or hex; make one with "openssl rand -base64 32"`);
  }
  return key;
}

/** From the key itself, so that a key from the environment has the same id on every machine. */
function idOf(key: Buffer): string {
  return createHash('sha256').update('svc key id').update(key).digest('hex').slice(0, 8);
}
