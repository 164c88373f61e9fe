import { createHash, randomUUID } from 'node:crypto';
import {
  createWriteStream,
  existsSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { type Readable, Transform } from 'node:stream';
import { text } from 'node:stream/consumers';
import { pipeline } from 'node:stream/promises';

import { syncPath, writeDurably } from '../../../../core/storage/index.ts';
import { errors } from './errors.ts';
import { type FollowedFile, isFollowed } from './followed.ts';
import { Listing, mostFiles } from './listing.ts';
import { filePath, listPath } from './offer.ts';

interface FollowerParts {
  readonly dataDir: string;
  /** Asks the owner of the data for a path of `FileOffer`; rejects if it has no such thing. */
  readonly ask: (path: string) => Promise<Readable>;
}

const mostListBytes = 32 * 1024 * 1024;
/** Folder for files that this node made as the owner and that the owner of now does not have. */
const asideFolder = 'set-aside';
const recordFile = 'followed.json';

/**
 * Keeps the files of this node equal to those of the owner, which it needs when it takes over. What
 * it has fetched once is deleted when the owner has deleted it. A file that it made itself, as the
 * owner of its time, is moved to `set-aside`, since nobody else may have it.
 */
export class Follower {
  readonly #parts: FollowerParts;
  readonly #listing: Listing;
  readonly #record: string;
  readonly #fetched: Map<string, string>;
  #behind: number | undefined;

  constructor(parts: FollowerParts) {
    this.#parts = parts;
    this.#listing = new Listing(parts.dataDir);
    this.#record = join(parts.dataDir, recordFile);
    this.#fetched = readRecord(this.#record);
  }

  /** Number of files that differ from those of the owner; undefined before the first look. */
  get behind(): number | undefined {
    return this.#behind;
  }

  /**
   * Looks once, and fetches what differs. A file that fails leaves the others their turn. Changes
   * nothing once `signal` has aborted.
   */
  async look(signal: AbortSignal): Promise<void> {
    const theirs = await this.#list(signal);
    const own = new Map((await this.#listing.files()).map((file) => [file.path, file.sha256]));
    const wanted = theirs.filter(({ path, sha256 }) => own.get(path) !== sha256);
    const there = new Set(theirs.map(({ path }) => path));
    const gone = [...own.keys()].filter((path) => !there.has(path));
    this.#behind = wanted.length + gone.length;
    const failures: unknown[] = [];
    signal.throwIfAborted();
    for (const path of gone) {
      this.#drop(path, own.get(path)!);
      this.#behind -= 1;
    }
    for (const file of wanted) {
      try {
        await this.#fetch(file, own.get(file.path), signal);
        this.#behind -= 1;
      } catch (error) {
        signal.throwIfAborted();
        failures.push(error);
      }
    }
    if (gone.length + wanted.length > failures.length) {
      writeDurably(this.#record, JSON.stringify(Object.fromEntries(this.#fetched)));
    }
    if (failures.length > 0) {
      throw failures[0];
    }
  }

  async #list(signal: AbortSignal): Promise<readonly FollowedFile[]> {
    const answer = await this.#parts.ask(listPath);
    let bytes = 0;
    const bounded = new Transform({
      transform(chunk: Buffer, _encoding, done) {
        bytes += chunk.length;
        done(bytes > mostListBytes ? errors.list_form({ cause: 'it is too long' }) : null, chunk);
      },
    });
    const [json] = await Promise.all([text(bounded), pipeline(answer, bounded, { signal })]);
    return readList(json);
  }

  async #fetch(
    { path, bytes, sha256 }: FollowedFile,
    own: string | undefined,
    signal: AbortSignal,
  ): Promise<void> {
    const { dataDir } = this.#parts;
    const target = join(dataDir, path);
    const draft = join(dataDir, `following-${randomUUID()}.tmp`);
    const hash = createHash('sha256');
    let received = 0;
    const checked = new Transform({
      transform(chunk: Buffer, _encoding, done) {
        received += chunk.length;
        hash.update(chunk);
        // No more is written than was announced, whatever comes.
        done(received > bytes ? errors.changed({ path }) : null, chunk);
      },
    });
    try {
      const answer = await this.#parts.ask(filePath(path));
      await pipeline(answer, checked, createWriteStream(draft, { flags: 'wx', mode: 0o600 }), {
        signal,
      });
      if (received !== bytes || hash.digest('hex') !== sha256) {
        throw errors.changed({ path });
      }
      syncPath(draft);
      signal.throwIfAborted();
      this.#makeFolder(dirname(path));
      if (own !== undefined && this.#fetched.get(path) !== own) {
        this.#setAside(path);
      }
      renameSync(draft, target);
      this.#fetched.set(path, sha256);
    } finally {
      rmSync(draft, { force: true });
    }
  }

  #drop(path: string, own: string): void {
    if (this.#fetched.get(path) === own) {
      rmSync(join(this.#parts.dataDir, path), { force: true });
    } else {
      this.#setAside(path);
    }
    this.#fetched.delete(path);
  }

  #setAside(path: string): void {
    const aside = `${asideFolder}/${path}`;
    this.#makeFolder(dirname(aside));
    renameSync(join(this.#parts.dataDir, path), join(this.#parts.dataDir, aside));
  }

  /** Makes each step a real folder: a link in its place would lead out of the data folder. */
  #makeFolder(path: string): void {
    const steps = path.split('/');
    for (const [at] of steps.entries()) {
      const step = steps.slice(0, at + 1).join('/');
      const place = join(this.#parts.dataDir, step);
      const stats = lstatSync(place, { throwIfNoEntry: false });
      if (stats === undefined) {
        mkdirSync(place, { mode: 0o700 });
      } else if (!stats.isDirectory()) {
        throw errors.not_a_folder({ path: step });
      }
    }
  }
}

function readList(json: string): readonly FollowedFile[] {
  const { files } = (JSON.parse(json) ?? {}) as { files?: unknown };
  if (!Array.isArray(files) || files.length > mostFiles) {
    throw errors.list_form({ cause: 'it has no files, or too many' });
  }
  for (const file of files as Partial<Record<keyof FollowedFile, unknown>>[]) {
    const { path, bytes, sha256 } = file ?? {};
    if (
      !isFollowed(path) ||
      !Number.isSafeInteger(bytes) ||
      (bytes as number) < 0 ||
      typeof sha256 !== 'string' ||
      !/^[0-9a-f]{64}$/.test(sha256)
    ) {
      throw errors.list_form({ cause: `${JSON.stringify(file).slice(0, 200)} is not a file` });
    }
  }
  return files as readonly FollowedFile[];
}

/** Files that were fetched, with their hashes: without the record, everything counts as made here. */
function readRecord(file: string): Map<string, string> {
  if (!existsSync(file)) {
    return new Map();
  }
  try {
    return new Map(
      Object.entries(JSON.parse(readFileSync(file, 'utf8')) as Record<string, string>),
    );
  } catch {
    return new Map();
  }
}
