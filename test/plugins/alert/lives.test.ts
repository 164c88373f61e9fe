import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';

import { AlertEvaluator } from 'svc/contracts/alert';
import { MetricsIngest, type PushAnswer, type Stamp } from 'svc/contracts/metricsdb';
import { startTestHost, type TestHost } from 'svc/testing';

import type { SpanMetricsNotice } from '../../../plugins/traces/thread/contract.ts';
import { edgeFleet, PretendFleet, seven } from '../ingest/house.ts';
import { feishuPath, startFeishu } from '../notify/fakes/feishu.ts';
import type { Platform } from '../notify/fakes/platform.ts';
import { startReceiver } from '../notify/fakes/receiver.ts';
import { slackPath, startSlack } from '../notify/fakes/slack.ts';
import { bodyOf, spanId, traceId } from '../traces/bodies.ts';
import { openService } from '../traces/store-house.ts';
import { HandClock, minute, second } from './engine-house.ts';

const bystander = fileURLToPath(new URL('./bystander', import.meta.url));
const step = 10 * second;
const device = '70';

/** One rule of each kind, each about something that the same edge pushes. */
const rules: Readonly<Record<string, readonly object[]>> = {
  metric_threshold: [
    {
      metric: 'node_load1',
      operator: '>',
      threshold: 4,
      window: '30s',
      aggregator: 'max',
      for: '1m',
    },
  ],
  metric_raw: [{ expr: 'life_queue > 5', for: '1m' }],
  metric_anomaly: [{ metric: 'life_requests', window: '30m', z_threshold: 3, for: '1m' }],
  metric_forecast: [{ metric: 'life_free', window: '2m', forecast_for: '8m', below: 0, for: '1m' }],
  metric_burn_rate: [
    {
      good: 'life_good',
      total: 'life_all',
      slo: 0.99,
      long: '2m',
      short: '1m',
      factor: 14.4,
      min_events: 5,
      for: '1m',
    },
  ],
  log_match: [{ expr: '{job="life", device_id="{{device_id}}"} |= "cannot"', for: '1m' }],
  log_volume: [{ expr: 'sum by (device_id) (count_over_time({job="life"}[1m])) > 30', for: '1m' }],
  trace_latency: [{ service: 'shop', percentile: 95, above_ms: 300, window: '1m', for: '1m' }],
  trace_error_rate: [{ service: 'shop', above_percent: 50, window: '1m', for: '1m' }],
};
const kinds = Object.keys(rules);

interface Row {
  readonly type: string;
  readonly status_after: string;
  readonly severity: string;
  readonly message: string;
  readonly actor: { readonly type: string; readonly id: string };
  readonly data: Readonly<Record<string, unknown>>;
  readonly created_at: string;
}

