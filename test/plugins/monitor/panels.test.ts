import assert from 'node:assert/strict';
import { describe, test } from 'node:test';

import { nameOf } from '../../../plugins/monitor/render/names.ts';
import { arranged } from '../../../plugins/monitor/model/position.ts';
import { stateOf } from '../../../plugins/monitor/model/thresholds.ts';
import { formatted, units } from '../../../plugins/monitor/model/units.ts';
import { windowOf } from '../../../plugins/monitor/render/window.ts';
import { type Json, monitorHouse } from './house.ts';
import { standIns } from './stand-ins.ts';

const path = '/api/v1/monitor/panels';
const panel = { dashboard_uid: 'mine', title: 'Load', type: 'timeseries', query: 'node_load1' };

describe('a panel that somebody makes', () => {
  test('is kept with what was left away filled in, listed, changed, moved and deleted, and the trail says so', async (t) => {
    const { ask, audit, show } = await monitorHouse(t, { services: standIns().services });
    const { status, body: made } = await ask('POST', path, { as: 'mo', body: panel });
    assert.equal(status, 201, JSON.stringify(made));
    const { id, created_at, updated_at, ...rest } = made;
    assert.ok(id > 0 && created_at === updated_at);
    assert.deepEqual(rest, {
      ...panel,
      legend: '',
      unit: 'none',
      thresholds: [],
      position: { x: 0, y: 0, w: 12, h: 8 },
    });

    const { body: second } = await ask('POST', path, { body: { ...panel, title: 'Second' } });
    assert.deepEqual(second.position, { x: 0, y: 8, w: 12, h: 8 });
    await ask('POST', path, { body: { ...panel, dashboard_uid: 'other', title: 'Elsewhere' } });
    const { body: all } = await ask('GET', `${path}?limit=2`, { as: 'vera' });
    assert.deepEqual(
      [all.total, all.items.map((item: Json) => item.title)],
      [3, ['Elsewhere', 'Second']],
    );
    const { body: more } = await ask(
      'GET',
      `${path}?limit=2&cursor=${encodeURIComponent(all.next_cursor)}`,
      { as: 'vera' },
    );
    assert.deepEqual(
      [more.next_cursor, more.items.map((item: Json) => item.title)],
      ['', ['Load']],
    );
    const { body: one } = await ask('GET', `${path}?dashboard_uid=other`);
    assert.deepEqual([one.total, one.items[0].title], [1, 'Elsewhere']);

    const changed = await ask('PATCH', `${path}/${id}`, {
      body: { title: 'Loads', position: { x: 12, y: 0, w: 12, h: 4 } },
    });
    assert.equal(changed.body.title, 'Loads');
    assert.ok(
      changed.body.updated_at > updated_at &&
        changed.headers.get('etag')!.startsWith(`"${changed.body.updated_at};`),
    );
    assert.deepEqual(
      (await show('mine')).panels.map((shown: Json) => [
        shown.title,
        shown.position.y,
        shown.source,
        shown.id,
      ]),
      [
        ['Loads', 0, 'user', id],
        ['Second', 8, 'user', second.id],
      ],
    );
    assert.equal(
      (await ask('PATCH', `${path}/${id}`, { body: { dashboard_uid: 'other' } })).status,
      200,
    );
    assert.equal((await show('other')).panels.length, 2);
    assert.equal((await ask('DELETE', `${path}/${second.id}`)).status, 204);
    assert.equal((await ask('GET', '/api/v1/observability/dashboards/mine')).status, 404);
    assert.equal((await ask('DELETE', `${path}/${second.id}`)).status, 404);
    assert.equal(
      (await ask('PATCH', `${path}/${second.id}`, { body: { title: 'x' } })).status,
      404,
    );
    const rows = audit
      .filter(({ status: outcome }) => outcome === 'success')
      .map(({ action, resourceId }) => [action, resourceId]);
    assert.deepEqual(rows[0], ['panel:create', String(id)]);
    assert.deepEqual(rows.at(-1), ['panel:delete', String(second.id)]);
  });

  test('is changed only as it was read, when the change says how that was', async (t) => {
    const { ask } = await monitorHouse(t, { services: standIns().services });
    const { body: made } = await ask('POST', path, { body: panel });
    const tag = `"${made.updated_at}"`;
    assert.equal(
      (await ask('PATCH', `${path}/${made.id}`, { body: { title: 'First' }, ifMatch: tag })).status,
      200,
    );
    const late = await ask('PATCH', `${path}/${made.id}`, {
      body: { title: 'Late' },
      ifMatch: tag,
    });
    assert.deepEqual([late.status, late.body.error], [409, 'conflict']);
    assert.equal((await ask('DELETE', `${path}/${made.id}`, { ifMatch: tag })).status, 409);
  });

  test('is refused with the field that is wrong', async (t) => {
    const { ask } = await monitorHouse(t, { services: standIns().services });
    const cases: [Json, RegExp][] = [
      [{ type: 'pie' }, /type/],
      [{ unit: 'parsecs' }, /unit/],
      [{ title: '' }, /title/],
      [{ query: '' }, /query/],
      [{ query: 'x'.repeat(8_193) }, /query/],
      [{ query: '(((' }, /1:4: parse error/],
      [{ query: 'up[5m]' }, /ends in a range/],
      [{ query: 'rate(up[$__interval]) + $__nothing)))(((' }, /parse error/],
      [{ type: 'logs', query: 'count_over_time({a="b"}[5m])' }, /shows lines/],
      [{ type: 'logs', query: '{a="b"}', unit: 'bytes' }, /lines, which have no unit/],
      [
        { type: 'logs', query: '{a="b"}', thresholds: [{ value: 1, state: 'ok' }] },
        /reach no threshold/,
      ],
      [
        {
          thresholds: [
            { value: 2, state: 'warning' },
            { value: 1, state: 'critical' },
          ],
        },
        /must rise/,
      ],
      [
        {
          thresholds: [
            { value: 2, state: 'warning' },
            { value: null, state: 'ok' },
          ],
        },
        /only the first/,
      ],
      [{ thresholds: [{ value: 2, state: 'purple' }] }, /state/],
      [{ position: { x: 20, y: 0, w: 12, h: 4 } }, /24 columns/],
      [{ position: { x: -1, y: 0, w: 12, h: 4 } }, /position/],
      [{ position: { x: 0, y: 0, w: 12, h: 0 } }, /position/],
      [{ dashboard_uid: '../etc' }, /dashboard_uid/],
      [{ colour: 'red' }, /colour/],
    ];
    for (const [changes, message] of cases) {
      const { status, body } = await ask('POST', path, { body: { ...panel, ...changes } });
      assert.equal(status, 400, JSON.stringify(changes));
      assert.match(JSON.stringify(body), message);
    }
    assert.equal((await ask('PATCH', `${path}/1`, { body: {} })).status, 400);
    assert.equal((await ask('POST', path, { as: 'vera', body: panel })).status, 403);
    assert.equal((await ask('GET', path)).body.total, 0);
  });

  test('is taken without a store to ask, and says then that there is none', async (t) => {
    const { ask, panel: shown } = await monitorHouse(t);
    assert.equal((await ask('POST', path, { body: { ...panel, query: '(((' } })).status, 201);
    const { error, data } = await shown('mine', 'Load');
    assert.deepEqual([error.kind, data], ['store', { result_type: 'matrix', result: [] }]);
    assert.match(
      error.message,
      /No metrics store is running; enable a plugin that provides one: metricsdb/,
    );
  });

  test('stops at two thousand a dashboard', async (t) => {
    const { ask } = await monitorHouse(t, { services: standIns().services });
    const { dashboard_uid: _uid, ...sketch } = panel;
    const { status: put } = await ask('PUT', '/api/v1/monitor/dashboards/mine', {
      body: { panels: Array.from({ length: 2_000 }, () => sketch) },
    });
    assert.equal(put, 200);
    const { status, body } = await ask('POST', path, { body: panel });
    assert.deepEqual([status, body.error], [409, 'conflict']);
    assert.match(body.message, /at most 2000 user-added panels/);
    assert.equal(
      (await ask('DELETE', '/api/v1/monitor/dashboards/mine', { as: 'mo' })).status,
      204,
    );
    assert.equal(
      (await ask('DELETE', '/api/v1/monitor/dashboards/mine', { as: 'mo' })).status,
      404,
    );
    assert.equal((await ask('GET', path)).body.total, 0);
  });
});

