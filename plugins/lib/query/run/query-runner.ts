import { AdmissionQueue } from './admission-queue.ts';
import { Asker } from './asker.ts';
import { type Budget, budget } from './budget.ts';
import { QueryTurn } from './query-turn.ts';
import { QueryTurns } from './query-turns.ts';

/** Limits of each query of a store, and of how many run at a time. */
export interface RunnerLimits {
  /** Time limit from its arrival to its end, waiting included. */
  readonly timeoutMs: number;
  /** Max computing time of a query by a person; unlimited if absent. */
  readonly cpuMs?: number;
  readonly maxSamples?: number;
  readonly maxBytes?: number;
  readonly atOnce?: number;
}

/** Asker of a query, with limits below the general ones. */
export interface QueryCall {
  readonly signal: AbortSignal;
  /** A person or a token by kind and id; absent for the product itself. */
  readonly asker?: string | undefined;
  readonly timeoutMs?: number | undefined;
  readonly maxSamples?: number | undefined;
}

export interface QueryLoad {
  readonly running: number;
  readonly waiting: number;
  /** Number of queries since the start. */
  readonly asked: number;
}

const usuallyAtOnce = 4;
/** Askers that are remembered although they ask nothing at the moment. */
const maxIdle = 200;

/** Runs the queries of a store's thread in fair turns, each with a budget. */
export class QueryRunner<Limits extends RunnerLimits = RunnerLimits> {
  readonly #now = (): number => performance.now();
  readonly #queue: AdmissionQueue;
  readonly #turns: QueryTurns;
  readonly #askers = new Map<string | undefined, Asker>();
  #limits: Limits;
  #asked = 0;

  constructor(limits: Limits) {
    this.#limits = limits;
    this.#queue = new AdmissionQueue(rulesOf(limits), this.#now);
    this.#turns = new QueryTurns(this.#now, () => this.#queue.expire());
  }

  get limits(): Limits {
    return this.#limits;
  }

  set limits(limits: Limits) {
    this.#limits = limits;
    this.#queue.rules = rulesOf(limits);
  }

  get load(): QueryLoad {
    return { running: this.#queue.running, waiting: this.#queue.waiting, asked: this.#asked };
  }

  /** `work` may ask for further budgets, for parts of it that have limits of their own; time is one for all of them. */
  async run<T>(
    call: QueryCall,
    work: (budget: Budget, another: () => Budget) => Promise<T>,
  ): Promise<T> {
    this.#asked += 1;
    const arrivedAt = this.#now();
    const timeoutMs = Math.max(0, Math.min(call.timeoutMs ?? Infinity, this.#limits.timeoutMs));
    const turn = new QueryTurn(this.#asker(call.asker), call.signal, { arrivedAt, timeoutMs });
    turn.asker.present++;
    try {
      await this.#queue.enter(turn);
      return await this.#work(call, turn, work);
    } finally {
      turn.asker.present--;
    }
  }

  async #work<T>(
    call: QueryCall,
    turn: QueryTurn,
    work: (budget: Budget, another: () => Budget) => Promise<T>,
  ): Promise<T> {
    const another = (): Budget => this.#budget(call, turn);
    try {
      if (this.#queue.running > 1) {
        await this.#turns.next(turn);
      }
      turn.begin(this.#now());
      return await work(another(), another);
    } finally {
      turn.pause(this.#now());
      this.#queue.leave(turn);
    }
  }

  #budget({ maxSamples = Infinity }: QueryCall, turn: QueryTurn): Budget {
    const { cpuMs, maxBytes, maxSamples: most = Infinity } = this.#limits;
    const samples = Math.min(maxSamples, most);
    return budget({
      timeoutMs: turn.timeoutMs,
      ...(samples < Infinity && { maxSamples: samples }),
      ...(maxBytes !== undefined && { maxBytes }),
      ...(cpuMs !== undefined && !turn.asker.isHouse && { cpuMs }),
      signal: turn.signal,
      now: this.#now,
      slices: { turn, next: () => this.#turns.next(turn) },
    });
  }

  #asker(key: string | undefined): Asker {
    const known = this.#askers.get(key) ?? new Asker(key);
    // The one that asked longest ago comes first.
    this.#askers.delete(key);
    this.#askers.set(key, known);
    if (this.#askers.size > maxIdle) {
      this.#forgetIdle();
    }
    return known;
  }

  #forgetIdle(): void {
    for (const [key, asker] of this.#askers) {
      if (asker.present === 0 && key !== undefined && this.#askers.size > maxIdle) {
        this.#askers.delete(key);
      }
    }
  }
}

const rulesOf = ({ atOnce = usuallyAtOnce }: RunnerLimits): { readonly atOnce: number } => ({
  atOnce,
});
