import { existsSync, lstatSync, readdirSync, readFileSync, type Stats, statSync } from 'node:fs';
import { createHash } from 'node:crypto';
import { join } from 'node:path';

import { messageOf, timestamp } from '../../../core/sdk/index.ts';
import { writeDurably } from '../../../core/storage/index.ts';
import type { Environment } from '../../../core/boot/index.ts';
import type { ApiClient } from 'svc/cli';
import { apply, type Change } from './apply.ts';
import { kindsOf } from './kinds.ts';

const lookMs = 1_000;
/** Delay after a failure for a reason outside the files, such as an unavailable store. */
const againMs = 60_000;

/** Result of the last application of the files; `svc doctor` reads it. */
export interface Applied {
  readonly folder: string;
  readonly at: string;
  readonly changes: number;
  /** Reason why svc differs from the files; its previous state stays in force. */
  readonly problem?: string;
}

export const appliedFile = (dataDir: string): string => join(dataDir, 'applied.json');

export interface WatchedFolderParts {
  readonly folder: string;
  readonly dataDir: string;
  readonly environment: Environment;
  readonly client: () => ApiClient;
  readonly say: (line: string, isTrouble: boolean) => void;
}

/** A folder of files that svc is brought in line with when it starts, and within a second of each change of it. */
export class WatchedFolder {
  readonly #parts: WatchedFolderParts;
  #timer: NodeJS.Timeout | undefined;
  /**
   * Fingerprint applied last, and that of the last look: files are applied once they were unchanged
   * for a look.
   */
  #applied = '';
  #seen = '';
  #failedAt = -Infinity;

  constructor(parts: WatchedFolderParts) {
    this.#parts = parts;
  }

  start(): void {
    this.#timer = setTimeout(() => void this.#look(), lookMs);
    this.#timer.unref();
  }

  stop(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
  }

  async #look(): Promise<void> {
    const now = this.#state();
    const isStill = now === this.#seen;
    this.#seen = now;
    if (isStill && (now !== this.#applied || performance.now() - this.#failedAt > againMs)) {
      await this.#apply(now);
    }
    if (this.#timer !== undefined) {
      this.start();
    }
  }

  async #apply(state: string): Promise<void> {
    const { folder, environment, client, dataDir, say } = this.#parts;
    this.#applied = state;
    this.#failedAt = Infinity;
    try {
      assertOwn(folder);
      const { changes, warnings } = await apply({
        folder,
        kinds: await kindsOf(environment),
        client: client(),
        environment,
        dryRun: false,
      });
      changes.forEach((change) => say(told(change), false));
      warnings.forEach((warning) => say(warning, true));
      this.#write({ folder, at: timestamp(Date.now()), changes: changes.length }, dataDir);
    } catch (error) {
      this.#failedAt = performance.now();
      say(`failed to apply the files of ${folder}: ${messageOf(error)}`, true);
      this.#write(
        { folder, at: timestamp(Date.now()), changes: 0, problem: messageOf(error) },
        dataDir,
      );
    }
  }

  #write(applied: Applied, dataDir: string): void {
    writeDurably(appliedFile(dataDir), JSON.stringify(applied));
  }

  /** Names, sizes and times of all files; a folder that is away has none. */
  #state(): string {
    const { folder } = this.#parts;
    const hash = createHash('sha256');
    for (const kind of existsSync(folder) ? foldersIn(folder) : []) {
      const stat = statSync(join(folder, kind), { throwIfNoEntry: false });
      hash.update(`${kind} ${stat?.mode} ${stat?.uid}\n`);
      for (const file of stat?.isDirectory() ? readdirSync(join(folder, kind)).toSorted() : []) {
        const { size, mtimeMs, ino, mode } =
          lstatSync(join(folder, kind, file), { throwIfNoEntry: false }) ?? {};
        hash.update(`${kind}/${file} ${size} ${mtimeMs} ${ino} ${mode}\n`);
      }
    }
    return hash.digest('hex');
  }
}

/**
 * Throws if others may write to the folder, to one in it, to a file, or to a link's target: whoever
 * may can do everything in svc.
 */
function assertOwn(folder: string): void {
  assertOwnPath(folder, statSync(folder));
  for (const kind of foldersIn(folder)) {
    assertOwnPath(join(folder, kind), lstatSync(join(folder, kind)));
    for (const file of readdirSync(join(folder, kind))) {
      assertOwnPath(join(folder, kind, file), lstatSync(join(folder, kind, file)));
    }
  }
}

function assertOwnPath(path: string, stat: Stats): void {
  const me = process.getuid?.();
  if (stat.isSymbolicLink()) {
    throw new Error(`${path} is a link: put the file itself there`);
  }
  if ((stat.mode & 0o022) !== 0 || (me !== undefined && stat.uid !== me && stat.uid !== 0)) {
    throw new Error(
      `other users can write to ${path}: it must belong to root or to the user of svc, and be writable for no other user (chmod go-w ${path})`,
    );
  }
}

const foldersIn = (folder: string): readonly string[] =>
  readdirSync(folder, { withFileTypes: true })
    .filter(
      (entry) => (entry.isDirectory() || entry.isSymbolicLink()) && !entry.name.startsWith('.'),
    )
    .map(({ name }) => name);

const told = ({ kind, key, change }: Change): string =>
  `${kind}/${key} ${change === 'create' ? 'was created' : 'was changed'} from its file`;

/** Undefined where no folder was ever applied. */
export function readApplied(dataDir: string): Applied | undefined {
  const file = appliedFile(dataDir);
  return existsSync(file) ? (JSON.parse(readFileSync(file, 'utf8')) as Applied) : undefined;
}
