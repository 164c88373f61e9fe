import { budget, type Labels, labelsOf } from 'svc/query';
import { lines, type LogEntry, type LogSource, range } from '../../plugins/logs/logql/index.ts';
import type { Outcome, Row } from '../exercise.ts';

const start = 1_700_000_000_000;
const spacing = 36;
const levels = ['info', 'warn', 'error'] as const;
const statuses = [200, 404, 500] as const;

/** The language alone, over lines in memory: what a query costs besides reading. Half of the streams hold JSON, half key=value pairs. */
export async function run({
  perStream = 20_000,
  streams = 10,
}: { readonly perStream?: number; readonly streams?: number } = {}): Promise<Outcome> {
  const all = Array.from({ length: streams }, (_, index) =>
    stream(index, index < streams / 2 ? 'json' : 'fmt', perStream),
  );
  const source = sourceOf(all, perStream);
  const window = { start: { ms: start, ns: 0 }, end: { ms: start + perStream * spacing, ns: 0 } };
  const now = (): number => start;
  const fresh = () => budget({ timeoutMs: 120_000, now: () => performance.now() });
  const found: Row[] = [];
  for (const query of logQueries) {
    found.push(await measured(query, all, () => lines(source, { query, ...window, now }, fresh())));
  }
  for (const query of metricQueries) {
    found.push(
      await measured(query, all, () =>
        range(source, { query, start, end: window.end.ms, step: 15_000, now }, fresh()),
      ),
    );
  }
  return { queries: found };
}

const logQueries = [
  '{app=~".+"} |= "needle"',
  '{app=~".+"} |~ "need.*le"',
  '{app="json"} | json | level="none"',
  '{app="fmt"} | logfmt | level="none"',
  '{app="fmt"} | pattern "level=<level> <_>" | level="none"',
  '{app="fmt"} | regexp "level=(?P<level>\\\\w+)" | level="none"',
  '{app="fmt"} | logfmt | line_format "{{.level}} {{.msg | upper}}" |= "none"',
];
const metricQueries = [
  'sum(rate({app=~".+"}[1m]))',
  'sum by (level) (rate({app="json"} | json [1m]))',
  'sum by (level) (rate({app="fmt"} | logfmt [1m]))',
  'quantile_over_time(0.95, {app="json"} | json | unwrap latency_ms [1m]) by (level)',
];

interface Stream {
  readonly labels: Labels;
  readonly entries: readonly LogEntry[];
}

function stream(index: number, app: 'json' | 'fmt', count: number): Stream {
  const metadata = levels.map((level) => labelsOf([['detected_level', level]]));
  const entries = Array.from({ length: count }, (_, i): LogEntry => {
    const level = levels[i % 3]!;
    const status = statuses[i % 3]!;
    const text =
      app === 'json'
        ? `{"level":"${level}","msg":"request completed ${i}","status":${status},"latency_ms":${(i * 7) % 1000}.5,"user":{"id":${i % 50},"name":"u${i % 7}"},"path":"/api/v1/items/${i % 100}"}`
        : `level=${level} caller=job.go:${i % 40} msg="payment gateway timeout ${i}" took=${(i % 300) / 100}s bytes=${i % 9000} attempt=${i % 4} status=${status}`;
    // As a store gives it: one piece, not put together from many.
    return {
      ms: start + i * spacing,
      ns: index,
      line: Buffer.from(text).toString(),
      metadata: metadata[i % 3]!,
    };
  });
  const labels = labelsOf([
    ['app', app],
    ['host', `h${index}`],
    ['service_name', app],
  ]);
  return { labels, entries };
}

function sourceOf(all: readonly Stream[], perStream: number): LogSource {
  const batch = 500;
  return {
    async *select(matchers, _start, _end, { direction }) {
      const fitting = all.filter(({ labels }) =>
        matchers.every(({ name, matches }) => matches(labels[labels.indexOf(name) + 1] ?? '')),
      );
      for (let at = 0; at < perStream; at += batch) {
        for (const { labels, entries } of fitting) {
          await Promise.resolve();
          yield {
            labels,
            entries:
              direction === 'forward'
                ? entries.slice(at, at + batch)
                : entries.slice(Math.max(0, perStream - at - batch), perStream - at).toReversed(),
          };
        }
      }
    },
  };
}

async function measured(
  query: string,
  all: readonly Stream[],
  ask: () => Promise<unknown>,
): Promise<Row> {
  const asked = all.filter(
    ({ labels }) => !/app="(\w+)"/.test(query) || labels[1] === /app="(\w+)"/.exec(query)![1],
  );
  const count = asked.reduce((sum, { entries }) => sum + entries.length, 0);
  const bytes = asked.reduce(
    (sum, { entries }) => sum + entries.reduce((own, { line }) => own + line.length, 0),
    0,
  );
  await ask();
  const began = process.cpuUsage();
  await ask();
  const { user, system } = process.cpuUsage(began);
  const seconds = (user + system) / 1e6;
  return {
    query,
    'M lines/cpu-s': Math.round(count / seconds / 1e4) / 100,
    'MB/cpu-s': Math.round(bytes / seconds / 1e6),
  };
}
