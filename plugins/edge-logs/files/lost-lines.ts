import { stat } from 'node:fs/promises';
import { basename, dirname } from 'node:path';

import type { Logger } from 'svc/sdk';

import { compressedOf } from './compressed.ts';
import { idOf, type Place, unreadOf } from './place.ts';
import type { Between } from './strays.ts';

/** Time of a connection to the manager for which missing lines are told. */
const toldMs = 86_400_000;
const maxTold = 100;

/** Lines of one path that were not read. */
export interface Loss {
  readonly path: string;
  readonly sentence: string;
  /** Time for which the manager has been told of it. */
  readonly toldMs: number;
}

export interface LostLinesOptions {
  readonly log: Logger;
  readonly monotonic: () => number;
  /** Returns whether the manager hears what this machine reports. */
  readonly isHeard: () => boolean;
  /** Losses that an earlier process was still telling of. */
  readonly kept: readonly Loss[];
}

/**
 * Lines that were out of reach before they were read: their file was deleted, compressed in a way that cannot be read, or hidden by the policy. They are told
 * until the manager has heard of them for a day, through restarts.
 */
export class LostLines {
  readonly #log: Logger;
  readonly #monotonic: () => number;
  readonly #isHeard: () => boolean;
  /** Losses by path, the latest last. */
  #losses: ReadonlyMap<string, Loss>;
  #lookedAt: number;
  /** True if the list has changed since it was last saved. */
  changed = false;

  constructor({ log, monotonic, isHeard, kept }: LostLinesOptions) {
    this.#log = log;
    this.#monotonic = monotonic;
    this.#isHeard = isHeard;
    this.#losses = new Map(kept.map((loss) => [loss.path, loss]));
    this.#lookedAt = monotonic();
  }

  get list(): readonly Loss[] {
    return [...this.#losses.values()];
  }

  get sentence(): string | undefined {
    this.age();
    const [latest, ...more] = this.list.toReversed();
    return latest === undefined
      ? undefined
      : `${latest.sentence}${more.length === 0 ? '' : `; so may lines of ${more.length} more files`}`;
  }

  /** Counts the time for which the manager has heard of losses; call often. */
  age(): void {
    const now = this.#monotonic();
    const passed = this.#isHeard() ? Math.max(0, now - this.#lookedAt) : 0;
    this.#lookedAt = now;
    if (passed > 0 && this.#losses.size > 0) {
      const left = this.list
        .map((loss) => ({ ...loss, toldMs: loss.toldMs + passed }))
        .filter((loss) => loss.toldMs < toldMs);
      this.changed ||= left.length < this.#losses.size;
      this.#losses = new Map(left.map((loss) => [loss.path, loss]));
    }
  }

  /** Notes that what had a path for some time was not found, or only files that may be it. */
  addBetween({ path }: Place, { unsure, unseen }: Between): void {
    const [first, ...more] = unsure;
    if (first !== undefined) {
      const others = more.length === 0 ? '' : ` and ${more.length} more`;
      this.#note(
        path,
        `${path} was rotated more than once before the agent read it: ${first}${others} may hold lines of it and was not read; rotate to names that begin with ${basename(path)}`,
      );
    } else if (unseen !== undefined) {
      const [from, to] = [unseen.from, unseen.to].map((at) => new Date(at).toISOString());
      this.#note(
        path,
        `lines of ${path} from ${from} to ${to} may be missing: the file of that time was not found; keep at least one earlier file`,
      );
    } else {
      return;
    }
    this.#log.warn(
      { event: 'edge-logs.rotated_file_missing', path, unsure, ...unseen },
      'a rotated log file was not found; some of its lines may be missing',
    );
  }

  /** Notes that the rest of a file was not found under any name; a file that went with its folder is not missed. */
  async add(place: Place): Promise<void> {
    const { path, offset } = place;
    const [compressed] = await compressedOf(place);
    const hasFolder = (await stat(dirname(path)).catch(() => undefined)) !== undefined;
    if (!hasFolder || compressed?.unread === 0 || (offset === 0 && unreadOf(place) === 0)) {
      return;
    }
    const isThere = await stat(path, { bigint: true }).catch(() => undefined);
    const where =
      compressed !== undefined
        ? `the file was compressed to ${basename(compressed.path)}`
        : isThere !== undefined && idOf(isThere) === place.id
          ? 'the file was emptied'
          : 'the file was deleted';
    const lost =
      compressed !== undefined
        ? `${compressed.unread} bytes of ${path} were not read`
        : unreadOf(place) > 0
          ? `at least ${unreadOf(place)} bytes of ${path} were not read`
          : `lines of ${path} after byte ${offset} may be missing`;
    const sentence = `${lost}: ${where} before the agent read them; rotate with "delaycompress" and keep at least one earlier file`;
    this.#note(path, sentence);
    this.#log.warn(
      {
        event: 'edge-logs.lines_lost',
        path,
        offset,
        ...(compressed && { compressed: compressed.path, bytes: compressed.unread }),
      },
      'the unread rest of a rotated log file was not found; its lines are missing',
    );
  }

  #note(path: string, sentence: string): void {
    this.age();
    const others = this.list.filter((loss) => loss.path !== path);
    const losses = [...others, { path, sentence, toldMs: 0 }].slice(-maxTold);
    this.#losses = new Map(losses.map((loss) => [loss.path, loss]));
    this.changed = true;
  }
}
