import { type Clock, patience, type RestartPolicy } from '../sdk/index.ts';
import { type Tenant, ThreadPlace } from './thread-place.ts';
import { type ProgramOptions, threadText } from './thread-program.ts';
import type { TenantOptions, ThreadTiming } from './thread-run.ts';
import type { ThreadStart } from './thread-wire.ts';
import { startWorker } from './worker.ts';

interface ThreadsOptions extends ProgramOptions {
  readonly clock: Clock;
  readonly restart?: Partial<RestartPolicy>;
  readonly timing?: Partial<ThreadTiming>;
  readonly random?: () => number;
  /** A stack of a thread with the places of its sources. */
  readonly mapped?: (stack: string) => string;
}

interface ThreadClaim extends Omit<
  TenantOptions,
  'label' | 'start' | 'skewMs' | 'mapped' | 'timing' | 'restart' | 'random'
> {
  /** Owner of the thread; together with `name` it never runs twice. */
  readonly owner: string;
  readonly name: string;
  /** CommonJS text of the worker file, and its name in stacks. */
  readonly code: string;
  readonly filename: string;
  readonly data: unknown;
}

/** A thread is never given up here: the host counts the strikes of its owner. */
const threadPatience: RestartPolicy = {
  ...patience,
  firstMs: 500,
  maxMs: 60_000,
  maxRestarts: Infinity,
};
/** Three times a half of the young generation, which would grow to 32 MB in each thread that is busy; a quarter of that costs no time that can be measured. */
export const youngMb = 12;
const usualTiming: ThreadTiming = { openMs: 10 * 60_000, pingMs: 5_000, stuckMs: 60_000 };

/** The threads of plugins. */
export class Threads {
  readonly #options: ThreadsOptions;
  readonly #places = new Map<string, ThreadPlace>();

  constructor(options: ThreadsOptions) {
    this.#options = options;
  }

  /** Threads that run at this moment, for the census. */
  get size(): number {
    return [...this.#places.values()].reduce((sum, place) => sum + place.threads, 0);
  }

  /** A place for a thread; it starts when the tenant begins and its predecessor has closed. */
  claim({ owner, name, code, filename, data, ...claim }: ThreadClaim): Tenant {
    const { timing, restart, random = Math.random, mapped = (stack) => stack } = this.#options;
    const skewMs = (): number => this.#skewMs();
    // The plugin may go on changing what it gave; each start gets what was declared.
    const declared = structuredClone(data);
    const start = () =>
      startWorker({
        entry: filename,
        text: threadText(code, filename, this.#options),
        workerData: { data: declared, skewMs: skewMs() } satisfies ThreadStart,
        resourceLimits: { maxOldGenerationSizeMb: claim.heapMb, maxYoungGenerationSizeMb: youngMb },
      });
    return this.#placeOf(`${owner}/${name}`).tenant({
      ...claim,
      label: `thread ${name} of ${owner}`,
      start,
      skewMs,
      mapped,
      timing: { ...usualTiming, ...timing },
      restart: { ...threadPatience, ...restart },
      random,
    });
  }

  #placeOf(key: string): ThreadPlace {
    const place = this.#places.get(key) ?? new ThreadPlace(() => this.#places.delete(key));
    this.#places.set(key, place);
    return place;
  }

  #skewMs(): number {
    const skew = this.#options.clock.now() - Date.now();
    // The system's own clock, read twice.
    return Math.abs(skew) <= 1 ? 0 : skew;
  }
}
