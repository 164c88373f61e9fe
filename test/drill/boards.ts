import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { isDeepStrictEqual, promisify } from 'node:util';

import { type LabelRecord, MetricsIngest, type SampleRow } from 'svc/contracts/metricsdb';

import type { Outcome, Row } from '../exercise.ts';
import { findPeer } from '../peers.ts';
import { freePort } from '../plugins/ingest/nginx.ts';
import { type Json, monitorHouse } from '../plugins/monitor/house.ts';
import { type Oracle, startOracle } from './boards-oracle.ts';
import { seriesOfBoard } from './boards-samples.ts';

const steps = 41;
const apart = 15_000;

interface Board {
  readonly name: string;
  readonly json: Json;
}

/**
 * Imports every Grafana dashboard of a folder as it is, stores samples for what its queries read
 * (those that a node_exporter sends as it sends them, the others made to fit), draws it, and counts
 * the panels that arrived whole, as one panel each, and drawn with data. A real Prometheus that has
 * the same samples says which panels there are data for. `without` takes labels away, separated by
 * commas: few Prometheus servers have a `cluster`, which many boards let people choose.
 */
export async function run({ folder = '', show = false, without = '' }: Row = {}): Promise<Outcome> {
  if (typeof folder !== 'string' || folder === '') {
    return { ok: false, why: '--folder names a folder of dashboards as Grafana exports them' };
  }
  const boards = readdirSync(folder)
    .filter((name) => name.endsWith('.json'))
    .toSorted()
    .map((name): Board => {
      const json = JSON.parse(readFileSync(join(folder, name), 'utf8'));
      return { name: name.slice(0, -5), json: json.dashboard ?? json };
    });
  const real = await scraped();
  const rows: Row[] = [];
  for (const board of boards) {
    rows.push(await drawn(board, real, { isShown: show === true, without: String(without) }));
  }
  const sum = (key: string): number => rows.reduce((total, row) => total + Number(row[key]), 0);
  const [panels, given, withData] = [sum('panels'), sum('given'), sum('data')];
  return {
    ok: withData >= 0.95 * given && rows.every(({ again }) => again === true),
    boards: rows,
    panels,
    whole: sum('whole'),
    given,
    data: withData,
    share: `${((100 * withData) / given).toFixed(1)} %`,
    of_all: `${((100 * withData) / panels).toFixed(1)} %`,
    metrics: real.size,
  };
}

/** Panels of a board, those of rows included; rows are none. */
const panelsIn = (json: Json): readonly Json[] =>
  [...(json.panels ?? []), ...(json.rows ?? []).flatMap((row: Json) => row.panels)].flatMap(
    (panel: Json) => (panel.type === 'row' ? (panel.panels ?? []) : [panel]),
  );

const targetsIn = (panel: Json): number =>
  (panel.targets ?? []).filter(({ expr }: Json) => typeof expr === 'string' && expr !== '').length;

async function drawn(
  board: Board,
  real: RealSamples,
  { isShown, without }: { readonly isShown: boolean; readonly without: string },
): Promise<Row> {
  const ends: (() => unknown)[] = [];
  const t = { after: (end: () => unknown) => void ends.push(end) };
  try {
    const { house, ask } = await monitorHouse(t, { plugins: ['metricsdb', 'logs', 'monitor'] });
    const end = Math.floor(Date.now() / apart) * apart;
    const series = withoutLabels(seriesOfBoard(board.json, real), without.split(','));
    const ingest = house.service(MetricsIngest);
    for (let at = 0; at < series.length; at += 500) {
      await ingest.write(series.slice(at, at + 500).flatMap((one) => samplesOf(one, end)));
    }
    const oracle = await startOracle(series.flatMap((one) => samplesOf(one, end)));
    ends.push(() => oracle.stop());
    const path = '/api/v1/monitor/dashboards/import';
    const { status, body: report } = await ask('POST', path, { body: board.json });
    const panels = panelsIn(board.json);
    if (status !== 201) {
      console.error(`${board.name}: ${status} ${report.message}`);
      return {
        board: board.name,
        panels: panels.length,
        arrived: 0,
        whole: 0,
        given: panels.length,
        data: 0,
        again: false,
      };
    }
    const { body: shown } = await ask(
      'GET',
      `/api/v1/observability/dashboards/${report.uid}?from=${end - 600_000}&to=${end}`,
    );
    const wanted = panels.map((panel) => [String(panel.title ?? '').trim(), targetsIn(panel)]);
    const whole = wanted.filter(([title, targets]) =>
      shown.panels.some(
        (panel: Json) =>
          (panel.title === title || title === '') &&
          panel.type !== 'row' &&
          (panel.queries?.length ?? 1) >= Math.min(1, Number(targets)) &&
          (panel.queries?.length ?? (panel.query === '' ? 0 : 1)) === targets,
      ),
    ).length;
    const own = shown.panels.filter(({ type }: Json) => type !== 'row');
    const isDrawn = (panel: Json): boolean =>
      panel.type === 'text' ||
      (panel.error === undefined &&
        (panel.data.result.length > 0 || (panel.table?.rows.length ?? 0) > 0));
    const window = { from: end - 600_000, to: end };
    const given = new Set<Json>();
    for (const panel of own) {
      if (isDrawn(panel) || (await hasData(panel, oracle, window))) {
        given.add(panel);
      }
    }
    if (isShown) {
      report.left_out.forEach((left: Json) =>
        console.error(`${board.name}: left out: ${left.kind} ${left.title}: ${left.reason}`),
      );
      own
        .filter((panel: Json) => !isDrawn(panel))
        .forEach((panel: Json) =>
          console.error(
            `${board.name}: ${given.has(panel) ? 'LOST ' : ''}${panel.type} ${panel.title}: ${panel.error?.message ?? panel.missing?.message ?? 'empty'}\n  ${expandedOf(panel).join('\n  ')}`,
          ),
        );
    }
    const again = await isSameAgain(board, report.uid, ask);
    return {
      board: board.name,
      panels: panels.length,
      arrived: own.length,
      whole,
      given: given.size,
      data: own.filter(isDrawn).length,
      left: report.left_out.length,
      again,
    };
  } finally {
    for (const one of ends.reverse()) {
      await one();
    }
  }
}

