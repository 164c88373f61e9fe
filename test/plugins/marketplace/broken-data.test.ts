import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';

import { SvcError } from 'svc/sdk';

import { folderFor, manifest, rooms, startMarket, upload, uploadConfirmed } from './market.ts';

const type = {
  title: 'Pager',
  limits: [{ count: 10, per_ms: 60_000 }],
  body: '{"text": {{ json .text }}}',
  max_text_bytes: 1_000,
};
const check = {
  title: 'Load',
  query: 'node_load1{$devices}',
  op: '>',
  value: 4,
  message: 'Load is high',
};

test('data that no owner can use is refused at the preview and at every start, with a sentence for its author', async (t) => {
  const folder = folderFor(t, {
    'pagers/plugin.json': JSON.stringify({
      ...(JSON.parse(manifest('pagers')) as object),
      kind: 'area',
      contributes: { 'notify.channel-types': { pager: type } },
    }),
    'broken/plugin.json': manifest('broken', {
      contributes: { 'console.card': { load: { title: 'Load', query: 'sum(up' } } },
    }),
  });
  const house = await startMarket(t, {
    plugins: [
      ...rooms,
      'notify',
      'console',
      'investigate',
      join(folder, 'pagers'),
      join(folder, 'broken'),
    ],
    services: {
      'iam.directory': { live: () => undefined },
      'audit.trail': { append: async () => undefined },
      'alert.incidents': { list: async () => [], recent: async () => [] },
      'metrics.queries': {
        // Stands in for the parser: what is not closed is not PromQL.
        async check(query: string) {
          if (query.includes('(') && !query.includes(')')) {
            throw new SvcError('invalid_argument', '1:5: unclosed bracket');
          }
          return { type: query.endsWith('[5m]') ? 'matrix' : 'vector', printed: '', metrics: [] };
        },
      },
    },
  });
  await house.host.disable('pagers');
  const cases: readonly (readonly [string, string, object, RegExp])[] = [
    ['notify.channel-types', 'pager', type, /the name belongs to the plugin pagers/],
    ['notify.channel-types', 'email', type, /belongs to a channel type that ships with svc/],
    [
      'notify.channel-types',
      'beeper',
      { ...type, body: '{{ if .text }}' },
      /its body cannot be made/,
    ],
    ['notify.channel-types', 'beeper', { ...type, body: '{{ nothing .text }}' }, /cannot be made/],
    ['console.card', 'load', { title: 'Load', query: 'sum(up' }, /not PromQL: 1:5: unclosed/],
    ['console.card', 'load', { title: 'Load', query: 'up[5m]' }, /has a matrix/],
    ['investigate.check', 'load', { ...check, query: 'max(up' }, /not PromQL/],
    ['investigate.check', 'disk_full', check, /belongs to a check that ships with svc/],
  ];
  for (const [point, id, value, says] of cases) {
    const files = {
      'plugin.json': manifest('refused', { contributes: { [point]: { [id]: value } } }),
    };
    const { status, body } = await upload(house, files);
    assert.ok(status >= 400, `${point} ${id} installs`);
    assert.match(body.message, says);
  }
  const good = await uploadConfirmed(house, {
    'plugin.json': manifest('whole', {
      contributes: {
        'notify.channel-types': { whole: type },
        'console.card': { whole: { title: 'Load', query: 'sum(up)' } },
        'investigate.check': { whole: check },
      },
    }),
  });
  assert.equal(good.status, 201, good.body.message);
  const { state, strikes } = house.host.explain('broken');
  assert.deepEqual(
    [state, strikes.map(({ label, cause }) => `${label}: ${cause}`)],
    [
      'active',
      ['contribution load to console.card: its query is not PromQL: 1:5: unclosed bracket'],
    ],
    'what came in another way counts against it',
  );
});
