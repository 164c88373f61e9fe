import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';

import { Ajv as PackageAjv } from 'ajv';
import { Plugins } from 'svc/sdk';
import { startTestEdge } from 'svc/testing';

import pluginSchema from '../../config/plugin.schema.json' with { type: 'json' };
import { Ajv } from '../../bin/agent/small-ajv.ts';
import { askEdge } from '../../bin/agent/status-socket.ts';
import { createEdgeMetrics } from '../../bin/agent/metrics.ts';

const plugins = fileURLToPath(new URL('../../plugins', import.meta.url));

test('an edge has the same host of plugins, leaves those of the manager alone, and says how it is to its owner', async (t) => {
  const edge = await startTestEdge(t, { plugins: ['edge-uplink', 'setting', 'iam'] });
  assert.equal(edge.host.explain('edge-uplink').state, 'active');
  assert.equal(edge.host.explain('setting').state, 'discovered');
  assert.match(edge.host.explain('iam').cause!, /runs on manager only/);
  assert.equal(edge.service(Plugins).explain('edge-uplink').state, 'active');
  const told = (await askEdge(edge.dataDir)) as {
    plugins: { id: string }[];
    ok: boolean;
    checks: { detail?: string }[];
  };
  assert.deepEqual(
    told.plugins.map(({ id }) => id),
    ['edge-uplink'],
  );
  assert.ok(told.checks.some(({ detail }) => detail?.includes('not enrolled')));
  await assert.rejects(
    startTestEdge(t, { plugins: ['setting'], dataDir: edge.dataDir }),
    /in use by another svc edge/,
  );
  await edge.stop();
  assert.equal(await askEdge(edge.dataDir), undefined);
  await assert.rejects(
    startTestEdge(t, { plugins: ['setting'], environment: { SVC_HTTP_ADDR: '127.0.0.1:0' } }),
    /SVC_HTTP_ADDR is not an svc setting/,
  );
});

test('the small check of schemas comes to the verdicts of the large one, with the same defaults', () => {
  const small = new Ajv({ useDefaults: true }).compile(pluginSchema);
  const large = new PackageAjv({ useDefaults: true, allErrors: true, strict: false }).compile(
    pluginSchema,
  );
  const manifests = readdirSync(plugins).flatMap((id) => {
    try {
      return [
        JSON.parse(readFileSync(join(plugins, id, 'plugin.json'), 'utf8')) as Record<
          string,
          unknown
        >,
      ];
    } catch {
      return [];
    }
  });
  assert.ok(manifests.length > 10);
  const breakages: ((manifest: Record<string, unknown>) => void)[] = [
    () => undefined,
    (manifest) => delete manifest['id'],
    (manifest) => (manifest['version'] = '1'),
    (manifest) => (manifest['stranger'] = 1),
    (manifest) => (manifest['runs_on'] = ['moon']),
    (manifest) => (manifest['runs_on'] = ['edge', 'edge']),
    (manifest) => (manifest['title'] = ''),
    (manifest) => (manifest['requires'] = [{ service: 'x' }]),
    (manifest) => (manifest['limits'] = { activate_ms: 1, call_ms: 1.5 }),
    (manifest) => (manifest['actions'] = { Nonsense: 'x' }),
    (manifest) =>
      (manifest['settings'] = { 'a.b': { schema: {}, description: 'x', visible: 'some' } }),
    (manifest) => (manifest['mounts'] = 'not a list'),
  ];
  for (const manifest of manifests) {
    for (const [index, breakIt] of breakages.entries()) {
      const [mine, theirs] = [structuredClone(manifest), structuredClone(manifest)];
      breakIt(mine);
      breakIt(theirs);
      const where = `${String(manifest['id'])}, breakage ${index}`;
      assert.equal(small(mine), large(theirs), where);
      assert.deepEqual(mine, theirs, where);
      const said = (errors: typeof small.errors | typeof large.errors): string[] =>
        [
          ...new Set(
            (errors ?? []).map(({ instancePath, keyword }) => `${instancePath} ${keyword}`),
          ),
        ].sort();
      assert.deepEqual(said(small.errors), said(large.errors), where);
    }
  }
});

test('metrics of an edge are bounded, and leave with the plugin that declared them', () => {
  const metrics = createEdgeMetrics();
  const undo: (() => unknown)[] = [];
  const own = metrics.forPlugin('edge-lamp', (_label, step) => {
    undo.push(step);
    return step;
  });
  const lit = own.counter('lit_total', 'Lit.', ['room']);
  for (let room = 0; room < 150; room++) {
    lit.add(1, { room: String(room) });
  }
  own.histogram('watts', 'Watts.', [10, 100]).observe(40);
  const samples = metrics.samples();
  assert.equal(samples.find(({ labels }) => labels['room'] === 'other')?.value, 50);
  assert.deepEqual(
    samples
      .filter(({ name }) => name.startsWith('svc_edge_lamp_watts'))
      .map(({ name, labels, value }) => [name, labels['le'] ?? '', value]),
    [
      ['svc_edge_lamp_watts_bucket', '10', 0],
      ['svc_edge_lamp_watts_bucket', '100', 1],
      ['svc_edge_lamp_watts_bucket', '+Inf', 1],
      ['svc_edge_lamp_watts_sum', '', 40],
      ['svc_edge_lamp_watts_count', '', 1],
    ],
  );
  undo.forEach((step) => step());
  assert.deepEqual(metrics.samples(), []);
});
