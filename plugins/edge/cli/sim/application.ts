import { createHash } from 'node:crypto';

import type { FaultKind, SimOptions } from './options.ts';
import { pick, type Random, seeded } from 'svc/seeded';

/** Request as served by one host. */
export interface Served {
  readonly host: number;
  readonly traceId: string;
  readonly spanId: string;
  readonly parentId: string;
  /** Milliseconds since 1970. */
  readonly start: number;
  readonly ms: number;
  /** Why it failed; absent when it did not. */
  readonly failure?: string;
}

type Fault = NonNullable<SimOptions['fault']>;

/** Effect of a host's fault on its service. */
const harm: Readonly<
  Record<FaultKind, { readonly slower: number; readonly failing: number; readonly failure: string }>
> = {
  cpu: { slower: 14, failing: 0, failure: '' },
  memory: { slower: 12, failing: 0.15, failure: 'cannot allocate memory' },
  disk: { slower: 1, failing: 0.7, failure: 'write: no space left on device' },
  io: { slower: 18, failing: 0, failure: '' },
};

export const hostsOfOne = 8;
const minuteMs = 60_000;
const names = ['front', 'cart', 'catalog', 'search', 'orders', 'billing', 'users', 'stock'];

/**
 * Eight hosts are one application: the first takes requests, and each asks the next ones. All of it follows from the seed and
 * the time, so that each host can tell its own part of a trace without a word to the others.
 */
export class Application {
  readonly #seed: string;
  readonly #first: number;
  readonly #hosts: number;
  readonly #perMinute: number;
  readonly #fault: (Pick<Fault, 'kind' | 'host'> & { readonly from: number }) | undefined;
  /** Milliseconds that each host works for a request. */
  readonly #work: readonly number[];

  /** `fault.from`: milliseconds since 1970. */
  constructor(
    { seed, count, requestsPerMinute }: Pick<SimOptions, 'seed' | 'count' | 'requestsPerMinute'>,
    number: number,
    fault?: Pick<Fault, 'kind' | 'host'> & { readonly from: number },
  ) {
    this.#seed = seed;
    this.#first = number - ((number - 1) % hostsOfOne);
    this.#hosts = Math.min(hostsOfOne, count - this.#first + 1);
    this.#perMinute = requestsPerMinute;
    this.#fault = fault;
    const random = seeded('work', seed, this.#first);
    this.#work = Array.from({ length: hostsOfOne }, () => 15 + 20 * random());
  }

  serviceOf(number: number): string {
    const at = number - this.#first;
    return `${names[at]}-${String(Math.floor(this.#first / hostsOfOne) + 1).padStart(4, '0')}`;
  }

  /** The hosts that a host asks to serve a request: a tree, and for some one more. */
  needs(number: number): readonly number[] {
    const at = number - this.#first;
    const further = pick(seeded('further', this.#seed, number), [2 * at + 3, 2 * at + 4, 0, 0]);
    return [...new Set([2 * at + 1, 2 * at + 2, further])]
      .filter((other) => other > at && other < this.#hosts)
      .map((other) => this.#first + other);
  }

  /** Returns the requests that one host completed between two times. */
  servedBy(number: number, from: number, to: number): readonly Served[] {
    return this.#requests(from, to).flatMap((request) =>
      request.filter(({ host }) => host === number),
    );
  }

  /**
   * Returns, from 0 to 1, the share of time in which its service waits or works longer than usual.
   */
  strain(number: number, at: number): number {
    const usual = this.#usualMs(number, -Infinity);
    return 1 - usual / this.#usualMs(number, at);
  }

  #requests(from: number, to: number): readonly (readonly Served[])[] {
    const everyMs = minuteMs / this.#perMinute;
    const first = Math.ceil(from / everyMs);
    return Array.from({ length: Math.max(0, Math.ceil(to / everyMs) - first) }, (_, index) =>
      this.#request(first + index, everyMs),
    );
  }

  #request(serial: number, everyMs: number): readonly Served[] {
    const random = seeded('request', this.#seed, this.#first, serial);
    const traceId = hexOf(32, this.#seed, this.#first, serial);
    const spans: Served[] = [];
    // A request belongs to the moment of its end: unfinished ones are not reported.
    this.#serve(this.#first, {
      traceId,
      parentId: '',
      start: 0,
      random,
      spans,
      at: serial * everyMs,
    });
    const lasted = spans.at(-1)!.ms;
    return spans.map((span) => ({ ...span, start: serial * everyMs - lasted + span.start }));
  }

  #serve(host: number, { start, parentId, ...one }: Visit): Served {
    const { traceId, random, spans, at } = one;
    const harmed = this.#harmOf(host, at);
    const work = this.#work[host - this.#first]! * (0.6 + 0.8 * random()) * harmed.slower;
    const spanId = hexOf(16, traceId, spans.length, host);
    let now = start + work / 2;
    let failure =
      random() < 0.002 + harmed.failing ? harmed.failure || 'unexpected end of input' : undefined;
    for (const other of this.needs(host)) {
      const asked = this.#serve(other, { ...one, start: now, parentId: spanId });
      now += asked.ms;
      failure ??=
        asked.failure !== undefined && random() < 0.9
          ? `${this.serviceOf(other)} answered 500`
          : undefined;
    }
    const served = {
      host,
      traceId,
      spanId,
      parentId,
      start,
      ms: now + work / 2 - start,
      ...(failure !== undefined && { failure }),
    };
    spans.push(served);
    return served;
  }

  #usualMs(host: number, at: number): number {
    const { slower, failing } = this.#harmOf(host, at);
    // Failed requests are retried.
    const own = this.#work[host - this.#first]! * slower * (1 + 5 * failing);
    return this.needs(host).reduce((sum, other) => sum + this.#usualMs(other, at), own);
  }

  #harmOf(host: number, at: number): (typeof harm)[FaultKind] {
    const fault = this.#fault;
    return fault?.host === host && at >= fault.from
      ? harm[fault.kind]
      : { slower: 1, failing: 0, failure: '' };
  }
}

interface Visit {
  readonly traceId: string;
  readonly parentId: string;
  readonly start: number;
  readonly at: number;
  readonly random: Random;
  readonly spans: Served[];
}

const hexOf = (length: number, ...parts: readonly (string | number)[]): string =>
  createHash('sha256').update(parts.join('\n')).digest('hex').slice(0, length);