describe('what a panel says', () => {
  test('is a value in its unit, as people read it', () => {
    const cases: [number, (typeof units)[number], string][] = [
      [1_234_567, 'none', '1.23 M'],
      [0.012345, 'none', '0.0123'],
      [-0, 'none', '0'],
      [42.25, 'percent', '42.3 %'],
      [0.4225, 'ratio', '42.3 %'],
      [1_536, 'bytes', '1.5 KiB'],
      [3 * 1_024 ** 3, 'bytes_per_second', '3 GiB/s'],
      [12_000_000, 'bits_per_second', '12 Mbit/s'],
      [1_500, 'per_second', '1.5 k/s'],
      [0.0005, 'seconds', '500 µs'],
      [0.25, 'seconds', '250 ms'],
      [5_400, 'seconds', '1.5 h'],
      [250, 'milliseconds', '250 ms'],
      [2_400_000_000, 'hertz', '2.4 GHz'],
      [36.6, 'celsius', '36.6 °C'],
      [1_500, 'decimal_bytes', '1.5 kB'],
      [1_500, 'nanoseconds', '1.5 µs'],
      [2_500, 'microseconds', '2.5 ms'],
      [90, 'minutes', '1.5 h'],
      [36, 'hours', '1.5 d'],
      [2, 'days', '2 d'],
      [0, 'date', '1970-01-01T00:00:00.000Z'],
      [1, 'on_off', 'on'],
      [1_795_197_600, 'timestamp', '2026-11-20T18:00:00.000Z'],
      [1, 'boolean', 'yes'],
      [0, 'boolean', 'no'],
    ];
    for (const [value, unit, text] of cases) {
      assert.equal(formatted(value, unit), text, unit);
    }
    assert.deepEqual(new Set(cases.map(([, unit]) => unit)), new Set(units));
    for (const unit of units) {
      assert.deepEqual(
        [formatted(Number.NaN, unit), formatted(Number.POSITIVE_INFINITY, unit)],
        ['NaN', '+Inf'],
      );
      assert.doesNotThrow(() =>
        [1e300, -1e300, 5e-324, 1e15].map((value) => formatted(value, unit)),
      );
    }
  });

  test('is the state of the last threshold that it reaches', () => {
    const rising = [
      { value: 80, state: 'warning' },
      { value: 90, state: 'critical' },
    ] as const;
    assert.deepEqual(
      [79.9, 80, 89, 90, 1e9].map((value) => stateOf(value, rising)),
      ['ok', 'warning', 'warning', 'critical', 'critical'],
    );
    assert.deepEqual([stateOf(Number.NaN, rising), stateOf(1, [])], [undefined, undefined]);
    const falling = [
      { value: null, state: 'critical' },
      { value: 10, state: 'ok' },
    ] as const;
    assert.deepEqual(
      [9, 10].map((value) => stateOf(value, falling)),
      ['critical', 'ok'],
    );
  });

  test('is named by its legend, and by its labels without one', () => {
    const nobody = (): undefined => undefined;
    const labels = { __name__: 'up', job: 'a', 'k8s.pod': 'p"q' };
    assert.equal(
      nameOf(labels, '{{job}}/{{ k8s.pod }} {{nothing}}{{constructor}}!', nobody),
      'a/p"q !',
    );
    assert.equal(nameOf(labels, '', nobody), 'up{job="a", "k8s.pod"="p\\"q"}');
    assert.equal(nameOf({ __name__: 'up' }, '', nobody), 'up');
    assert.equal(nameOf({}, '', nobody), '{}');
    assert.equal(nameOf({ job: '{{x}}$&' }, '{{job}}', nobody), '{{x}}$&');
    const shop = (id: string) => (id === '7' ? 'shop-db' : undefined);
    assert.equal(nameOf({ device_id: '7', job: 'a' }, '{{device}} {{job}}', shop), 'shop-db a');
    assert.equal(nameOf({ device_id: '8' }, '{{device}}', shop), 'device 8');
    assert.equal(nameOf({ device_id: '7', device: 'eth0' }, '{{device}}', shop), 'eth0');
    assert.equal(nameOf({ device_id: '7' }, '', shop), '{device="shop-db"}');
    assert.equal(nameOf({ device_id: '8' }, '', shop), '{device_id="8"}');
  });

  test('stands where it says, unless something is there already', () => {
    const at = (name: string, x: number, y: number, w: number, h: number) => ({
      name,
      position: { x, y, w, h },
    });
    assert.deepEqual(
      arranged([
        at('c', 0, 9, 6, 2),
        at('a', 0, 0, 12, 8),
        at('b', 12, 0, 12, 4),
        at('on a', 6, 2, 12, 3),
      ]).map(({ name, position: { x, y } }) => [name, x, y]),
      [
        ['a', 0, 0],
        ['b', 12, 0],
        ['on a', 6, 8],
        ['c', 0, 9],
      ],
    );
  });
});

