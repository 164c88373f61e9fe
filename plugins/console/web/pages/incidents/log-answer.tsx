import { useEffect, useState } from 'preact/hooks';

import { api, type ApiError } from '../../client/api.ts';
import { asApiError } from '../../client/data.ts';
import { runbook as text } from '../../text/english/watch/incidents.ts';
import { Refused, Skeleton } from '../../kit/parts.tsx';

interface Found {
  readonly data: {
    readonly result: readonly {
      readonly stream?: Readonly<Record<string, string>>;
      readonly metric?: Readonly<Record<string, string>>;
      readonly values: readonly (readonly [string | number, string])[];
    }[];
  };
}

const hourSeconds = 3_600;
const most = 20;

/** Newest lines of the last hour that a log query finds; of one that counts, its newest figures. */
export function LogAnswer({ query }: { readonly query: string }) {
  const [lines, setLines] = useState<readonly string[]>();
  const [error, setError] = useState<ApiError>();
  const [round, again] = useState(0);
  useEffect(() => {
    const own = new AbortController();
    setLines(undefined);
    setError(undefined);
    ask(query, own.signal).then(setLines, (refusal: unknown) => {
      if (!own.signal.aborted) {
        setError(asApiError(refusal));
      }
    });
    return () => own.abort();
  }, [query, round]);
  if (error !== undefined) {
    return <Refused error={error} retry={() => again(round + 1)} />;
  }
  if (lines === undefined) {
    return <Skeleton lines={3} />;
  }
  return lines.length === 0 ? (
    <p class="soft">{text.nothing}</p>
  ) : (
    <pre class="code">{lines.join('\n')}</pre>
  );
}

async function ask(query: string, signal: AbortSignal): Promise<readonly string[]> {
  const now = Math.ceil(Date.now() / 1_000);
  const { data } = await api.get<Found>(
    '/logs/query_range',
    {
      query,
      start: `${now - hourSeconds}000000000`,
      end: `${now}999999999`,
      limit: most,
      direction: 'backward',
    },
    signal,
  );
  return data.result
    .flatMap(({ stream, metric, values }) =>
      stream === undefined
        ? values.slice(-1).map(([, value]) => `${named(metric ?? {})} ${value}`.trim())
        : values.map(([, line]) => line),
    )
    .slice(0, most);
}

const named = (labels: Readonly<Record<string, string>>): string =>
  Object.entries(labels)
    .map(([name, value]) => `${name}=${value}`)
    .join(' ');
