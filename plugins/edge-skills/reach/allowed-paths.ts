import { constants, type BigIntStats } from 'node:fs';
import { type FileHandle, open, readlink, realpath } from 'node:fs/promises';

import type { LocalPolicy } from 'svc/contracts/edge-uplink';
import { type Glob, matchesPath, type MachineFiles, parseGlob, type SlowCalls } from 'svc/probe';
import type { SvcError } from 'svc/sdk';

import { errors } from './errors.ts';

/** Names a file without opening it: nothing happens to a device, and no call blocks at a pipe. Node has no name for it. */
const namesOnly = 0o10000000;
/**
 * Paths that are not files but windows into the kernel and other processes, whatever the owner's
 * patterns say.
 */
const windows = ['/proc', '/sys', '/dev'];
/** Location of the journal; permission for that folder implies permission for the journal. */
export const journalPlace = '/var/log/journal/system.journal';

export interface NamedPath {
  /** Path without links. */
  readonly path: string;
  readonly stats: BigIntStats;
  /** Handle that only refers to it; `/proc/self/fd/N` leads to exactly this file or folder. */
  readonly handle: FileHandle;
}

export interface AllowedPathsParts {
  readonly policy: LocalPolicy;
  readonly slow: SlowCalls;
  readonly files: MachineFiles;
  /** List of the policy that says which: of content, or of names and sizes alone. */
  readonly list: 'paths' | 'measure';
  /** Folders that no skill reads, such as the one with the keys of this edge. */
  readonly closed: readonly string[];
}

/**
 * Part of the file system that the owner of this host lets skills see. Every path is checked after
 * its links are resolved.
 */
export class AllowedPaths {
  readonly #parts: AllowedPathsParts;
  readonly #closed: readonly string[];
  #source: readonly string[] | undefined;
  #globs: readonly Glob[] = [];

  constructor(parts: AllowedPathsParts) {
    this.#parts = parts;
    this.#closed = [...windows, ...parts.closed];
  }

  /** Returns whether a path, which has no links and no `..`, is allowed. */
  allows(path: string): boolean {
    const allowed = this.#parts.policy.current().skills[this.#parts.list];
    if (allowed !== this.#source) {
      this.#globs = allowed.flatMap(parseGlob);
      this.#source = allowed;
    }
    return !this.#isClosed(path) && this.#globs.some((glob) => matchesPath(glob, path));
  }

  /** Calls `work` with the file or folder at the path, then closes it. */
  async with<T>(asked: string, work: (named: NamedPath) => Promise<T>): Promise<T> {
    const named = await this.patiently(
      asked,
      () => this.#name(asked),
      ({ handle }) => handle.close(),
    );
    try {
      return await work(named);
    } finally {
      await named.handle.close();
    }
  }

  /** The same for the content of a regular file. */
  async withFile<T>(
    asked: string,
    work: (file: FileHandle, named: NamedPath) => Promise<T>,
  ): Promise<T> {
    return this.with(asked, async (named) => {
      this.#requireReadable(asked, named.stats);
      const file = await this.patiently(
        asked,
        () =>
          reading(
            asked,
            open(`/proc/self/fd/${named.handle.fd}`, constants.O_RDONLY | constants.O_NONBLOCK),
          ),
        (late) => late.close(),
      );
      try {
        return await work(file, named);
      } finally {
        await file.close();
      }
    });
  }

  /** Performs a disk operation that may never return; a late result is passed to `release`. */
  async patiently<T>(
    asked: string,
    step: () => Promise<T>,
    release?: (value: T) => Promise<void>,
  ): Promise<T> {
    let late = false;
    const outcome = await this.#parts.slow.run(asked, async () => {
      const value = await step();
      if (late) {
        await release?.(value);
      }
      return value;
    });
    if (outcome.state === 'done') {
      return outcome.value;
    }
    if (outcome.state === 'failed') {
      throw outcome.error;
    }
    late = true;
    throw errors.file_system_silent({ asked });
  }

  async #name(asked: string): Promise<NamedPath> {
    const plain = plainPath(asked);
    // Nothing may be revealed of closed paths, not even whether they exist.
    if (this.#isClosed(plain)) {
      throw this.#refusal(asked);
    }
    const path = await realpath(plain).catch((error: unknown) => {
      throw this.allows(plain) ? trouble(asked, error) : this.#refusal(asked);
    });
    if (!this.allows(path)) {
      throw this.#refusal(asked);
    }
    const handle = await open(path, namesOnly | constants.O_NOFOLLOW).catch((error: unknown) => {
      throw trouble(asked, error);
    });
    try {
      // A folder of the path may have become a link meanwhile; the handle's location is what
      // counts.
      if ((await readlink(`/proc/self/fd/${handle.fd}`)) !== path) {
        throw errors.file_changed({ asked });
      }
      return { path, handle, stats: await handle.stat({ bigint: true }) };
    } catch (error) {
      await handle.close();
      throw error;
    }
  }

  #refusal(asked: string): SvcError {
    return errors.path_not_allowed({ asked, list: this.#parts.list });
  }

  #requireReadable(asked: string, stats: BigIntStats): void {
    if (!stats.isFile()) {
      throw errors.not_regular({ asked, kindOf: kindOf(stats) });
    }
    // A hard link to a file elsewhere; where the kernel protects links, only someone who may read
    // it anyway can have made one.
    if (stats.nlink > 1n && this.#parts.files.number('/proc/sys/fs/protected_hardlinks') !== 1) {
      throw errors.hard_links({ asked, links: `${stats.nlink}` });
    }
  }

  #isClosed(path: string): boolean {
    return this.#closed.some((folder) => path === folder || path.startsWith(`${folder}/`));
  }
}

export function kindOf(
  stats: Pick<
    BigIntStats,
    'isFile' | 'isDirectory' | 'isSymbolicLink' | 'isFIFO' | 'isSocket' | 'isBlockDevice'
  >,
): string {
  const kinds = [
    ['file', stats.isFile()],
    ['folder', stats.isDirectory()],
    ['link', stats.isSymbolicLink()],
    ['pipe', stats.isFIFO()],
    ['socket', stats.isSocket()],
    ['block device', stats.isBlockDevice()],
  ] as const;
  return kinds.find(([, is]) => is)?.[0] ?? 'character device';
}

/** Absolute, in one spelling, and without a way up. */
function plainPath(asked: string): string {
  const names = asked.split('/').filter((name) => name !== '' && name !== '.');
  if (!asked.startsWith('/') || asked.includes('\0') || names.includes('..')) {
    throw errors.path_form();
  }
  return `/${names.join('/')}`;
}

const reading = <T>(asked: string, opened: Promise<T>): Promise<T> =>
  opened.catch((error: unknown) => {
    throw trouble(asked, error);
  });

function trouble(asked: string, error: unknown): SvcError {
  const code = (error as NodeJS.ErrnoException).code ?? 'unknown';
  if (code === 'ENOENT' || code === 'ENOTDIR') {
    return errors.no_file({ asked });
  }
  if (code === 'EACCES' || code === 'EPERM') {
    return errors.no_permission({ asked });
  }
  return errors.unreadable({ asked, code }, { cause: error });
}
