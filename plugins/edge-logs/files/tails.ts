import { dirname, basename } from 'node:path';

import type { Logger } from 'svc/sdk';

import type { Draft } from '../lines/draft.ts';
import type { Group } from '../lines/group.ts';
import { openCompressed } from './compressed.ts';
import { findGenerations, type Generations, isGenerationOf } from './generations.ts';
import { type Loss, LostLines } from './lost-lines.ts';
import { type OpenFile, openFile } from './open-file.ts';
import { ParkedPlaces } from './parked-places.ts';
import { beforeBytes, type Place, readHead, unreadOf } from './place.ts';
import { beginning, type Named, type Start, Tail, type TailOptions } from './tail.ts';
import { Unreadable } from './unreadable.ts';

export interface TailsOptions extends TailOptions {
  readonly log: Logger;
  /** Returns whether the host's owner allows the file at a real path to be read. */
  readonly allows: (path: string) => boolean;
  /** Returns whether the file at a path is to be read under its own name. */
  readonly isOwn: (path: string) => boolean;
  readonly maxFiles: number;
  /** Folder of this agent for what is unpacked while it is read. */
  readonly scratch: string;
  /** Returns whether the manager hears what this machine reports. */
  readonly isHeard: () => boolean;
  /** Losses of which an earlier process was still telling. */
  readonly lost: readonly Loss[];
}

const windowQuantum = 64 * 1024;
const maxParkedPerFile = 4;
/** Idle time after which a file is examined only every few turns. */
const quietMs = 60_000;
const quietTurns = 5;

/** Every file that is read, and every one that was: each is read once, whatever it is called meanwhile. */
export class Tails {
  readonly #options: TailsOptions;
  readonly #live = new Map<string, Tail>();
  /** The oldest first. */
  #left: Tail[] = [];
  readonly #parked: ParkedPlaces;
  readonly #window: Buffer;
  readonly unreadable: Unreadable;
  readonly lost: LostLines;
  #looks = 0;
  #reads = 0;
  /** A change that no line shows; at first, that reading has begun. */
  changed = true;

  constructor(options: TailsOptions) {
    this.#options = options;
    this.unreadable = new Unreadable(options.log, options.maxFiles);
    this.lost = new LostLines({ ...options, kept: options.lost });
    this.#parked = new ParkedPlaces(maxParkedPerFile * options.maxFiles);
    this.#window = Buffer.allocUnsafe(beforeBytes + Math.max(windowQuantum, options.maxBytes) + 1);
  }

  get size(): number {
    return this.#live.size + this.#left.length;
  }

