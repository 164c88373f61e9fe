import assert from 'node:assert/strict';

import { budget, labelsRecord, parseDuration, formatFloat } from 'svc/query';
import { instant, lines, parse, range, type Nanos } from '../../../../plugins/logs/logql/index.ts';
import { type MemorySource, memorySource } from './memory-source.ts';

/**
 * A small language for cases, in blocks separated by empty lines; `#` begins a remark.
 *
 *   load                                     a new, empty store with these lines; times count from 0, and come in any order
 *     {a="b"} at 10s "line" with k="v"       `every 5s times 3` behind the time repeats it; `$i` in the line is the number of the repetition
 *   eval at 1m QUERY                         an instant query
 *     {a="b"} 3                              one line per series; `scalar 3`; `nothing`; `fail text` is part of the error
 *   eval 0s to 1m by 20s QUERY               a range query, `_` where a series has no value
 *     {a="b"} 1 2 _ 4
 *   lines QUERY                              a log query over all times, oldest first
 *     {a="b"} "line"
 *   refuse QUERY                             a query that does not parse
 *     parse error at line 1, col 1: …
 */
export interface Case {
  readonly name: string;
  run(): Promise<void>;
}

const day = 86_400_000;

export function casesOf(script: string): Case[] {
  const cases: Case[] = [];
  let source = memorySource({ raw: true, batch: 3 });
  for (const block of script.split(/\n\s*\n/)) {
    const [head, ...body] = block
      .split('\n')
      .map((line) => line.trim())
      .filter((line) => line !== '' && !line.startsWith('#'));
    if (head === undefined) {
      continue;
    }
    if (head === 'load') {
      source = memorySource({ raw: true, batch: 3 });
      body.forEach((line) => load(source, line));
    } else {
      const own = source;
      cases.push({ name: head, run: () => evaluate(own, head, body) });
    }
  }
  return cases;
}

const time = (text: string): number =>
  (text.startsWith('-') ? -1 : 1) * parseDuration(text.replace(/^-/, ''));

function labels(text: string): [string, string][] {
  return [...text.matchAll(/([A-Za-z_]\w*)\s*=\s*"((?:\\.|[^"\\])*)"/g)].map(([, name, value]) => [
    name!,
    JSON.parse(`"${value!}"`) as string,
  ]);
}

const loading =
  /^(\{.*?\}) at (-?[\dmsh]+)(?: every ([\dmsh]+) times (\d+))? ("(?:\\.|[^"\\])*"|`[^`]*`)(?: with (.*))?$/;

function load(source: MemorySource, line: string): void {
  const [, stream, at, every = '1s', times = '1', text, metadata = ''] =
    loading.exec(line) ?? assert.fail(`cannot load ${line}`);
  const body = text!.startsWith('`') ? text!.slice(1, -1) : (JSON.parse(text!) as string);
  for (let i = 0; i < Number(times); i++) {
    // A nanosecond part only where a line asks for it by its text.
    const when: Nanos = { ms: time(at!) + i * time(every), ns: body.includes('+1ns') ? 1 : 0 };
    source.push(labels(stream!), when, body.replaceAll('$i', String(i)), labels(metadata));
  }
}

const fresh = () => budget({ timeoutMs: 30_000, now: () => performance.now() });
const now = (): number => 3_600_000;
const shown = (set: readonly string[]): string => JSON.stringify(labelsRecord(set));

async function evaluate(
  source: MemorySource,
  head: string,
  expected: readonly string[],
): Promise<void> {
  const [, at] = /^eval at (\S+) /.exec(head) ?? [];
  const [, from, to, step] = /^eval (\S+) to (\S+) by (\S+) /.exec(head) ?? [];
  const query = head.replace(/^(?:eval at \S+|eval \S+ to \S+ by \S+|lines|refuse) /, '');
  const asked = async (): Promise<string[]> => {
    if (head.startsWith('refuse ')) {
      parse(query);
      return ['it parses'];
    }
    if (head.startsWith('lines ')) {
      const found = await lines(
        source,
        { query, start: { ms: -day, ns: 0 }, end: { ms: day, ns: 0 }, direction: 'forward', now },
        fresh(),
      );
      return found.lines.map(({ labels: set, line }) => `${shown(set)} ${JSON.stringify(line)}`);
    }
    if (at !== undefined) {
      const found = await instant(source, { query, time: time(at), now }, fresh());
      return found.type === 'scalar'
        ? [`scalar ${formatFloat(found.value)}`]
        : found.samples.map(({ labels: set, value }) => `${shown(set)} ${formatFloat(value)}`);
    }
    const bounds = { start: time(from!), end: time(to!), step: time(step!) };
    const { series } = await range(source, { query, ...bounds, now }, fresh());
    const steps = Array.from(
      { length: (bounds.end - bounds.start) / bounds.step + 1 },
      (_, i) => bounds.start + i * bounds.step,
    );
    return series.map(
      ({ labels: set, times, values }) =>
        `${shown(set)} ${steps.map((step_) => (times.includes(step_) ? formatFloat(values[times.indexOf(step_)]!) : '_')).join(' ')}`,
    );
  };
  const failing = head.startsWith('refuse ')
    ? expected[0]
    : /^fail (.*)$/.exec(expected[0] ?? '')?.[1];
  if (failing !== undefined) {
    await assert.rejects(asked, (error: Error) => {
      assert.ok(error.message.includes(failing), `${error.message}\ninstead of\n${failing}`);
      return true;
    });
    return;
  }
  const wanted = expected.filter((line) => line !== 'nothing').map(normal);
  const actual = await asked();
  const order =
    head.startsWith('lines ') || /sort|topk|bottomk/.test(query)
      ? (list: string[]) => list
      : (list: string[]) => list.toSorted();
  assert.deepEqual(order(actual), order(wanted));
}

/** `{b="x", a="y"} rest` with its labels sorted, as JSON. */
function normal(line: string): string {
  const close = /^\{(?:[^"}]|"(?:\\.|[^"\\])*")*\}/.exec(line)?.[0];
  if (close === undefined) {
    return line;
  }
  const flat = labels(close).sort(([a], [b]) => (a < b ? -1 : 1));
  const rest = line.slice(close.length).trim();
  return `${JSON.stringify(Object.fromEntries(flat))} ${rest.startsWith('`') ? JSON.stringify(rest.slice(1, -1)) : rest}`;
}