test('every kind of rule, over what an edge pushes: pending, firing, told, acknowledged, resolved, told, fired again', async (t) => {
  const clock = new HandClock();
  const world = await worldOf(t, clock);
  const { house, channels, incidents } = world;
  await world.pass(3 * minute, false);
  assert.equal((await incidents()).length, 0, 'nothing is wrong yet');

  await world.passUntil(
    'all fire',
    true,
    async () => (await incidents('open')).length === kinds.length,
  );
  await world.sent(['FIRING']);
  for (const { id } of await incidents()) {
    await house.json(`/api/v1/alerts/incidents/${id}/ack`, {
      method: 'POST',
      body: JSON.stringify({ note: 'on it' }),
    });
  }
  await world.passUntil(
    'all are over',
    false,
    async () => (await incidents('resolved')).length === kinds.length,
  );
  await world.sent(['FIRING', 'RESOLVED']);
  await world.passUntil(
    'all fire again',
    true,
    async () => (await incidents('open')).length === kinds.length,
  );
  await world.sent(['FIRING', 'RESOLVED', 'FIRING']);

  const all = await incidents();
  const heard = await house.json<{ incident: number; line: string }[]>('/api/v1/bystander');
  assert.deepEqual(all.map(({ rule }) => rule).sort(), kinds.map((kind) => `life_${kind}`).sort());
  for (const {
    id,
    rule,
    dedupe_key: key,
    event_count: count,
    device_id: of,
    acknowledged_by: by,
  } of all) {
    assert.deepEqual([key, count, of, by], [`${rule}:host:${device}`, 2, device, null]);
    const { items } = await house.json<{ items: Row[] }>(
      `/api/v1/alerts/incidents/${id}/events?order=asc`,
    );
    const { id: channel, name } = channels.get(rule)!;
    const fired = (which: number) => {
      const {
        value,
        threshold,
        eta_at: eta,
      } = items.filter(({ type }) => type === 'firing')[which - 1]!.data;
      assert.equal(typeof value, 'number', `${rule} says by what`);
      assert.equal(typeof eta, rule === 'life_metric_forecast' ? 'string' : 'undefined');
      return [
        'firing',
        'open',
        'evaluator',
        `${rule} on ${device}`,
        { value, threshold, count: which, ...(eta !== undefined && { eta_at: eta }) },
      ];
    };
    const sent = (kind: 'firing' | 'resolved', which: number) => {
      const notice = {
        channel_id: channel,
        channel_name: name,
        kind,
        result: 'sent',
        attempts: 1,
        notice_id: `incident-${id}-${which}-${kind}`,
      };
      const message = `${kind} sent to ${name}`;
      return [
        'notification_sent',
        kind === 'firing' ? 'open' : 'resolved',
        'notifier',
        message,
        notice,
      ];
    };
    assert.deepEqual(
      items.map(({ type, status_after: status, actor, message, data }) => [
        type,
        status,
        actor.type === 'system' ? actor.id : actor.type,
        message,
        data,
      ]),
      [
        fired(1),
        sent('firing', 1),
        ['acknowledged', 'acknowledged', 'user', 'on it', { note: 'on it' }],
        [
          'resolved',
          'resolved',
          'evaluator',
          'its condition is no longer met',
          { reason: 'cleared' },
        ],
        sent('resolved', 1),
        ['reopened', 'open', 'evaluator', 'fired again', { reason: 'fired_again' }],
        fired(2),
        sent('firing', 2),
      ],
      rule,
    );
    assert.deepEqual(
      heard.flatMap(({ incident, line }) => (incident === id ? [line] : [])),
      [
        ...[
          'fired open 1 false',
          'changed open firing',
          'finished firing sent',
          'changed acknowledged acknowledged',
        ],
        ...[
          'changed resolved resolved',
          'finished resolved sent',
          'fired open 2 true',
          'changed open reopened+firing',
          'finished firing sent',
        ],
      ],
      `others hear of ${rule}`,
    );
    assert.ok(items.every(({ severity }) => severity === 'warning'));
    await assertStages(house, rule, items);
  }
  const { id: pinned } = channels.get('life_log_match')!;
  const refused = await house.fetch(`/api/v1/notification-channels/${pinned}`, {
    method: 'DELETE',
  });
  const { error, message } = (await refused.json()) as { error: string; message: string };
  assert.deepEqual([refused.status, error], [409, 'conflict']);
  assert.match(
    message,
    /a rule sends to of log_match: The life of log_match; remove the channel from them first/,
  );
});

/**
 * Asserts that the metrics store has the pending and firing periods at the times in the timeline.
 */
async function assertStages(house: TestHost, rule: string, items: readonly Row[]): Promise<void> {
  const at = (type: string): readonly number[] =>
    items.filter((row) => row.type === type).map(({ created_at: time }) => Date.parse(time));
  const [first = 0] = at('firing');
  const [over = 0] = at('resolved');
  const points = async (query: string): Promise<readonly (readonly [number, string])[]> => {
    const body = {
      query,
      start: new Date(first - 10 * minute).toISOString(),
      end: new Date(over).toISOString(),
      step: '10s',
    };
    const { result } = await house.json('/api/v1/metricsdb/query_range', {
      method: 'POST',
      body: JSON.stringify(body),
    });
    return result.flatMap(({ values }: { values: [number, string][] }) =>
      values.map(([time, value]) => [time * second, value] as const),
    );
  };
  const pending = await points(
    `ALERTS{rule_key="${rule}", alertstate="pending", severity="warning", device_id="${device}"}`,
  );
  const firing = await points(`ALERTS{rule_key="${rule}", alertstate="firing"}`);
  const since =
    Number(
      (await points(`ALERTS_FOR_STATE{rule_key="${rule}"}`)).findLast(
        ([time]) => time <= first + minute,
      )?.[1],
    ) * second;
  const sustained = first - since;
  assert.ok(
    sustained >= minute && sustained <= minute + 30 * second + step,
    `${rule} was pending for ${sustained} ms`,
  );
  const [begins = 0] = [...pending, ...firing].map(([time]) => time).sort((a, b) => a - b);
  assert.ok(
    pending.length >= 5 && pending.at(-1)![0] < first && Math.abs(begins - since) <= step,
    `${rule} was pending until it fired`,
  );
  assert.ok(
    Math.abs(firing[0]![0] - first) <= step && over - firing.at(-1)![0] <= 2 * step,
    `${rule} fires from the firing to the end`,
  );
}

