import { useEffect, useRef, useState } from 'preact/hooks';

import type { ApiError } from '../../client/api.ts';
import { useData } from '../../client/data.ts';
import { useSpan } from '../../kit/chart/span.tsx';

/** All calls of one service by another in a window. */
export interface Calls {
  readonly from: string;
  readonly to: string;
  /** Calls per second. */
  readonly rate: number;
  /** Share of calls that failed, from 0 to 1. */
  readonly failed: number;
  /** Seconds within which 95 % of the calls ended; undefined where nobody knows. */
  readonly p95: number | undefined;
}

interface Answer {
  readonly series: readonly {
    readonly labels: readonly {
      readonly key: string;
      readonly value: { readonly stringValue?: string };
    }[];
    readonly value: number;
  }[];
}

const caller = 'parent.resource.service.name';
const called = 'resource.service.name';
const by = `by (${caller}, ${called})`;
/** A span whose parent is of another service: one call. */
const call = `${called} != ${caller}`;
const questions = [
  `{ ${call} } | rate() ${by}`,
  `{ ${call} && status = error } | rate() ${by}`,
  `{ ${call} } | quantile_over_time(duration, .95) ${by}`,
] as const;

/** Seconds of a window, the longest first: whole traces are read for it, and svc refuses what takes too long. */
const lengths = [900, 300, 60] as const;

/** Returns the calls between services at the end of the range of the page, and the length of the window in seconds. */
export function useCalls(): {
  readonly calls: readonly Calls[] | undefined;
  readonly seconds: number;
  readonly error: ApiError | undefined;
} {
  const { window, bounds, every } = useSpan();
  const { from, to } = 'last' in window ? bounds() : window;
  const [at, shorten] = useState(0);
  const seconds = Math.min(lengths[at]!, Math.max(60, to - from));
  // On whole minutes, so that drawing again does not ask again.
  const end = 'last' in window ? Math.ceil(to / 60) * 60 : Math.ceil(to);
  const answers = questions.map((q) =>
    useData<Answer>('//tempo/api/metrics/query', {
      query: { q, start: end - seconds, end },
      every: every(60_000),
    }),
  );
  const isTooMuch = answers.some(({ error }) => error?.status === 422) && at < lengths.length - 1;
  useEffect(() => {
    if (isTooMuch) {
      shorten((now) => Math.min(now + 1, lengths.length - 1));
    }
  }, [isTooMuch, at]);
  const [rates, failures, durations] = answers.map(({ value }) => value);
  // Until the answers of the next minute have come.
  const last = useRef<readonly Calls[] | undefined>(undefined);
  last.current =
    rates && failures && durations ? callsOf(rates, failures, durations) : last.current;
  const error = isTooMuch ? undefined : answers.find((answer) => answer.error)?.error;
  return { calls: last.current, seconds, error };
}

function callsOf(rates: Answer, failures: Answer, durations: Answer): readonly Calls[] {
  const [failed, p95] = [byPair(failures), byPair(durations)];
  return [...byPair(rates)]
    .filter(([, rate]) => rate > 0)
    .map(([pair, rate]) => {
      const [from, to] = JSON.parse(pair) as [string, string];
      return { from, to, rate, failed: (failed.get(pair) ?? 0) / rate, p95: p95.get(pair) };
    })
    .toSorted((a, b) => b.rate - a.rate);
}

function byPair({ series }: Answer): ReadonlyMap<string, number> {
  const found = new Map<string, number>();
  for (const { labels, value } of series) {
    const nameOf = (key: string): string =>
      labels.find((label) => label.key === key)?.value.stringValue ?? '';
    const pair = [nameOf(caller), nameOf(called)];
    if (pair.every((name) => name !== '') && Number.isFinite(value)) {
      found.set(JSON.stringify(pair), value);
    }
  }
  return found;
}

/** Returns the query of the traces in which one service calls another, or of all of one service. */
export function tracesOf(to: string, from?: string): string {
  const condition = `${called} = ${JSON.stringify(to)}`;
  return from === undefined
    ? `{ ${condition} }`
    : `{ ${condition} && ${caller} = ${JSON.stringify(from)} }`;
}
