import { csvRecords } from './csv.ts';

/** Values by the minute since 1970. */
export type Minutes<T> = ReadonlyMap<number, T>;

/** One operation of a service: its spans, and the 95th percentile of the time they take without their children. */
export interface Operation {
  readonly service: string;
  readonly operation: string;
  readonly spans: Minutes<number>;
  readonly selfMs: Minutes<number>;
}

interface Span {
  readonly key: string;
  readonly parent: string;
  readonly minute: number;
  readonly ms: number;
  childrenMs: number;
}

/** Operations in files of spans, each of which holds whole traces. */
export async function lifeOf(
  paths: readonly string[],
  serviceOf: (pod: string) => string,
): Promise<readonly Operation[]> {
  const selves = new Map<string, Map<number, number[]>>();
  for (const path of paths) {
    for (const { key, minute, ms, childrenMs } of await spansIn(path, serviceOf)) {
      const byMinute = selves.get(key) ?? new Map<number, number[]>();
      selves.set(key, byMinute);
      const own = byMinute.get(minute) ?? [];
      byMinute.set(minute, own);
      own.push(Math.max(0, ms - childrenMs));
    }
  }
  return [...selves].map(([key, byMinute]) => {
    const [service, operation] = key.split('\n') as [string, string];
    return {
      service,
      operation,
      spans: new Map([...byMinute].map(([minute, all]) => [minute, all.length])),
      selfMs: new Map([...byMinute].map(([minute, all]) => [minute, percentile95(all)])),
    };
  });
}

async function spansIn(path: string, serviceOf: (pod: string) => string): Promise<Iterable<Span>> {
  const spans = new Map<string, Span>();
  for await (const row of csvRecords(path)) {
    const trace = row['TraceID'] ?? '';
    spans.set(`${trace} ${row['SpanID']}`, {
      key: `${serviceOf(row['PodName'] ?? '')}\n${row['OperationName'] ?? ''}`,
      parent: `${trace} ${row['ParentID']}`,
      minute: Math.floor(Number(row['StartTimeUnixNano']) / 60e9),
      ms: (Number(row['EndTimeUnixNano']) - Number(row['StartTimeUnixNano'])) / 1e6,
      childrenMs: 0,
    });
  }
  for (const { parent, ms } of spans.values()) {
    const above = spans.get(parent);
    if (above !== undefined) {
      above.childrenMs += ms;
    }
  }
  return spans.values();
}

function percentile95(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(0.95 * sorted.length))]!;
}
