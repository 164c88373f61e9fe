import { setImmediate as nextLoop } from 'node:timers/promises';

import type { QueryTurn } from './query-turn.ts';

interface Ready {
  readonly turn: QueryTurn;
  readonly go: () => void;
}

/** Computing time up to which a query has priority over longer ones. */
const lightMs = 250;
/** Slices in a row for the product itself while a person waits. */
const houseInRow = 4;

/**
 * Gives the thread to one query at a time, for a slice. Between two slices the event loop turns once, so pushes, cancellations and new
 * queries never wait longer than one slice. The product itself goes first; then queries that are short so far, those of askers
 * that computed least before others; a long one runs to its end before the next long one gets on, so that all of them do end.
 */
export class QueryTurns {
  readonly #now: () => number;
  readonly #onTurn: () => void;
  #ready: Ready[] = [];
  #isPlanned = false;
  #houseSlices = 0;
  #long: QueryTurn | undefined;
  #longWasLast = false;

  /** `onTurn` is called before each slice. */
  constructor(now: () => number, onTurn: () => void) {
    this.#now = now;
    this.#onTurn = onTurn;
  }

  /**
   * Resolves with the next slice of this query; one that is over resolves immediately, to report
   * that.
   */
  next(turn: QueryTurn): Promise<void> {
    return new Promise((go) => {
      this.#ready.push({ turn, go });
      this.#plan();
    });
  }

  #plan(): void {
    if (!this.#isPlanned) {
      this.#isPlanned = true;
      void nextLoop().then(() => this.#turn());
    }
  }

  #turn(): void {
    this.#isPlanned = false;
    this.#onTurn();
    const now = this.#now();
    const over = this.#ready.filter(({ turn }) => turn.isOver(now));
    this.#ready = this.#ready.filter((one) => !over.includes(one));
    over.forEach(({ go }) => go());
    const chosen = over.length > 0 ? undefined : this.#choose(now);
    if (chosen !== undefined) {
      this.#ready.splice(this.#ready.indexOf(chosen), 1);
      chosen.go();
    }
    if (this.#ready.length > 0) {
      this.#plan();
    }
  }

  #choose(now: number): Ready | undefined {
    const house = this.#ready.filter(({ turn }) => turn.asker.isHouse);
    const people = this.#ready.filter(({ turn }) => !turn.asker.isHouse);
    if (house.length > 0 && (people.length === 0 || this.#houseSlices < houseInRow)) {
      this.#houseSlices++;
      return oldest(house);
    }
    this.#houseSlices = 0;
    return this.#chooseOfPeople(people, now);
  }

  #chooseOfPeople(people: readonly Ready[], now: number): Ready | undefined {
    const light = people.filter(({ turn }) => turn.computedMs < lightMs);
    const first = leastServed(
      light.filter(({ turn }) => !turn.asker.isHeavy(now)),
      now,
    );
    if (first !== undefined) {
      return first;
    }
    // Short queries of those that ask a lot take turns with the long one, or neither would ever end.
    const short = leastServed(light, now);
    const long =
      people.find(({ turn }) => turn === this.#long) ??
      leastServed(
        people.filter(({ turn }) => turn.computedMs >= lightMs),
        now,
      );
    this.#long = long?.turn;
    this.#longWasLast = long !== undefined && (short === undefined || !this.#longWasLast);
    return this.#longWasLast ? long : short;
  }
}

const oldest = (ready: readonly Ready[]): Ready =>
  ready.reduce((best, one) => (one.turn.arrivedAt < best.turn.arrivedAt ? one : best));

/** The oldest query of the asker that computed least. */
function leastServed(ready: readonly Ready[], now: number): Ready | undefined {
  let best: Ready | undefined;
  let least = Infinity;
  for (const one of ready) {
    const recent = one.turn.asker.recentMs(now);
    if (
      best === undefined ||
      recent < least ||
      (recent === least && one.turn.arrivedAt < best.turn.arrivedAt)
    ) {
      best = one;
      least = recent;
    }
  }
  return best;
}