interface Listed {
  readonly id: number;
  readonly rule: string;
  readonly dedupe_key: string;
  readonly event_count: number;
  readonly device_id: string;
  readonly acknowledged_by: string | null;
}

/**
 * Starts a host with everything from the data plane to the platforms, in which time stands still
 * until moved.
 */
async function worldOf(t: TestContext, clock: HandClock) {
  const spans = await openService(t, {}, () => clock.now() + step);
  const house = await startTestHost(t, {
    plugins: [
      'iam',
      'session',
      'ingest',
      edgeFleet,
      'metricsdb',
      'logs',
      'alert',
      'notify',
      bystander,
    ],
    clock,
    environment: { SVC_OUTBOUND_ALLOW_PRIVATE: '127.0.0.0/8', SVC_ALERT_COOLDOWN: '0s' },
    services: {
      'test.fleet': new PretendFleet(),
      // The store of traces itself, but for its thread: that flushes by a clock of its own.
      'traces.ingest': {
        push: (
          format: 'otlp-proto',
          body: Uint8Array,
          { stamp }: { stamp: Stamp },
        ): Promise<PushAnswer> =>
          Promise.resolve(spans.methods.push({ format, body, stamp, encoding: undefined })),
      },
    },
  });
  const platforms = {
    webhook: await startReceiver(t, 'k3y'),
    feishu: await startFeishu(t, clock, 'k3y'),
    slack: await startSlack(t),
  };
  const addresses = {
    webhook: { endpoint: `${platforms.webhook.url}/hook`, secret: 'k3y' },
    feishu: { endpoint: platforms.feishu.url + feishuPath, secret: 'k3y' },
    slack: { endpoint: platforms.slack.url + slackPath },
  };
  const post = <T>(path: string, body: object): Promise<T> =>
    house.json<T>(path, { method: 'POST', body: JSON.stringify(body) });
  const channels = new Map<string, { readonly id: number; readonly name: string }>();
  for (const [at, kind] of kinds.entries()) {
    const type = (['webhook', 'feishu', 'slack'] as const)[at % 3]!;
    const channel = await post<{ id: number; name: string }>('/api/v1/notification-channels', {
      name: `of ${kind}`,
      channel_type: type,
      group_wait: '0s',
      group_interval: '0s',
      ...addresses[type],
    });
    channels.set(`life_${kind}`, channel);
    await post('/api/v1/alert-rules', {
      rule_key: `life_${kind}`,
      name: `The life of ${kind}`,
      kind,
      source_type: 'svc_builtin',
      scope_type: 'host',
      join_mode: 'all',
      severity: 'warning',
      conditions: rules[kind],
      annotations: { summary: `life_${kind} on {{ $labels.device_id }}` },
      notify_channel_ids: [channel.id],
    });
  }
  const incidents = async (status?: string): Promise<readonly Listed[]> => {
    const { items } = await house.json<{ items: Listed[] }>(
      `/api/v1/alerts/incidents?q=life_&limit=200${status === undefined ? '' : `&status=${status}`}`,
    );
    return items;
  };
  const pusher = pushing(house, spans);
  await pusher.past(clock.now());
  const pass = async (ms: number, isHot: boolean): Promise<void> => {
    for (let passed = 0; passed < ms; passed += step) {
      // Before the clock moves: the house looks at it by itself, too, and must find what is of that time.
      await pusher.now(clock.now() + step, isHot);
      clock.advance(step);
      await house.service(AlertEvaluator).tick();
    }
  };
  return {
    house,
    channels,
    incidents,
    pass,
    async passUntil(what: string, isHot: boolean, holds: () => Promise<boolean>): Promise<void> {
      for (let passed = 0; !(await holds()); passed += step) {
        assert.ok(
          passed < 8 * minute,
          `${what}: ${JSON.stringify((await house.json('/api/v1/alerts/incidents?q=life_&limit=200')).items)}`,
        );
        await pass(step, isHot);
      }
    },
    /** Waits until each rule has been sent so, at its platform and in its timeline. */
    async sent(titles: readonly string[]): Promise<void> {
      for (let waited = 0; ; waited += 50) {
        const found = kinds.map((kind) => titlesOf(platforms, `life_${kind} on ${device}`));
        const timelines = await Promise.all(
          (await incidents()).map(({ id }) =>
            house.json(`/api/v1/alerts/incidents/${id}/events?type=notification_sent`),
          ),
        );
        // Others hear of it after the timeline: what comes next must not come before that.
        const heard = await house.json<{ incident: number; line: string }[]>('/api/v1/bystander');
        const finished =
          timelines.length > 0 &&
          heard.filter(({ line }) => line.startsWith('finished')).length >=
            titles.length * kinds.length;
        if (
          finished &&
          found.every(({ length }) => length >= titles.length) &&
          timelines.every(({ total }) => total >= titles.length)
        ) {
          found.forEach((sent, at) => assert.deepEqual(sent, titles, kinds[at]));
          return;
        }
        assert.ok(waited < 20_000, `sent so far: ${JSON.stringify(found)}`);
        await pause(50);
      }
    },
  };
}

