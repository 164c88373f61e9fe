import { createHash, createSecretKey, hkdfSync, type KeyObject, randomBytes } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';

import { writeDurably } from './disk/durable.ts';
import { errors } from './errors.ts';

export const keyFile = (dataDir: string): string => join(dataDir, 'keys', 'secret.key');

/**
 * Master keys of a data folder by id: every one opens what it sealed, the newest seals. Keys that are given come after
 * those of the file, so the last given one is the newest.
 */
export class KeyRing {
  readonly #dataDir: string;
  readonly #masters = new Map<string, Buffer>();
  readonly #derived = new Map<string, KeyObject>();
  #newest = '';
  /** True if the data folder keeps the newest key; otherwise whoever starts svc provides it. */
  readonly isOwn: boolean;

  /**
   * Opens the keys; `sealed` means that there is data already, some of it sealed with a key that
   * may be lost.
   */
  constructor(dataDir: string, given: readonly string[] = [], sealed = false) {
    this.#dataDir = dataDir;
    this.isOwn = given.length === 0;
    if (!existsSync(keyFile(dataDir)) && this.isOwn) {
      if (sealed) {
        throw errors.key_gone({ folder: dataDir, remedy: putBack(keyFile(dataDir)) });
      }
      writeKeys(dataDir, [randomBytes(32)]);
    }
    for (const key of [
      ...this.#inFile(),
      ...given.map((text) => parseKey(text, 'SVC_SECRET_KEY')),
    ]) {
      this.#add(key);
    }
  }

  get newest(): string {
    return this.#newest;
  }

  /** The others, oldest first. */
  get older(): readonly string[] {
    return [...this.#masters.keys()].filter((kid) => kid !== this.#newest);
  }

  /** Message for values that are sealed with a key that is not here. */
  get missing(): string {
    const file = keyFile(this.#dataDir);
    return this.isOwn
      ? `stored secrets are sealed with a key that ${file} does not contain; it is damaged or was replaced: ${putBack(file)}`
      : `stored secrets are sealed with a key that SVC_SECRET_KEY does not contain; set it to the key that they were sealed with`;
  }

  has(kid: string): boolean {
    return this.#masters.has(kid);
  }

  /** Makes a new key. Nothing is sealed with it before it is on disk. */
  renew(): void {
    const key = randomBytes(32);
    // A key that was restored to the file since the start must not be lost again.
    const putBack = this.#inFile().filter((other) => !this.#masters.has(idOf(other)));
    writeKeys(this.#dataDir, [...putBack, ...this.#masters.values(), key]);
    this.#add(key);
  }

  /** Takes keys out of the ring, and from its file into one that svc never reads: only a person destroys a key. */
  retire(kids: readonly string[]): void {
    const gone = kids.map((kid) => this.#masters.get(kid)!);
    const retired = join(this.#dataDir, 'keys', 'retired.key');
    writeDurably(
      retired,
      (existsSync(retired) ? readFileSync(retired, 'utf8') : '') + linesOf(gone),
      0o600,
    );
    kids.forEach((kid) => this.#masters.delete(kid));
    writeKeys(this.#dataDir, [...this.#masters.values()]);
  }

  /** A key for one purpose; knowing it tells nothing about the master or about other purposes. */
  derive(purpose: string, kid = this.#newest): KeyObject {
    const label = `${kid} ${purpose}`;
    const key =
      this.#derived.get(label) ??
      createSecretKey(Buffer.from(hkdfSync('sha256', this.#masters.get(kid)!, 'svc', purpose, 32)));
    this.#derived.set(label, key);
    return key;
  }

  readonly #inFile = (): Buffer[] =>
    existsSync(keyFile(this.#dataDir)) ? readKeys(keyFile(this.#dataDir)) : [];

  #add(key: Buffer): void {
    this.#newest = idOf(key);
    this.#masters.set(this.#newest, key);
  }
}

/** The keys in a key file, oldest first; refuses a file that others on this machine may read. */
export function readKeys(file: string): Buffer[] {
  const mode = statSync(file).mode & 0o777;
  if ((mode & 0o077) !== 0) {
    throw errors.key_file_open({ file, mode: mode.toString(8) });
  }
  const lines = readFileSync(file, 'utf8').split('\n').filter(Boolean);
  if (lines.length === 0) {
    throw errors.key_file_empty({ file, remedy: putBack(file) });
  }
  return lines.map((text, i) => {
    const key = keyFrom(text);
    if (key === undefined) {
      throw errors.key_file_damaged({ file, line: i + 1, remedy: putBack(file) });
    }
    return key;
  });
}

/** Writes the key file whole or not at all, readable by its owner only. */
export function writeKeys(dataDir: string, keys: readonly Buffer[]): void {
  mkdirSync(join(dataDir, 'keys'), { recursive: true, mode: 0o700 });
  writeDurably(keyFile(dataDir), linesOf(keys), 0o600);
}

const putBack = (file: string): string =>
  `restore ${file} from a backup made --with-key, or give up those secrets and all sessions with "(umask 077; openssl rand -base64 32 > ${file})"`;

const linesOf = (keys: readonly Buffer[]): string =>
  keys.map((key) => `${key.toString('base64url')}\n`).join('');

function parseKey(text: string, origin: string): Buffer {
  const key = keyFrom(text);
  if (key === undefined) {
    throw errors.key_form({ origin });
  }
  return key;
}

function keyFrom(text: string): Buffer | undefined {
  const trimmed = text.trim();
  const key = /^[0-9a-f]{64}$/i.test(trimmed)
    ? Buffer.from(trimmed, 'hex')
    : Buffer.from(trimmed, 'base64');
  return key.length === 32 && /^[\w+/=-]+$/.test(trimmed) ? key : undefined;
}

/**
 * Derives the id from the key itself, so that a key from the environment has the same id on every
 * machine.
 */
const idOf = (key: Buffer): string =>
  createHash('sha256').update('svc key id').update(key).digest('hex').slice(0, 8);
