import assert from 'node:assert/strict';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';

import { startTestHost, type TestHost } from 'svc/testing';

import type { RouteDeclaration } from '../../../core/sdk/index.ts';
import { lokiRoutes } from '../../../plugins/logs/loki-routes.ts';
import { prometheusRoutes } from '../../../plugins/metricsdb/prometheus-routes.ts';
import { tempoRoutes } from '../../../plugins/traces/tempo-routes.ts';
import { Reader } from '../../../plugins/traces/tempo/question.ts';
import { traceId } from '../traces/bodies.ts';
import { fill } from './fill.ts';

const now = Date.now();
const seconds = (ms: number): string => String(Math.floor(ms / 1_000));
const window = { start: seconds(now - 600_000), end: seconds(now + 60_000) };
const lines = { ...window, query: '{app="t"}' };
const series = { ...window, query: 'm', 'match[]': 'm', step: '60' };
const spans = { ...window, q: '{ }' };

/** Every path that reads what a store holds, with a question. */
const asked: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  '/loki/api/v1/query': { query: 'count_over_time({app="t"}[5m])' },
  '/loki/api/v1/query_range': lines,
  '/loki/api/v1/labels': window,
  '/loki/api/v1/label': window,
  '/loki/api/v1/label/{name}/values': window,
  '/loki/api/v1/series': { ...window, 'match[]': '{app="t"}' },
  '/loki/api/v1/index/stats': lines,
  '/loki/api/v1/index/volume': lines,
  '/loki/api/v1/index/volume_range': lines,
  '/loki/api/v1/patterns': lines,
  '/loki/api/v1/detected_fields': lines,
  '/loki/api/v1/detected_field/{name}/values': lines,
  '/loki/api/v1/detected_labels': lines,
  '/prometheus/api/v1/query': { query: 'count_over_time(m[5m])' },
  '/prometheus/api/v1/query_range': series,
  '/prometheus/api/v1/series': series,
  '/prometheus/api/v1/labels': series,
  '/prometheus/api/v1/label/{name}/values': series,
  '/prometheus/api/v1/query_exemplars': series,
  '/tempo/api/search': spans,
  '/tempo/api/search/tags': window,
  '/tempo/api/v2/search/tags': window,
  '/tempo/api/search/tag/{tag}/values': window,
  '/tempo/api/v2/search/tag/{tag}/values': window,
  '/tempo/api/traces/{trace_id}': {},
  '/tempo/api/v2/traces/{trace_id}': {},
  '/tempo/api/metrics/query_range': { ...spans, q: '{ } | rate()' },
  '/tempo/api/metrics/query': { ...spans, q: '{ } | rate()' },
};

/** Routes that reveal nothing of the stored data. */
const others = /\/(?:format_query|metadata|buildinfo|runtimeinfo|flags|tsdb|healthy|ready|echo)$/;

/** One bit of the second record in the log of each store. */
function harm(dataDir: string): void {
  for (const plugin of ['metricsdb', 'logs', 'traces']) {
    const folder = join(dataDir, 'plugins', plugin, 'wal');
    const path = join(folder, readdirSync(folder).sort()[0]!);
    const bytes = readFileSync(path);
    bytes[Math.floor(bytes.length / 2)]! ^= 1;
    writeFileSync(path, bytes);
  }
}

const start = (t: TestContext, dataDir: string): Promise<TestHost> =>
  startTestHost(t, { plugins: ['metricsdb', 'logs', 'traces', 'ingest'], dataDir });

test('what a store has lost is told beside every answer of every peer that it may be missing from', async (t) => {
  const dataDir = mkdtempSync(join(tmpdir(), 'svc-lost-'));
  t.after(() => rmSync(dataDir, { recursive: true, force: true }));
  const first = await start(t, dataDir);
  await fill(first, now);
  await first.stop();
  harm(dataDir);
  const house = await start(t, dataDir);

  const nobody = (): never => assert.fail('only the declarations are looked at');
  const reader = new Reader(
    () => now,
    () => Infinity,
  );
  const routes: readonly RouteDeclaration[] = [
    ...lokiRoutes(nobody, nobody),
    ...prometheusRoutes(nobody, nobody),
    ...tempoRoutes(nobody, reader, nobody),
  ];
  const paths = routes.flatMap(({ method, path }) =>
    method === 'GET' && !others.test(path) ? [path] : [],
  );
  assert.deepEqual([...new Set(paths)].sort(), Object.keys(asked).sort());
  for (const [path, parameters] of Object.entries(asked)) {
    const filled = path
      .replace('{name}', 'app')
      .replace('{tag}', 'service.name')
      .replace('{trace_id}', traceId(1));
    const answer = await house.fetch(`${filled}?${String(new URLSearchParams(parameters))}`);
    const text = await answer.text();
    assert.equal(answer.status, 200, `${path}: ${text}`);
    assert.match(
      (JSON.parse(text) as { warnings?: string[] }).warnings?.join() ?? '',
      /damaged at byte/,
      `${path}: ${text.slice(0, 500)}`,
    );
  }
});
