import assert from 'node:assert/strict';
import { test } from 'node:test';

import { type Customer, twoCustomers, type TwoCustomers } from './two-customers.ts';

const q = (query: string): string => encodeURIComponent(query);

/** Returns queries in the three languages that try to include data beyond the selector. */
function byways({ at }: TwoCustomers, own: Customer, other: Customer): string[] {
  const [start, end] = [at - 60_000, at + 60_000];
  const seconds = `start=${start / 1_000}&end=${end / 1_000}`;
  const logs = `start=${start}000000&end=${end}000000`;
  const all = '{app=~".+"}';
  return [
    ...[
      '~max_over_time(up[5m:10s])',
      // Not over the series made of spans, which differ in nothing but their names and come when they come.
      '~sum by (instance) (count_over_time({__name__=~"up|.+_metric"}[5m:30s] offset -1m))',
      '~last_over_time(up[5m] @ end())',
      'absent_over_time({__name__=~".+"}[5m])',
      'count_values by (instance) ("value", up)',
      'label_join(up, "all", "-", "instance", "device_id")',
      '~up or on(instance) group by (instance, device_id) (up)',
      'up unless on() vector(0)',
      `{device_id="${other.device}"} or {__name__=~".+",device_id=""} or {edge_id=~".+"}`,
      'ALERTS or ALERTS_FOR_STATE or {__name__=~"svc_.+|traces_.+"}',
    ].map(
      (query) =>
        `${query.startsWith('~') ? '~' : ''}/prometheus/api/v1/query?stats=all&time=${end / 1_000}&query=${q(query.replace('~', ''))}`,
    ),
    `/prometheus/api/v1/label/device_id/values?${seconds}`,
    `/prometheus/api/v1/labels?match[]=${q(`{device_id="${other.device}"}`)}`,
    `/prometheus/api/v1/series?match[]=${q('{device_id=~".+"}')}&match[]=${q(`{instance=~"${other.name}.*"}`)}`,
    `~/prometheus/api/v1/series?${seconds}&match[]=${q('up')}&limit=1`,
    `/prometheus/api/v1/query_exemplars?${seconds}&query=${q('{__name__=~".+"}')}`,
    ...[
      'sum by (app, device_id) (rate({app=~".+"}[5m]))',
      'absent_over_time({app=~".+"}[5m])',
      'topk(10, sum by (user) (count_over_time({app=~".+"} | json [5m])))',
      'sum by (line) (count_over_time({app=~".+"} | label_format line="{{ __line__ }}" [5m]))',
      'sum(count_over_time({app=~".+"}[5m])) or sum(count_over_time({device_id=~".*", app=~".*.+"}[5m]))',
    ].map((query) => `/loki/api/v1/query?time=${end}000000&query=${q(query)}`),
    `~/loki/api/v1/query_range?${logs}&query=${q('{app=~".+"} | json | line_format "{{ .user }} {{ .device_id }}"')}`,
    `/loki/api/v1/query_range?${logs}&query=${q(`${all} | device_id="${other.device}"`)}`,
    `/loki/api/v1/label/device_id/values?${logs}`,
    `/loki/api/v1/series?${logs}&match[]=${q(`{device_id="${other.device}"}`)}&match[]=${q(all)}`,
    ...['targetLabels=app&', 'aggregateBy=labels&', ''].map(
      (more) => `/loki/api/v1/index/volume?${more}${logs}&query=${q(all)}`,
    ),
    `/loki/api/v1/detected_labels?${logs}`,
    `/loki/api/v1/detected_field/field_${other.name}/values?${logs}&query=${q(all)}`,
    ...[
      '{ } >> { }',
      '{ resource.device_id != nil }',
      `{ resource.device_id = "${other.device}" } || { true }`,
      `{ span.customer = "${other.name}" }`,
      '{ } | by(resource.service.name) | select(span.customer)',
      `{ trace:id = "${other.trace}" }`,
    ].map((query) => `/tempo/api/search?${seconds}&spss=10&q=${q(query)}`),
    ...['resource', 'span', 'intrinsic'].map(
      (scope) => `/tempo/api/v2/search/tags?scope=${scope}&${seconds}`,
    ),
    `/tempo/api/v2/search/tag/resource.device_id/values?${seconds}`,
    `/tempo/api/v2/search/tag/name/values?${seconds}&q=${q(`{ span.customer = "${other.name}" }`)}`,
    ...[
      '{ } | rate() by (span.customer)',
      '{ } | quantile_over_time(duration, .5) by (name)',
      '{ } | histogram_over_time(duration) by (resource.service.name)',
      '{ } | compare({ status = error })',
      '{ } | count_over_time() by (resource.device_id) with (exemplars=true)',
    ].map((query) => `/tempo/api/metrics/query_range?${seconds}&step=10&q=${q(query)}`),
  ].map((path) => (path.startsWith('~') ? path : path.replaceAll('~', '%7E')));
}

