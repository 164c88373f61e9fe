import assert from 'node:assert/strict';
import { hostname } from 'node:os';
import { describe, test } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';

import { Board, SvcError } from 'svc/sdk';
import { startTestHost, type TestHost, useNoLeaks } from 'svc/testing';

import { listeningStores, type Span } from './pretend.ts';

async function until(what: string, holds: () => boolean | Promise<boolean>): Promise<void> {
  for (const deadline = Date.now() + 60_000; !(await holds());) {
    assert.ok(Date.now() < deadline, `in time: ${what}`);
    await pause(50);
  }
}

const talkative = { SVC_LOG_LEVEL: 'debug' };
let spoken = 0;

/** Makes svc log something, which contains this name. */
async function speak(house: TestHost): Promise<string> {
  const name = `spoken-${++spoken}`;
  await (await house.fetch('/nowhere', { headers: { 'x-request-id': name } })).arrayBuffer();
  return name;
}

describe('the house, in its own stores', () => {
  test(
    'finds its metrics, as a scrape would have brought them',
    { timeout: 120_000 },
    async (t) => {
      const house = await startTestHost(t, { plugins: ['metricsdb', 'self'] });
      useNoLeaks(t, house);
      const query = async (
        text: string,
      ): Promise<readonly { metric: Record<string, string>; value: [number, string] }[]> =>
        (await house.json(`/prometheus/api/v1/query?query=${encodeURIComponent(text)}`)).data
          .result;
      await until('its version is there', async () => (await query('svc_build_info')).length === 1);
      const { metric } = (await query('svc_build_info'))[0]!;
      assert.deepEqual([metric['job'], metric['instance']], ['svc', hostname()]);
      await until(
        'a second scrape came',
        async () =>
          Number(
            (await query('count_over_time(svc_process_uptime_seconds{job="svc"}[5m])'))[0]
              ?.value[1],
          ) >= 2,
      );
      assert.equal(
        (
          await query(
            'svc_http_request_duration_seconds_bucket{le="+Inf",route="GET /prometheus/api/v1/query"} > 0',
          )
        ).length,
        1,
      );

      house.service(Board).override('self.metrics', false);
      await until(
        'nothing stands there as if it were of now',
        async () => (await query('svc_build_info')).length === 0,
      );
    },
  );

  test(
    'finds its log lines, secrets hidden, and one about itself makes no other',
    { timeout: 120_000 },
    async (t) => {
      const house = await startTestHost(t, {
        plugins: ['logs', 'self', 'version'],
        environment: talkative,
      });
      const lines = async (): Promise<
        readonly { stream: Record<string, string>; values: [string, string][] }[]
      > =>
        (
          await house.json(
            `/loki/api/v1/query_range?limit=5000&query=${encodeURIComponent('{service_name="svc"} | drop detected_level')}`,
          )
        ).data.result;
      await speak(house);
      await until('lines are there', async () => (await lines()).length > 0);
      for (const { stream, values } of await lines()) {
        assert.deepEqual(Object.keys(stream).sort(), ['instance', 'level', 'service_name']);
        for (const [, text] of values) {
          assert.equal((JSON.parse(text) as { level: string }).level, stream['level']);
          assert.ok(house.lines.includes(`${text}\n`), 'it is the line as it was written');
          assert.ok(!text.includes(house.token));
        }
      }
      const kept = async (): Promise<number> =>
        Number(
          /svc_self_kept_total\{signal="logs"\} (\d+)/.exec(
            await (await house.fetch('/metrics')).text(),
          )?.[1],
        );
      let before = -1;
      await until('the house is quiet, and so is what it keeps', async () => {
        const now = await kept();
        const quiet = now === before;
        before = now;
        await pause(5_500);
        return quiet && (await kept()) === now;
      });
    },
  );

  test(
    'finds the slow and the failed among its requests, and a share of the others',
    { timeout: 120_000 },
    async (t) => {
      const { heard, services } = listeningStores();
      const house = await startTestHost(t, {
        plugins: ['self', 'ingest', 'version'],
        services,
        environment: { SVC_LOG_LEVEL: 'error' },
      });
      const board = house.service(Board);
      board.override('self.trace_ratio', 0);
      const fast = house.fetch('/api/v1/version');
      assert.equal((await fast).status, 200);
      board.override('self.trace_ratio', 1);
      const parent = '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01';
      await house.fetch('/api/v1/version', {
        headers: { traceparent: parent, 'x-request-id': 'mine' },
      });
      await house.fetch('/api/v1/version', {
        headers: { traceparent: '00-00000000000000000000000000000000-00f067aa0ba902b7-01' },
      });
      await house.fetch('/nowhere/at/all');
      await house.fetch('/v1/logs', { method: 'POST', body: '{}' });
      await until('three spans are there', () => heard.spans.length === 3);

      const [first, second, third] = heard.spans as [Span, Span, Span];
      assert.deepEqual(
        [first.name, first.traceId, first.parentSpanId, first.status],
        ['GET /api/v1/version', parent.slice(3, 35), '00f067aa0ba902b7', {}],
      );
      assert.match(first.spanId, /^[0-9a-f]{16}$/);
      const {
        'http.response.status_code': status,
        'http.route': route,
        'svc.request_id': id,
        'svc.plugin': plugin,
      } = attributesOf(first);
      assert.deepEqual([status, route, id, plugin], ['200', '/api/v1/version', 'mine', 'version']);
      assert.ok(BigInt(first.endTimeUnixNano) >= BigInt(first.startTimeUnixNano));
      assert.ok(
        Math.abs(Number(BigInt(first.startTimeUnixNano) / 1_000_000n) - Date.now()) < 60_000,
      );
      assert.match(second.traceId, /^[0-9a-f]{32}$/);
      assert.notEqual(second.traceId, '0'.repeat(32));
      assert.equal(second.parentSpanId, undefined);
      assert.deepEqual(
        [third.name, attributesOf(third)['http.response.status_code']],
        ['GET', '404'],
        'a path that anybody can invent is no name',
      );
      assert.equal(heard.resources[0], 'otlp-json');
      assert.deepEqual(
        JSON.stringify(heard.resources[1]).includes(
          '{"key":"service.name","value":{"stringValue":"svc"}}',
        ),
        true,
      );

      board.override('self.trace_ratio', 0);
      board.override('self.slow_ms', 1);
      await house.fetch('/api/v1/events').catch(() => undefined);
      let calls = 0;
      await until('a slow one is there', async () => {
        calls += 1;
        await house.fetch('/metrics');
        return heard.spans.length > 3;
      });
      assert.ok(
        heard.spans
          .slice(3)
          .every(
            ({ startTimeUnixNano, endTimeUnixNano }) =>
              BigInt(endTimeUnixNano) - BigInt(startTimeUnixNano) >= 1_000_000n,
          ),
        `${calls}`,
      );
    },
  );
});

