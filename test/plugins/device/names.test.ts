import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';

import { LogIngest, LogQueries } from 'svc/contracts/logs';
import { MetricsIngest, MetricsQueries } from 'svc/contracts/metricsdb';
import { DeviceNameTable, labelsOf, labelValue, matcher, type MatchOp } from 'svc/query';

import { deviceHouse, until } from './house.ts';

const now = Date.now();

/** Two hosts with a processor and interfaces each, and lines of their logs. */
async function twoHosts(t: TestContext) {
  const { house, connect, ask } = await deviceHouse(t, {
    plugins: ['device', 'topology', 'metricsdb', 'logs', 'setting', 'programs'],
  });
  await connect(1, 1, { hostname: 'shop-db' });
  await connect(2, 2, { hostname: 'shop-web' });
  const row = (labels: Record<string, string>, value: number) => ({ labels, time: now, value });
  await house
    .service(MetricsIngest)
    .write([
      row({ __name__: 'cpu' }, 5),
      ...['1', '2'].flatMap((id) => [
        row({ __name__: 'cpu', device_id: id }, 10 * Number(id)),
        row({ __name__: 'net', device_id: id, device: 'eth0' }, Number(id)),
        row({ __name__: 'net', device_id: id, device: 'lo' }, 100),
      ]),
    ]);
  await house.service(LogIngest).write(
    ['1', '2'].map((id) => ({
      labels: { device_id: id, job: 'app' },
      at: { ms: now, ns: 0 },
      line: `of ${id}`,
    })),
  );
  const metrics = house.service(MetricsQueries);
  const logs = house.service(LogQueries);
  const vector = async (query: string): Promise<string[]> => {
    const answer = await metrics.instant(query, now);
    assert.equal(answer.type, 'vector');
    return answer.type === 'vector'
      ? answer.labels.map((labels, at) => `${JSON.stringify(labels)} ${answer.values[at]}`).sort()
      : [];
  };
  const lines = async (query: string): Promise<string[]> =>
    (await logs.lines(query, { start: now - 1_000, end: now + 1_000 })).lines.map(
      ({ line, labels }) => `${line} ${labels['device']}`,
    );
  await until('the stores know the names', async () => {
    const found = await vector('cpu{device=~"shop-.+"}');
    return found.length === 2 && (await lines('{device=~"shop-.+"}')).length === 2;
  });
  return { house, ask, vector, lines };
}

test('metrics and logs are found and grouped by the name of their device', async (t) => {
  const { house, vector, lines } = await twoHosts(t);
  assert.deepEqual(await vector('cpu{device="shop-db"}'), [
    '{"__name__":"cpu","device":"shop-db","device_id":"1"} 10',
  ]);
  // A query that does not ask for names gets the labels as they are stored.
  assert.deepEqual(await vector('cpu{device_id="1"}'), ['{"__name__":"cpu","device_id":"1"} 10']);
  assert.deepEqual(await vector('sum by (device) (cpu)'), [
    '{"device":"shop-db"} 10',
    '{"device":"shop-web"} 20',
    '{} 5',
  ]);
  // The label of an interface stays its own, and the host is found all the same.
  assert.deepEqual(await vector('max by (device, device_id) (net{device="shop-web"})'), [
    '{"device":"eth0","device_id":"2"} 2',
    '{"device":"lo","device_id":"2"} 100',
  ]);
  assert.deepEqual(await vector('net{device="eth0", device="shop-web"}'), [
    '{"__name__":"net","device":"eth0","device_id":"2"} 2',
  ]);
  assert.deepEqual(await vector('sum by (device_id) (net{device!="lo"})'), [
    '{"device_id":"1"} 1',
    '{"device_id":"2"} 2',
  ]);
  assert.deepEqual(await vector('sum(cpu{device!="shop-db"})'), ['{} 25']);
  assert.deepEqual(await vector('sum(cpu{device!=""})'), ['{} 30']);
  assert.deepEqual(await vector('sum(rate(cpu{device="nobody"}[5m]))'), []);
  const values = await house.json<{ data: string[] }>('/prometheus/api/v1/label/device/values');
  assert.deepEqual(values.data, ['eth0', 'lo', 'shop-db', 'shop-web']);
  assert.deepEqual(await lines('{device="shop-web"}'), ['of 2 shop-web']);
  assert.deepEqual(await lines('{device="shop-web", job="other"}'), []);
});

test('a rename is followed, also by data from before it', async (t) => {
  const { ask, vector, lines } = await twoHosts(t);
  assert.equal((await ask('PATCH', '/devices/1', { display_name: 'till' })).status, 200);
  await until('found by the new name', async () => (await vector('cpu{device="till"}')).length > 0);
  await until('lines, too', async () => (await lines('{device="till"}')).length > 0);
  assert.deepEqual(await vector('cpu{device="shop-db"}'), []);
  assert.deepEqual(await lines('{device="till"}'), ['of 1 till']);
});

test('the list of devices gives those of some ids, which is how pages learn names', async (t) => {
  const { ask } = await twoHosts(t);
  const { body } = await ask('GET', '/devices?id=2&id=77');
  assert.deepEqual(
    body.items.map(({ display_name: name }: { display_name: string }) => name),
    ['shop-web'],
  );
  assert.equal((await ask('GET', '/devices?id=x')).status, 400);
});

test('selectors with names select what one would that is evaluated on joined labels', () => {
  const names = new DeviceNameTable();
  names.set([
    ['1', 'shop-db'],
    ['2', 'eth0'],
    ['3', 'x|.*'],
  ]);
  const stored = ['', '1', '2', '3', '9'].flatMap((id) =>
    ['', 'eth0', 'lo', 'shop-db'].map((device) =>
      labelsOf([
        ['__name__', 'm'],
        ['device_id', id],
        ['device', device],
      ]),
    ),
  );
  const values = ['', 'shop-db', 'eth0', 'lo', 'x|.*', '.*', '.+', 'shop-.*|lo'];
  const conditions = (['=', '!=', '=~', '!~'] as MatchOp[]).flatMap((op) =>
    values.map((value) =>
      matcher('device', op, value.includes('|.*') && op.length > 1 ? 'x.*' : value),
    ),
  );
  for (const first of conditions) {
    for (const second of conditions) {
      const asked = [first, second];
      for (const labels of stored) {
        const own = labelValue(labels, 'device');
        const name = names.nameOf(labelValue(labels, 'device_id')) ?? '';
        const fits = asked.every(({ op, matches }) =>
          op === '=' || op === '=~'
            ? matches(own) || (name !== '' && matches(name))
            : matches(own === '' ? name : own),
        );
        const count = names
          .stored(asked)
          .filter((set) => set.every((one) => one.matches(labelValue(labels, one.name)))).length;
        const told = `${first.op}${first.value} ${second.op}${second.value} of ${labels.join(' ')}`;
        assert.equal(count, fits ? 1 : 0, told);
      }
    }
  }
});