/** Questions that a store answers from all its data. Those with `~` must answer with the asker's own devices, and not with nothing. */
function questions({ at }: TwoCustomers, own: Customer, other: Customer): string[] {
  const [start, end] = [at - 60_000, at + 60_000];
  const seconds = `start=${start / 1_000}&end=${end / 1_000}`;
  const logs = `start=${start}000000&end=${end}000000`;
  return [
    '~/api/v1/devices',
    `~/api/v1/devices?q=${own.name}`,
    `/api/v1/devices?q=${other.name}`,
    `/api/v1/devices?tag=only-${other.name}`,
    `~/api/v1/devices/${own.device}`,
    `~/api/v1/devices/${own.device}/edges`,
    '~/api/v1/edges',
    `/api/v1/edges?device_id=${other.device}`,
    `~/api/v1/edges/${own.edge}`,
    ...['plugins', 'upgrades'].map((more) => `/api/v1/edges/${own.edge}/${more}`),
    ...[
      'up',
      '{__name__=~".+"}',
      'topk(100, up)',
      'sum by (instance) (up)',
      `up{device_id="${other.device}"}`,
      `up{device_id=~".+"} or ${other.name}_metric`,
    ].map((query) => `/prometheus/api/v1/query?time=${end / 1_000}&query=${q(query)}`),
    `~/prometheus/api/v1/query?time=${end / 1_000}&query=up`,
    `~/prometheus/api/v1/query_range?${seconds}&step=10&query=${q('max_over_time(up[1m])')}`,
    `~/prometheus/api/v1/series?${seconds}&match[]=${q('{__name__!=""}')}`,
    `~/prometheus/api/v1/labels?${seconds}`,
    `~/prometheus/api/v1/labels`,
    `~/prometheus/api/v1/label/__name__/values`,
    `~/prometheus/api/v1/label/instance/values?match[]=up`,
    `/prometheus/api/v1/query_exemplars?${seconds}&query=up`,
    '/prometheus/api/v1/targets',
    ...[`{device_id=~".+"}`, `{app=~".+"} |= "${other.name}"`, `{device_id="${other.device}"}`].map(
      (query) => `/loki/api/v1/query_range?${logs}&query=${q(query)}`,
    ),
    `~/loki/api/v1/query_range?${logs}&query=${q('{app=~".+"}')}`,
    `~/loki/api/v1/query?time=${end}000000&query=${q('sum by (app) (count_over_time({app=~".+"}[5m]))')}`,
    `~/api/v1/logs/query_range?${logs}&query=${q('{app=~".+"}')}`,
    `~/api/v1/logs/labels?${logs}`,
    `~/api/v1/logs/labels/app/values?${logs}`,
    ...['labels', 'label', 'series', 'detected_labels'].map(
      (path) => `~/loki/api/v1/${path}?${logs}`,
    ),
    `~/loki/api/v1/label/app/values?${logs}`,
    ...['index/stats', 'index/volume', 'index/volume_range', 'patterns', 'detected_fields'].map(
      (path) => `/loki/api/v1/${path}?${logs}&query=${q('{app=~".+"}')}`,
    ),
    `/loki/api/v1/detected_field/user/values?${logs}&query=${q('{app=~".+"}')}`,
    `~/api/v1/traces/search?${seconds}&q=${q('{ }')}`,
    `/api/v1/traces/search?${seconds}&tags=customer%3D${other.name}`,
    `~/api/v1/traces/tags/resource.service.name/values?${seconds}`,
    `~/api/v1/traces/${own.trace}`,
    `~/tempo/api/search?${seconds}&q=${q('{ } | select(resource.service.name)')}`,
    `~/tempo/api/search/tags?${seconds}`,
    `~/tempo/api/v2/search/tags?${seconds}`,
    `~/tempo/api/search/tag/service.name/values?${seconds}`,
    `~/tempo/api/v2/search/tag/span.customer/values?${seconds}`,
    `~/tempo/api/traces/${own.trace}`,
    `~/tempo/api/v2/traces/${own.trace}`,
    `/tempo/api/metrics/query_range?${seconds}&step=10&q=${q('{ } | rate() by (resource.service.name)')}`,
    `/tempo/api/metrics/query?${seconds}&q=${q('{ } | count_over_time() by (span.customer)')}`,
  ];
}

