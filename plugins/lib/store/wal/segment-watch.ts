import { stat } from 'node:fs/promises';
import { join } from 'node:path';

import { messageOf } from 'svc/sdk';
import type { SegmentPlace } from './open-segment.ts';
import type { ListedSegment } from './segment-list.ts';
import { absenceOf, lackOf, type WalDamage } from './wal-replay.ts';
import { readSegment, type SegmentContent, segmentName } from './wal-segment.ts';

/** A segment with what it has to hold. */
type Watched = ListedSegment & { readonly content: SegmentContent };

interface Problem {
  readonly damage: WalDamage;
  /** Reading found it, which a look at the size of the file does not disprove. */
  readonly isRead: boolean;
}

/** Damage of segments while their log is open: all that they held is still in memory. */
export class SegmentWatch {
  readonly #place: SegmentPlace;
  readonly #problems = new Map<number, Problem>();

  constructor(place: SegmentPlace) {
    this.#place = place;
  }

  get problems(): readonly WalDamage[] {
    return [...this.#problems.values()].map(({ damage }) => damage);
  }

  /** Looks at segments that `isThere` does not say have been dropped meanwhile. */
  async look(
    segments: readonly Watched[],
    full: boolean,
    isThere: (number: number) => boolean,
  ): Promise<void> {
    for (const segment of segments) {
      const { number, began } = segment;
      const before = this.#problems.get(number);
      if (!full && before?.isRead === true) {
        continue;
      }
      const measured = await this.#measure(segment);
      const what = measured ?? (full ? await this.#read(segment) : undefined);
      if (!isThere(number) || what === undefined) {
        this.#problems.delete(number);
        continue;
      }
      const damage = { segment: segmentName(number), what, began };
      this.#problems.set(number, { damage, isRead: measured === undefined });
      if (before === undefined) {
        const { folder, log } = this.#place;
        log.error(
          { event: 'wal.segment_damaged', folder, segment: number },
          `WAL segment ${damage.segment} is ${what}; its records are still in memory; run "svc store mend" to write them to blocks`,
        );
      }
    }
  }

  has(number: number): boolean {
    return this.#problems.has(number);
  }

  forget(number: number): void {
    this.#problems.delete(number);
  }

  async #measure(segment: Watched): Promise<string | undefined> {
    const { bytes } = segment.content;
    return await attempted(segment, async () => {
      const { size } = await stat(this.#pathOf(segment));
      return size < bytes ? `cut off at byte ${size} of ${bytes}` : undefined;
    });
  }

  async #read(segment: Watched): Promise<string | undefined> {
    const { number, content } = segment;
    const path = this.#pathOf(segment);
    return await attempted(segment, async () =>
      lackOf(content, await readSegment(path, number, () => undefined, content.bytes)),
    );
  }

  #pathOf({ number }: Watched): string {
    return join(this.#place.folder, segmentName(number));
  }
}

/** Looks at a segment; what prevents it is a problem as well. */
async function attempted(
  segment: Watched,
  look: () => Promise<string | undefined>,
): Promise<string | undefined> {
  try {
    return await look();
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'ENOENT'
      ? absenceOf(segment)
      : `unreadable: ${messageOf(error)}`;
  }
}
