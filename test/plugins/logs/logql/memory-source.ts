import { labelsKey, labelsOf, type Labels } from 'svc/query';
import {
  detectedLevel,
  type LogBatch,
  type LogEntry,
  type LogSource,
  type Nanos,
  type SelectOptions,
  withServiceName,
} from '../../../../plugins/logs/logql/index.ts';

export interface MemorySource extends LogSource {
  push(
    stream: Iterable<readonly [string, string]>,
    at: Nanos,
    line: string,
    metadata?: Iterable<readonly [string, string]>,
  ): void;
  /** Options of each select. */
  readonly asked: SelectOptions[];
  entriesRead: number;
}

export const nanosOf = (text: string): Nanos => ({
  ms: Number(BigInt(text) / 1_000_000n),
  ns: Number(BigInt(text) % 1_000_000n),
});

const before = (a: Nanos, b: Nanos): number => a.ms - b.ms || a.ns - b.ns;

/** All lines in memory; streams alternate in small batches, so that the engine has to put things in order itself. */
export function memorySource({
  raw = false,
  batch = 7,
}: { raw?: boolean; batch?: number } = {}): MemorySource {
  const streams = new Map<string, { labels: Labels; entries: LogEntry[] }>();
  const source: MemorySource = {
    asked: [],
    entriesRead: 0,
    push(stream, at, line, metadata = []) {
      const labels = raw ? labelsOf(stream) : withServiceName(labelsOf(stream));
      const key = labelsKey(labels);
      const found = streams.get(key) ?? { labels, entries: [] };
      streams.set(key, found);
      const beside = labelsOf(metadata);
      const all = raw
        ? beside
        : labelsOf([...pairs(beside), ['detected_level', detectedLevel(line, labels, beside)]]);
      found.entries.push({ ...at, line, ...(all.length > 0 && { metadata: all }) });
    },
    async *select(matchers, start, end, options, budget) {
      source.asked.push(options);
      const open = [...streams.values()]
        .filter(({ labels }) =>
          matchers.every(({ name, matches }) => matches(valueOf(labels, name))),
        )
        .map(({ labels, entries }) => {
          const inside = entries
            .filter(
              (entry) =>
                before(entry, start) >= 0 &&
                before(entry, end) < 0 &&
                (options.contains ?? []).every((text) => entry.line.includes(text)),
            )
            .sort((a, b) => (options.direction === 'forward' ? before(a, b) : before(b, a)));
          return { labels, entries: inside };
        });
      for (let at = 0; open.some(({ entries }) => at < entries.length); at += batch) {
        for (const { labels, entries } of open) {
          const part = entries.slice(at, at + batch);
          source.entriesRead += part.length;
          budget.bytes(part.reduce((sum, { line }) => sum + line.length, 0));
          await Promise.resolve();
          if (part.length > 0) {
            yield { labels, entries: part } satisfies LogBatch;
          }
        }
      }
    },
  };
  return source;
}

function* pairs(labels: Labels): Generator<readonly [string, string]> {
  for (let i = 0; i < labels.length; i += 2) {
    yield [labels[i]!, labels[i + 1]!];
  }
}

function valueOf(labels: Labels, name: string): string {
  return [...pairs(labels)].find(([other]) => other === name)?.[1] ?? '';
}