const expandedOf = ({ queries, expanded_query: alone }: Json): readonly string[] =>
  queries?.map(({ expanded_query: text, query }: Json) => text ?? query) ?? [alone ?? ''];

/** Whether a Prometheus with the same samples answers one of a panel's queries. */
async function hasData(
  panel: Json,
  oracle: Oracle,
  window: { readonly from: number; readonly to: number },
): Promise<boolean> {
  for (const query of expandedOf(panel)) {
    if (query !== '' && (await oracle.answers(query, window))) {
      return true;
    }
  }
  return false;
}

/** Whether an export equals the file, and its import the first one. */
async function isSameAgain(
  { name, json }: Board,
  uid: string,
  ask: Awaited<ReturnType<typeof monitorHouse>>['ask'],
): Promise<boolean> {
  const { status, body: exported } = await ask('GET', `/api/v1/monitor/dashboards/${uid}/export`);
  if (status !== 200 || !isDeepStrictEqual(exported, json)) {
    console.error(`${name}: the export differs from the file (${status})`);
    return false;
  }
  const panelsOf = async (): Promise<Json> => {
    const { body } = await ask('GET', '/api/v1/monitor/dashboards');
    return body.items.find((item: Json) => item.uid === uid);
  };
  const before = await panelsOf();
  await ask('POST', '/api/v1/monitor/dashboards/import?overwrite=true', { body: exported });
  return isDeepStrictEqual(await panelsOf(), before);
}

function withoutLabels(
  series: readonly MadeSeries[],
  names: readonly string[],
): readonly MadeSeries[] {
  const kept = series.map((one): MadeSeries => ({
    ...one,
    labels: Object.fromEntries(
      Object.entries(one.labels).filter(([name]) => !names.includes(name)),
    ),
  }));
  return [...new Map(kept.map((one) => [JSON.stringify(one.labels), one])).values()];
}

export interface MadeSeries {
  readonly labels: LabelRecord;
  readonly value: number;
  /** How much it grows from sample to sample. */
  readonly growth: number;
}

const samplesOf = ({ labels, value, growth }: MadeSeries, end: number): SampleRow[] =>
  Array.from({ length: steps }, (_, at) => ({
    labels,
    time: end - (steps - 1 - at) * apart,
    value: value + growth * at,
  }));

/** What a node_exporter sends, by the name of the metric. */
export type RealSamples = ReadonlyMap<string, readonly { labels: LabelRecord; value: number }[]>;

/** Collectors that dashboards read and an exporter runs only where it is asked to. */
const wanted = ['processes', 'tcpstat', 'interrupts', 'softirqs', 'mountstats', 'buddyinfo'];

async function scraped(): Promise<RealSamples> {
  const program = findPeer('prometheus-node-exporter');
  const found = new Map<string, { labels: LabelRecord; value: number }[]>();
  if (program === undefined) {
    return found;
  }
  const port = await freePort();
  const { stderr, stdout } = await promisify(execFile)(program, ['--help']);
  const known = `${stdout}${stderr}`;
  const collectors = wanted.filter((one) => known.includes(`collector.${one} `));
  const child: ChildProcess = spawn(
    program,
    [`--web.listen-address=127.0.0.1:${port}`, ...collectors.map((one) => `--collector.${one}`)],
    { stdio: 'ignore' },
  );
  try {
    for (let tries = 0; tries < 50; tries += 1) {
      const answer = await fetch(`http://127.0.0.1:${port}/metrics`).catch(() => undefined);
      if (answer?.ok === true) {
        for (const line of (await answer.text()).split('\n')) {
          const [, name, written = '', value] = /^(\w+)(?:\{(.*)\})? (\S+)$/.exec(line) ?? [];
          if (name !== undefined && !line.startsWith('#')) {
            const pairs = [...written.matchAll(/(\w+)="((?:[^"\\]|\\.)*)"/g)];
            const labels = Object.fromEntries(pairs.map(([, key, text]) => [key!, text!]));
            found.set(name, [...(found.get(name) ?? []), { labels, value: Number(value) }]);
          }
        }
        break;
      }
      await pause(100);
    }
  } finally {
    child.kill();
  }
  return found;
}
