import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';

import { budget, type Labels, labelsOf, labelValue } from 'svc/query';

import {
  instant,
  parse as parsePromql,
  selectorsOf,
} from '../../plugins/metricsdb/promql/index.ts';
import { metricNames } from '../docs/metric-names.ts';
import { exportersOf, fences } from '../docs/playbooks.ts';
import type { Outcome, Row } from '../exercise.ts';
import { MemoryStore } from '../golden/promql-test/runner/memory.ts';
import { lacking, ports, Stand } from './rca-real-stand.ts';

/** Exporters that run here, by their addresses; those of node and processes name what agents measure. */
const running: Readonly<Record<string, string>> = {
  node_exporter: `${ports.node}/metrics`,
  process_exporter: `${ports.process}/metrics`,
  postgres_exporter: `${ports.postgresExporter}/metrics`,
  redis_exporter: `${ports.redisExporter}/metrics`,
  'nginx-prometheus-exporter': `${ports.nginxExporter}/metrics`,
  mysqld_exporter: `${ports.mysqldExporter}/metrics`,
  blackbox_exporter: `${ports.blackbox}/probe?module=http_2xx&target=http%3A%2F%2F127.0.0.1%3A${ports.front}`,
  'blackbox_exporter, TLS': `${ports.blackbox}/probe?module=tls&target=127.0.0.1%3A${ports.payments}`,
};

const step = 30_000;
/** Scrapes that the store holds: what counts is what series there are, and that counters move. */
const kept = 12;

type Verdict = 'has data' | 'quiet' | 'needs more' | 'silent';

/**
 * Runs every PromQL query of the playbooks on what Debian's exporters say of real services: it has
 * data, has what it asks for and nothing to show, or says which exporter it needs.
 */
export async function run({ only = '' }: { readonly only?: string } = {}): Promise<Outcome> {
  const lacks = lacking();
  if (lacks.length > 0) {
    return { ok: false, why: `not installed (Debian): ${lacks.join(' ')}` };
  }
  const folder = mkdtempSync(join(tmpdir(), 'svc-playbooks-'));
  const ends: (() => unknown)[] = [];
  try {
    const stand = new Stand({ after: (end) => void ends.push(end) }, folder);
    await stand.start();
    // A host has what its playbooks are about: a slot that keeps WAL, a row that is locked.
    await stand.sql("SELECT pg_create_physical_replication_slot('standby', true)");
    const { store, now } = await scraped();
    const known = await metricNames();
    const counts: Record<Verdict, number> = { 'has data': 0, quiet: 0, 'needs more': 0, silent: 0 };
    const silent: Row[] = [];
    for (const { path, body, query } of fences('promql').filter((one) => one.path.includes(only))) {
      const { verdict, why } = await judged(query, body, { store, now, known });
      counts[verdict] += 1;
      if (verdict === 'silent') {
        silent.push({ path, query, why });
      }
    }
    return { ok: silent.length === 0, ...counts, 'silent queries': silent };
  } finally {
    for (const end of ends) {
      await end();
    }
    rmSync(folder, { recursive: true, force: true });
  }
}

interface Scraped {
  readonly store: MemoryStore;
  readonly now: number;
  readonly known: ReadonlySet<string>;
}

/** Scrapes twice; what was seen first stands for all scrapes but the last. */
async function scraped(): Promise<Omit<Scraped, 'known'>> {
  const store = new MemoryStore();
  const now = Date.now();
  for (const exporter of Object.values(running)) {
    const [first, last] = [
      await samplesOf(exporter),
      (await pause(1_000), await samplesOf(exporter)),
    ];
    for (const [key, { labels, value }] of last) {
      const before = first.get(key)?.value ?? value;
      const items = [...Array.from({ length: kept - 1 }, () => before), value];
      store.add(labels, step, items, now - (kept - 1) * step);
    }
  }
  return { store, now };
}