test('a member is told of their own devices, and of those of another customer nothing', async (t) => {
  const all = await twoCustomers(t);
  const wrong: string[] = [];
  for (const [own, other] of [
    [all.acme, all.bravo],
    [all.bravo, all.acme],
  ] as const) {
    for (const marked of [...questions(all, own, other), ...byways(all, own, other)]) {
      const path = marked.replace(/^~/, '');
      const { status, text } = await own.ask('GET', path);
      // An answer may say again what it was asked; numbers of devices are looked for where labels have them.
      const ids = new RegExp(
        `"(device_id|resource.device_id)":("${other.device}"|\\{"stringValue":"${other.device}")|"value":\\{"stringValue":"${other.device}"\\}`,
      );
      if (
        text.replaceAll(path, '').includes(other.name) ||
        ids.test(text) ||
        text.includes(other.trace)
      ) {
        wrong.push(`${own.name} is told of ${other.name} by ${path}: ${text.slice(0, 300)}`);
      }
      if (
        status !== 200 ||
        (marked.startsWith('~') && !text.includes(own.name) && !text.includes(own.trace))
      ) {
        wrong.push(
          `${own.name} is not told of themselves by ${path}: ${status} ${text.slice(0, 300)}`,
        );
      }
    }
  }
  assert.deepEqual(wrong, []);
});

test('counts and sums are made of what one sees, and ids of others are ids that never were', async (t) => {
  const all = await twoCustomers(t);
  const { acme, bravo, at, house, ask } = all;
  const value = async (customer: Customer, query: string): Promise<string | undefined> =>
    (await customer.ask('GET', `/prometheus/api/v1/query?time=${at / 1_000 + 1}&query=${q(query)}`))
      .body.data.result[0]?.value[1];
  for (const [query, ...counts] of [
    ['count(up)', '3', '5'],
    ['count({__name__=~".+"})', '4', '6'],
    ['count(count by (device_id) ({__name__=~".+"}))', '1', '1'],
    ['sum(count_over_time(up[5m:1s])) / sum(count_over_time(up[5m:1s]))', '1', '1'],
    ['count(topk(100, up)) + count(bottomk(100, up))', '6', '10'],
  ] as const) {
    assert.deepEqual([await value(acme, query), await value(bravo, query)], counts, query);
  }
  assert.equal((await acme.ask('GET', '/api/v1/devices')).body.total, 1);
  for (const [method, path, body] of [
    ['GET', '/api/v1/devices/#', undefined],
    ['GET', '/api/v1/devices/#/edges', undefined],
    ['PATCH', '/api/v1/devices/#', { display_name: 'mine' }],
    ['PATCH', '/api/v1/devices/#/roles', { roles: ['db'] }],
    ['DELETE', '/api/v1/devices/#', undefined],
    ['POST', '/api/v1/devices/#/edges/1/accept', undefined],
    ['DELETE', '/api/v1/devices/#/edges/1', undefined],
  ] as const) {
    const told = async (id: number): Promise<string> => {
      const { status, body: answer } = await acme.ask(method, path.replace('#', String(id)), body);
      return `${status} ${answer?.message}`.replaceAll(String(id), '#');
    };
    assert.equal(await told(bravo.device), await told(999_999), `${method} ${path}`);
  }
  for (const more of ['', '/plugins', '/upgrades', '/processes', '/metrics', '/policy']) {
    const edgeOf = async (id: number): Promise<string> => {
      const { status, body } = await acme.ask('GET', `/api/v1/edges/${id}${more}`);
      return `${status} ${body.message}`.replaceAll(String(id), '#');
    };
    assert.equal(await edgeOf(bravo.edge), await edgeOf(999_999), more);
    assert.match(await edgeOf(bravo.edge), /^404 /);
  }
  const traceOf = async (id: string): Promise<string> =>
    JSON.stringify((await acme.ask('GET', `/api/v1/traces/${id}`)).body.message).replaceAll(
      id,
      '#',
    );
  assert.equal(await traceOf(bravo.trace), await traceOf('9'.repeat(32)));

  await t.test(
    'a tag that is taken off or given is felt by the next question, and no device means none',
    async () => {
      const tagged = (tags: object) =>
        ask('PATCH', `/api/v1/devices/${acme.device}`, house.token, { tags });
      assert.equal((await tagged({})).status, 200);
      assert.deepEqual(
        [await value(acme, 'count(up)'), (await acme.ask('GET', '/api/v1/devices')).body.total],
        [undefined, 0],
      );
      assert.equal(
        await value(acme, 'count({device_id="",__name__=~".+"})'),
        undefined,
        'nor what has no device',
      );
      await tagged({ customer: 'acme' });
      assert.equal(await value(acme, 'count(up)'), '3');
    },
  );

  await t.test('while the plugin of the devices is away all is refused', async () => {
    await house.host.disable('device', { cascade: true });
    assert.equal((await acme.ask('GET', `/prometheus/api/v1/query?query=up`)).status, 503);
    assert.equal((await acme.ask('GET', `/loki/api/v1/labels`)).status, 503);
    assert.equal((await acme.ask('GET', `/tempo/api/search/tags`)).status, 503);
  });
});