describe('the window of a dashboard', () => {
  const now = Date.parse('2026-11-20T18:00:07.000Z');
  const second = 1_000;

  test('is the last hour, or what is asked for in any usual way', () => {
    assert.deepEqual(windowOf({}, now, 15 * second), {
      from: now - 3_600_000,
      to: now,
      start: now - 3_600_000 - 7_000,
      end: now - 7_000,
      step: 15_000,
    });
    for (const [from, ms] of [
      ['2026-11-20T17:00:00Z', Date.parse('2026-11-20T17:00:00Z')],
      ['2026-11-20T18:00:00+02:00', Date.parse('2026-11-20T16:00:00Z')],
      ['1795190400', 1_795_190_400_000],
      ['1795190400.5', 1_795_190_400_500],
      ['1795190400123', 1_795_190_400_123],
      ['now-90m', now - 5_400_000],
    ] as const) {
      assert.equal(windowOf({ from }, now, 15 * second).from, ms, from);
    }
    for (const from of [
      'yesterday',
      '',
      '-5',
      'now-',
      'now-1x',
      '99999999999999999',
      'now-5000y',
      '2026-99-99T00:00:00Z',
      'NaN',
    ]) {
      assert.throws(
        () => windowOf({ from }, now, 15 * second),
        /not a time|400 days|out of range/,
        from,
      );
    }
    assert.throws(
      () => windowOf({ from: 'now', to: 'now-1h' }, now, 15 * second),
      /must come before/,
    );
    assert.throws(() => windowOf({ from: 'now-401d' }, now, 15 * second), /400 days/);
  });

  test('has a step of which no series gets more than 600 points', () => {
    for (const from of ['now-1m', 'now-1h', 'now-6h', 'now-1d', 'now-7d', 'now-30d', 'now-399d']) {
      for (const step of [undefined, '1s', '15s', '1h', '60']) {
        const { start, end, step: chosen } = windowOf({ from, step }, now, 15 * second);
        assert.ok(
          (end - start) / chosen + 1 <= 600,
          `${from} ${step}: ${(end - start) / chosen + 1}`,
        );
        assert.equal(start % chosen, 0);
        assert.equal(end % chosen, 0);
      }
    }
    assert.equal(windowOf({ from: 'now-5m', step: '2s' }, now, 15 * second).step, 2 * second);
    assert.equal(windowOf({ from: 'now-6h', step: '2s' }, now, 15 * second).step, 60 * second);
    assert.equal(windowOf({ from: 'now-5m' }, now, 60 * second).step, 60 * second);
    for (const step of ['0', '0s', '500ms', '-1', 'x', '1h-', '']) {
      assert.throws(() => windowOf({ step }, now, 15 * second), /a step is a duration/, step);
    }
  });
});