/** Returns the words before `warning: …` that platforms received about one incident, in order. */
function titlesOf(
  { webhook, feishu, slack }: Readonly<Record<'webhook' | 'feishu' | 'slack', Platform>>,
  summary: string,
): readonly string[] {
  const heard = [
    ...webhook.taken.map(({ body }) => String(body.title)),
    ...feishu.taken.map(({ body }) => String(body.card.header.title.content)),
    ...slack.taken.map(({ body }) => String(body.text).split('\n')[0]!.replaceAll('*', '')),
  ];
  return heard.flatMap((title) => {
    const [, word, said] = /^\[([A-Z ]+)\] warning: (.*)$/.exec(title)!;
    // What has ended is not told in the words of what burns.
    return said === summary ||
      said!.startsWith(
        `no longer on device ${device}: The life of ${/life_(\w+)/.exec(summary)![1]} (after `,
      )
      ? [word!]
      : [];
  });
}

/**
 * Returns a function that pushes what the edge has at one time: metrics as text, log lines, and
 * spans.
 */
function pushing(house: TestHost, spans: Awaited<ReturnType<typeof openService>>) {
  let good = 0;
  let all = 0;
  let free = 1_000;
  let count = 0;
  const push = async (path: string, type: string, body: string | Uint8Array): Promise<void> => {
    const answer = await fetch(house.url + path, {
      method: 'POST',
      headers: { authorization: seven, 'content-type': type },
      body: typeof body === 'string' ? body : Buffer.from(body),
    });
    assert.ok(answer.ok, `${path}: ${answer.status} ${await answer.text()}`);
  };
  /** Half an hour of what anomalies are held against. */
  async function past(until: number): Promise<void> {
    const samples = Array.from(
      { length: 180 },
      (_, index) => `life_requests ${100 + (index % 3)} ${until - (180 - index) * step}\n`,
    );
    await push('/api/v1/import/prometheus', 'text/plain', samples.join(''));
  }
  async function now(at: number, isHot: boolean): Promise<void> {
    count += 1;
    all += 10;
    good += isHot ? 0 : 10;
    free = isHot ? free - 40 : 1_000;
    const values = {
      node_load1: isHot ? 9 : 1,
      life_queue: isHot ? 20 : 1,
      life_requests: (isHot ? 5_000 * count : 100) + (count % 3),
      life_free: free,
    };
    const samples = Object.entries({ ...values, life_good: good, life_all: all }).map(
      ([name, value]) => `${name} ${value} ${at}\n`,
    );
    await push('/api/v1/import/prometheus', 'text/plain', samples.join(''));
    const lines = Array.from({ length: isHot ? 10 : 1 }, (_, line) => [
      `${at}${String(line).padStart(6, '0')}`,
      isHot ? 'cannot go on' : 'fine',
    ]);
    await push(
      '/loki/api/v1/push',
      'application/json',
      JSON.stringify({ streams: [{ stream: { job: 'life' }, values: lines }] }),
    );
    const calls = Array.from({ length: 10 }, (_, call) => {
      const number = count * 100 + call;
      return {
        trace: traceId(number),
        id: spanId(number),
        name: 'buy',
        kind: 2,
        startMs: at - 5_000,
        ms: isHot ? 900 : 20,
        status: isHot && call > 1 ? 2 : 1,
      };
    });
    await push(
      '/v1/traces',
      'application/x-protobuf',
      bodyOf({ 'service.name': 'shop' }, ...calls),
    );
    await spans.methods.tend({ now: true });
    for (const { body } of spans.notices
      .splice(0)
      .flatMap(({ kind, value }) =>
        kind === 'span-metrics' ? (value as SpanMetricsNotice) : [],
      )) {
      await house.service(MetricsIngest).push('remote-write', body, {});
    }
  }
  return { past, now };
}
