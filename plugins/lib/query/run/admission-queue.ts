import type { Asker } from './asker.ts';
import { errors } from './errors.ts';
import { queryError } from './query-error.ts';
import type { QueryTurn } from './query-turn.ts';

export interface AdmissionRules {
  /** Max concurrent queries of people, besides first ones. */
  readonly atOnce: number;
}

interface Waiting {
  readonly turn: QueryTurn;
  readonly begin: () => void;
  readonly refuse: (error: Error) => void;
}

/** Above `atOnce`, for those who have no query running: what one asker begins keeps no other out. */
const firstQueries = 12;
const houseQueries = 8;
const maxWaiting = 64;
const maxHouseWaiting = 1_000;

/**
 * Running queries, with a waiting line per asker. A free slot goes to the asker with the fewest
 * running queries, among those to the one whose last one began longest ago; the oldest of its line
 * begins.
 */
export class AdmissionQueue {
  readonly #lines = new Map<Asker, Waiting[]>();
  readonly #now: () => number;
  #rules: AdmissionRules;
  #people = 0;
  #house = 0;
  #begun = 0;

  constructor(rules: AdmissionRules, now: () => number) {
    this.#rules = rules;
    this.#now = now;
  }

  set rules(rules: AdmissionRules) {
    this.#rules = rules;
    this.#admit();
  }

  get running(): number {
    return this.#people + this.#house;
  }

  get waiting(): number {
    return [...this.#lines.values()].reduce((sum, line) => sum + line.length, 0);
  }

  /** Resolves when the query may begin; whoever enters must leave. */
  async enter(turn: QueryTurn): Promise<void> {
    if (turn.signal.aborted) {
      throw left();
    }
    const line = this.#lines.get(turn.asker) ?? [];
    if (line.length === 0 && this.#hasPlaceFor(turn.asker)) {
      this.#begin(turn.asker);
      return;
    }
    this.#refuseInVain(turn, line.length);
    this.#lines.set(turn.asker, line);
    await new Promise<void>((resolve, reject) => {
      const leave = (): void => this.#take(turn)?.refuse(left());
      const settled = (settle: () => void): void => {
        turn.signal.removeEventListener('abort', leave);
        settle();
      };
      line.push({
        turn,
        begin: () => settled(resolve),
        refuse: (error) => settled(() => reject(error)),
      });
      turn.signal.addEventListener('abort', leave, { once: true });
    });
  }

  leave({ asker, computedMs }: QueryTurn): void {
    asker.running--;
    asker.learn(computedMs);
    if (asker.isHouse) {
      this.#house--;
    } else {
      this.#people--;
    }
    this.#admit();
  }

  /** Sends away those whose time is up. */
  expire(): void {
    const now = this.#now();
    const late = [...this.#lines.values()].flatMap((line) =>
      line.filter(({ turn }) => turn.isOver(now)),
    );
    for (const { turn, refuse } of late) {
      this.#take(turn);
      refuse(
        queryError(
          'timeout',
          `the query waited ${turn.timeoutMs / 1_000} s in the queue, its whole timeout: run fewer queries at a time, or shorter ones`,
        ),
      );
    }
  }

  #hasPlaceFor(asker: Asker): boolean {
    if (asker.isHouse) {
      return this.#house < houseQueries;
    }
    const { atOnce } = this.#rules;
    return this.#people < (asker.running === 0 ? atOnce + firstQueries : atOnce);
  }

  /** Better at once than after a wait that can only end with a time-out. */
  #refuseInVain({ asker, timeoutMs }: QueryTurn, before: number): void {
    if (before >= (asker.isHouse ? maxHouseWaiting : maxWaiting)) {
      throw errors.line_full(
        { running: asker.running, waiting: before },
        { retryAfterSeconds: inSeconds(asker.usualMs) },
      );
    }
    const sharing =
      [...this.#lines.keys()].filter((other) => other !== asker && !other.isHouse).length + 1;
    const waitMs = (before + 1) * asker.usualMs * sharing;
    if (!asker.isHouse && waitMs > timeoutMs) {
      throw errors.wait_in_vain(
        {
          waiting: before,
          wait: Math.ceil(waitMs / 1_000),
          timeout: Math.round(timeoutMs / 1_000),
        },
        { retryAfterSeconds: inSeconds(waitMs - timeoutMs) },
      );
    }
  }

  #begin(asker: Asker): void {
    asker.running++;
    asker.beganLast = ++this.#begun;
    if (asker.isHouse) {
      this.#house++;
    } else {
      this.#people++;
    }
  }

  #admit(): void {
    this.expire();
    for (;;) {
      const next = this.#nextAsker();
      if (next === undefined) {
        return;
      }
      const { turn, begin } = this.#lines.get(next)![0]!;
      this.#take(turn);
      this.#begin(next);
      begin();
    }
  }

  #nextAsker(): Asker | undefined {
    let best: Asker | undefined;
    for (const asker of this.#lines.keys()) {
      const isBetter =
        best === undefined ||
        asker.running < best.running ||
        (asker.running === best.running && asker.beganLast < best.beganLast);
      best = isBetter && this.#hasPlaceFor(asker) ? asker : best;
    }
    return best;
  }

  #take(turn: QueryTurn): Waiting | undefined {
    const line = this.#lines.get(turn.asker) ?? [];
    const at = line.findIndex((one) => one.turn === turn);
    const [taken] = at < 0 ? [] : line.splice(at, 1);
    if (line.length === 0) {
      this.#lines.delete(turn.asker);
    }
    return taken;
  }
}

const left = (): Error => queryError('canceled', 'the query was canceled before it began');

const inSeconds = (ms: number): number => Math.max(1, Math.ceil(ms / 1_000));