interface Sample {
  readonly labels: Labels;
  readonly value: number;
}

/** Reads the text format as exporters write it, as of one device. */
async function samplesOf(exporter: string): Promise<ReadonlyMap<string, Sample>> {
  const url = `http://127.0.0.1:${exporter}`;
  for (let tries = 0; ; tries += 1) {
    const answer = await fetch(url).catch(() => undefined);
    const text = answer?.ok === true ? await answer.text() : '';
    const samples = new Map(
      text.split('\n').flatMap((line): [string, Sample][] => {
        const [, name, inner = '', value] =
          /^([a-zA-Z_:][\w:]*)(?:\{(.*)\})? (\S+)/.exec(line) ?? [];
        return name === undefined
          ? []
          : [[`${name}{${inner}}`, { labels: labelsIn(name, inner), value: Number(value) }]];
      }),
    );
    // An exporter that has not reached its service yet answers with its own metrics alone.
    const isUp = ![...samples].some(
      ([key, one]) => /^(pg|redis|mysql|nginx)_up\b/.test(key) && one.value === 0,
    );
    if (samples.size > 0 && isUp) {
      return samples;
    }
    if (tries > 100) {
      throw new Error(`${url} answers nothing: ${text.slice(0, 200)}`);
    }
    await pause(200);
  }
}

const labelsIn = (name: string, inner: string): Labels =>
  labelsOf([
    ['__name__', name],
    ['device_id', '7'],
    ['instance', 'host-7'],
    ['job', 'node'],
    ...[...inner.matchAll(/([a-zA-Z_]\w*)="((?:[^"\\]|\\.)*)"/g)].map(
      ([, label, value]) => [label!, value!] as const,
    ),
  ]);

async function judged(
  query: string,
  body: string,
  { store, now, known }: Scraped,
): Promise<{ readonly verdict: Verdict; readonly why?: string }> {
  const answer = await instant(
    store,
    { query, time: now },
    budget({ timeoutMs: 30_000, maxSamples: 10_000_000, now: () => performance.now() }),
  );
  const series =
    answer.type === 'vector' ? answer.samples : answer.type === 'matrix' ? answer.series : [1];
  if (series.length > 0) {
    return { verdict: 'has data' };
  }
  let needsMore = false;
  for (const { name, matchers } of selectorsOf(parsePromql(query))) {
    const named = store.all.filter(
      ({ labels }) => name === '' || labelValue(labels, '__name__') === name,
    );
    const found = named.filter(({ labels }) =>
      matchers.every((one) => one.matches(labelValue(labels, one.name))),
    );
    if (found.length > 0) {
      continue;
    }
    const lacks = matchers.find(
      ({ name: label }) =>
        !['__name__', 'device_id'].includes(label) &&
        named.every(({ labels }) => labelValue(labels, label) === ''),
    );
    if (named.length > 0 && lacks !== undefined) {
      return { verdict: 'silent', why: `${name} has no label ${lacks.name}` };
    }
    if (named.length > 0) {
      needsMore = true;
      continue;
    }
    const exporter = exportersOf.get(name);
    if (exporter === undefined ? !known.has(name) : !body.includes(exporter)) {
      return { verdict: 'silent', why: `nothing here makes ${name}` };
    }
    if (exporter !== undefined && exporter in running && !saysMore(body, exporter)) {
      return { verdict: 'silent', why: `${exporter} runs and has no ${name}` };
    }
    needsMore = true;
  }
  return { verdict: needsMore ? 'needs more' : 'quiet' };
}

/** Returns whether a text says which version, collector or option of an exporter a reading needs. */
const saysMore = (body: string, exporter: string): boolean =>
  new RegExp(
    `${exporter}(?:[^.]|\\.\\d){0,40}(?: with its [^.]*collectors?|\\d or later)|--collect\\.`,
  ).test(body.replaceAll(/\s+/g, ' '));