  get places(): readonly Place[] {
    return [
      ...this.#left.map(({ place }) => place),
      ...[...this.#live.values()].map(({ place }) => place),
      ...this.#parked.list(),
    ];
  }

  get live(): readonly Tail[] {
    return [...this.#live.values()];
  }

  get behind(): number {
    return [...this.#left, ...this.#live.values()].reduce((sum, { behind }) => sum + behind, 0);
  }

  hasPath(path: string): boolean {
    return this.#live.has(path);
  }

  holds(id: string): boolean {
    return (
      this.#left.some((tail) => tail.id === id) ||
      [...this.#live.values()].some((tail) => tail.id === id)
    );
  }

  /** Remembers a file that is not read. */
  park(place: Place): void {
    this.#parked.add(place);
    this.changed = true;
  }

  /** Returns its place if it is one of the files that are not read. */
  async findParked(file: OpenFile): Promise<Place | undefined> {
    return await this.#parked.find(file);
  }

  /** Opens what may be read; undefined when there is nothing, or nothing to be had. */
  async open(path: string): Promise<OpenFile | undefined> {
    if (!this.#options.allows(path)) {
      return undefined;
    }
    try {
      const file = await openFile(path);
      this.unreadable.remove(path);
      return file;
    } catch (error) {
      this.unreadable.add(path, error);
      return undefined;
    }
  }

  /** Starts reading a file; `named` determines the labels of its lines. */
  async begin(
    named: Named,
    file: OpenFile,
    group: Group,
    start: Start,
    left = false,
  ): Promise<void> {
    const tail = new Tail(
      named,
      file,
      group,
      await readHead(file.file, file.size),
      start,
      this.#options,
    );
    this.#parked.remove(file.id);
    this.changed = true;
    if (left) {
      tail.left = true;
      this.#left.push(tail);
    } else {
      this.#live.set(named.path, tail);
    }
  }

  /**
   * Starts reading a file that had the path before a new one, and was rotated before it was
   * examined.
   */
  async beginEarlier(named: Named, { id }: OpenFile, group: Group, since: number): Promise<void> {
    const place: Place = {
      ...named,
      ...beginning,
      id,
      head: { size: 0, sha256: '' },
      birth: since,
      mtime: since,
      state: 'live',
    };
    await this.#beginBefore(place, group);
  }

  /** Takes up where an earlier process has stopped; the answer is whether the path is to be read from its beginning. */
  async resume(place: Place, group: Group): Promise<boolean> {
    const { between, missed, ...found } = await this.#generations(place);
    const rest =
      found.rest ??
      (place.state === 'live' || unreadOf(place) > 0 ? await this.#unpacked(place) : undefined);
    const isLive = rest?.path === place.path && place.state === 'live';
    if (rest === undefined && (place.state === 'live' || unreadOf(place) > 0)) {
      await this.lost.add(place);
    } else if (place.state === 'live' && !isLive) {
      this.lost.addBetween(place, missed);
    }
    if (rest !== undefined) {
      await this.begin(place, rest, group, place, !isLive);
    }
    await this.#beginBetween(place, between, group, isLive || place.state === 'left');
    if (isLive && place.offset === 0) {
      await this.#beginBefore(place, group);
    }
    return place.state === 'live' && !isLive;
  }

  /** Notices what has grown, was rotated, truncated or finished. */
  async look(signal: AbortSignal): Promise<void> {
    this.#looks += 1;
    this.lost.age();
    for (const tail of [...this.#live.values()]) {
      if (signal.aborted) {
        return;
      }
      if (tail.quietMs < quietMs || tail.replaced || this.#looks % quietTurns === 0) {
        await this.#spared(tail, async () => {
          await tail.look();
          await this.#follow(tail);
        });
      }
    }
    for (const tail of [...this.#left]) {
      await this.#spared(tail, () => tail.look());
      if (tail.finished || tail.replaced) {
        await this.drop(tail);
      }
    }
  }

  /** Fills the draft with a share of each file in turn. */
  async read(draft: Draft, signal: AbortSignal): Promise<void> {
    for (let took = true; took && !draft.full && !signal.aborted;) {
      took = false;
      const tails = this.#readable();
      // Rotates which one comes first if not all changes fit.
      const first = tails.length === 0 ? 0 : this.#reads++ % tails.length;
      for (const tail of [...tails.slice(first), ...tails.slice(0, first)]) {
        if (draft.full || signal.aborted) {
          break;
        }
        took = (await this.#spared(tail, () => tail.read(draft, this.#window))) === true || took;
      }
    }
  }

  /** Closes a file that is not to be read any more. */
  async drop(tail: Tail): Promise<void> {
    if (this.#live.get(tail.path) === tail) {
      this.#live.delete(tail.path);
    }
    this.#left = this.#left.filter((one) => one !== tail);
    const { place } = tail;
    await tail.close();
    this.park({ ...place, state: 'parked' });
  }

  async close(): Promise<void> {
    await Promise.all([...this.#left, ...this.#live.values()].map((tail) => tail.close()));
    this.#live.clear();
    this.#left = [];
  }

  /** A file waits until those that had its path before are read, so that the lines of a path stay in order. */
  #readable(): Tail[] {
    const waiting = new Set<string>();
    const ready: Tail[] = [];
    for (const tail of [...this.#left, ...this.#live.values()]) {
      if (!waiting.has(tail.path)) {
        ready.push(tail);
      }
      if (tail.behind > 0) {
        waiting.add(tail.path);
      }
    }
    return ready;
  }

  async #follow(tail: Tail): Promise<void> {
    if (tail.left) {
      await this.#rotate(tail);
    } else if (tail.replaced) {
      await this.#emptied(tail);
    } else if (tail.stirred) {
      await tail.settle((place) => this.#beginBefore(place, tail.group));
    }
  }

  /**
   * Starts reading the copies of a file that was truncated before any of it was read; nothing else
   * is left of it.
   */
  async #beginBefore(place: Place, group: Group): Promise<void> {
    const { rest, between } = await this.#generations(place);
    await rest?.file.close();
    await this.#beginBetween(place, between, group, false);
  }

  /**
   * Handles a path that is gone or reused: reads the file to its end, and then what had the path in
   * between.
   */
  async #rotate(tail: Tail): Promise<void> {
    const { path, group, place } = tail;
    this.#live.delete(path);
    this.#left.push(tail);
    const next = await this.open(path);
    if (next !== undefined && !(await this.#isKnown(next))) {
      await this.begin(tail, next, group, beginning);
    } else {
      await next?.file.close();
    }
    await this.#beginBefore(place, group);
    this.changed = true;
  }

  /**
   * Handles a file that was truncated in place: what was not read yet is in the copy made before,
   * if there is one.
   */
  async #emptied(tail: Tail): Promise<void> {
    const { group, place } = tail;
    const { between, ...found } = await this.#generations(place);
    const rest = found.rest ?? (unreadOf(place) > 0 ? await this.#unpacked(place) : undefined);
    if (rest === undefined) {
      await (unreadOf(place) > 0 ? this.lost.add(place) : undefined);
    } else {
      await this.begin(tail, rest, group, place, true);
    }
    await this.#beginBetween(place, between, group, false);
    await tail.restart();
    this.changed = true;
  }

  /**
   * Starts reading files in between. Only for the last file that had the path is it known that
   * nothing else of its name was read after it.
   */
  async #beginBetween(
    named: Named,
    between: readonly OpenFile[],
    group: Group,
    isOther: boolean,
  ): Promise<void> {
    for (const file of between) {
      await (isOther ? file.file.close() : this.begin(named, file, group, beginning, true));
    }
  }

  async #generations(place: Place): Promise<Generations> {
    return await findGenerations(place, {
      open: (path) => this.open(path),
      isKnown: (file) => this.#isKnown(file),
      isOwn: this.#options.isOwn,
    });
  }

  async #unpacked(place: Place): Promise<OpenFile | undefined> {
    const { scratch } = this.#options;
    return await openCompressed(place, { open: (path) => this.open(path), scratch });
  }

  async #isKnown(file: OpenFile): Promise<boolean> {
    return (
      this.holds(file.id) ||
      (await this.findParked(file)) !== undefined ||
      (await this.isCopy(file))
    );
  }

  /**
   * Returns whether it is the copy that copytruncate rotation makes of a file that is being read.
   */
  async isCopy(file: OpenFile): Promise<boolean> {
    for (const tail of this.#live.values()) {
      const isBeside =
        dirname(tail.path) === dirname(file.path) &&
        isGenerationOf(basename(tail.path), basename(file.path));
      if (isBeside && (await tail.isCopiedTo(file))) {
        return true;
      }
    }
    return false;
  }

  /**
   * Runs `work` on one file. A file that fails is closed, and retried at the next search; the
   * others are unaffected.
   */
  async #spared<R>(tail: Tail, work: () => Promise<R>): Promise<R | undefined> {
    try {
      return await work();
    } catch (error) {
      this.unreadable.add(tail.path, error);
      await this.drop(tail);
      return undefined;
    }
  }
}