describe('what the house tells itself', () => {
  test('stops and begins with its settings', { timeout: 120_000 }, async (t) => {
    const { heard, services } = listeningStores();
    const house = await startTestHost(t, {
      plugins: ['self', 'version'],
      services,
      environment: talkative,
    });
    useNoLeaks(t, house);
    const board = house.service(Board);
    const all = ['self.metrics', 'self.logs', 'self.traces'];
    board.override('self.trace_ratio', 1);
    await until('all three flow', async () => {
      await house.fetch('/api/v1/version');
      await speak(house);
      return heard.rows.length > 0 && heard.lines.length > 0 && heard.spans.length > 0;
    });
    assert.equal(house.census()['observers'], 2);

    all.forEach((key) => board.override(key, false));
    await until('nobody listens, so nothing is paid', () => house.census()['observers'] === 0);
    await until('its series are ended', () => heard.ended.length === 1);
    assert.deepEqual(heard.ended[0], [
      { name: 'job', op: '=', value: 'svc' },
      { name: 'instance', op: '=', value: hostname() },
    ]);
    await pause(100);
    const [rows, lines, spans] = [heard.rows.length, heard.lines.length, heard.spans.length];
    await speak(house);
    await house.fetch('/api/v1/version');
    await pause(16_000);
    assert.deepEqual(
      [heard.rows.length, heard.lines.length, heard.spans.length],
      [rows, lines, spans],
    );

    all.forEach((key) => board.override(key, true));
    await speak(house);
    await house.fetch('/api/v1/version');
    await until(
      'all three flow again',
      () => heard.rows.length > rows && heard.lines.length > lines && heard.spans.length > spans,
    );
  });

  test(
    'waits for a store that is down, is told once, and comes without a gap or a copy',
    { timeout: 120_000 },
    async (t) => {
      const { heard, trouble, services } = listeningStores();
      trouble.error = new SvcError('unavailable', 'the disk is full');
      const house = await startTestHost(t, {
        plugins: ['self', 'version'],
        services,
        environment: talkative,
      });
      const complaints = (): number =>
        house.lines.filter(
          (line) =>
            line.includes('failed to store self-monitoring data') &&
            line.includes('"signal":"logs"'),
        ).length;
      const names: string[] = [];
      for (let i = 0; i < 6; i++) {
        names.push(await speak(house));
        await pause(2_000);
      }
      assert.deepEqual([heard.lines.length, complaints()], [0, 1]);
      assert.match(
        house.lines.find((line) => line.includes('failed to store self-monitoring data')) ?? '',
        /the disk is full/,
      );
      trouble.error = undefined;
      await until('the lines are there', () => heard.lines.length > 0);
      const times = (name: string): number =>
        heard.lines.filter(({ line }) => line.includes(`"${name}"`)).length;
      assert.deepEqual(
        names.map(times),
        names.map(() => 1),
      );
      await until('that it goes on is told', () =>
        house.lines.some((line) => line.includes('self-monitoring data is being stored again')),
      );
    },
  );

  test('keeps its last words when it leaves', async (t) => {
    const { heard, services } = listeningStores();
    const house = await startTestHost(t, {
      plugins: ['self', 'version'],
      services,
      environment: talkative,
    });
    await pause(1_000);
    const name = await speak(house);
    const isThere = (): boolean => heard.lines.some(({ line }) => line.includes(name));
    assert.equal(isThere(), false);
    await house.host.disable('self');
    await house.settled();
    assert.equal(isThere(), true);
    assert.equal(house.census()['observers'], 0);
  });

  test('that no store wants is counted, and not tried again', { timeout: 60_000 }, async (t) => {
    const { heard, trouble, services } = listeningStores();
    trouble.error = new SvcError('invalid_argument', 'no such lines here');
    const house = await startTestHost(t, {
      plugins: ['self', 'version'],
      services,
      environment: talkative,
    });
    const name = await speak(house);
    const dropped = async (): Promise<number> =>
      Number(
        /svc_self_dropped_total\{signal="logs",reason="refused"\} (\d+)/.exec(
          await (await house.fetch('/metrics')).text(),
        )?.[1] ?? 0,
      );
    await until('lines are counted as lost', async () => (await dropped()) > 0);
    trouble.error = undefined;
    const next = await speak(house);
    await until('the next line is kept', () => heard.lines.some(({ line }) => line.includes(next)));
    assert.equal(
      heard.lines.some(({ line }) => line.includes(`"${name}"`)),
      false,
    );
  });
});

const attributesOf = ({ attributes }: Span): Record<string, string | undefined> =>
  Object.fromEntries(attributes.map(({ key, value }) => [key, Object.values(value)[0]]));
