import assert from 'node:assert/strict';
import { test } from 'node:test';

import { ProtoWriter, snappyEncode } from 'svc/store';

import { rulesHouse, StoppedClock } from '../alert/rules-house.ts';

const second = 1_000;

/** A request of remote write 2.0, as Prometheus 3 sends it: names are texts of any letters, each said once. */
function written(
  series: readonly { readonly labels: Readonly<Record<string, string>>; readonly value: number }[],
  time: number,
): Uint8Array<ArrayBuffer> {
  const symbols = ['', ...new Set(series.flatMap(({ labels }) => Object.entries(labels).flat()))];
  const request = new ProtoWriter();
  symbols.forEach((symbol) => request.string(4, symbol));
  for (const { labels, value } of series) {
    const names = Object.keys(labels).sort();
    request.message(5, (message) => {
      for (const name of names) {
        message.uint(1, symbols.indexOf(name)).uint(1, symbols.indexOf(labels[name]!));
      }
      message.message(2, (sample) => sample.double(1, value).int64(2, time));
      message.message(5, (metadata) => metadata.uint(1, 2));
    });
  }
  return Uint8Array.from(snappyEncode(request.finish()));
}

test('names of any letters go from a sender through questions, rules and dashboards', async (t) => {
  const clock = new StoppedClock(Date.UTC(2026, 10, 20, 12));
  const { house, call, evaluator } = await rulesHouse(t, {
    clock,
    plugins: ['metricsdb', 'ingest', 'monitor'],
  });
  const name = 'http.server.größe';
  const push = async (): Promise<void> => {
    const series = ['GET', 'POST'].map((method, at) => ({
      labels: { __name__: name, 'http.method': method },
      value: 5 + at,
    }));
    const answer = await house.fetch('/prometheus/api/v1/write', {
      method: 'POST',
      headers: {
        'content-type': 'application/x-protobuf;proto=io.prometheus.write.v2.Request',
        'content-encoding': 'snappy',
        'x-prometheus-remote-write-version': '2.0.0',
        'user-agent': 'Prometheus/3.5.0',
      },
      body: written(series, clock.now()),
    });
    assert.deepEqual(
      [answer.status, answer.headers.get('x-prometheus-remote-write-samples-written')],
      [204, '2'],
      await answer.text(),
    );
  };

  const file = {
    groups: [
      {
        name: 'http.rules',
        rules: [
          {
            record: 'http.server:sum',
            expr: `sum by ("http.method") ({"${name}"})`,
            labels: { 'of.what': 'bytes' },
          },
          {
            alert: 'Large',
            expr: `sum by ("http.method") ({"${name}", "http.method"!=""}) > 5`,
            labels: { 'team.name': 'web' },
            annotations: { summary: '{{ index $labels "http.method" }} has {{ $value }}' },
          },
        ],
      },
    ],
  };
  const imported = await call('POST', 'alert-rules/import', {
    content: JSON.stringify(file),
    scope_type: 'global',
  });
  assert.equal(imported.status, 200, JSON.stringify(imported.body));
  assert.deepEqual(
    [imported.body.recorded.length, imported.body.taken.length],
    [1, 1],
    JSON.stringify(imported.body),
  );
  for (let passed = 0; passed < 120; passed += 10) {
    clock.pass(10 * second);
    await push();
    await evaluator.tick();
  }

  const at = String(clock.now() / second);
  const asked = async (
    path: string,
    parameters: Readonly<Record<string, string>> = {},
  ): Promise<unknown> =>
    (
      await house.json<{ data: unknown }>(
        `/prometheus/api/v1/${path}?${String(new URLSearchParams(parameters))}`,
      )
    ).data;
  type Vector = {
    readonly result: readonly {
      readonly metric: Readonly<Record<string, string>>;
      readonly value: readonly [number, string];
    }[];
  };
  const values = async (query: string): Promise<unknown> =>
    ((await asked('query', { query, time: at })) as Vector).result.map(({ metric, value }) => [
      metric,
      value[1],
    ]);
  assert.deepEqual(await values(`{"${name}", "http.method"="GET"}`), [
    [{ __name__: name, 'http.method': 'GET' }, '5'],
  ]);
  assert.deepEqual(await asked('label/http.method/values', { 'match[]': `{"${name}"}` }), [
    'GET',
    'POST',
  ]);
  assert.deepEqual(await asked('label/U__http_2e_method/values'), ['GET', 'POST']);
  assert.deepEqual(await values('{"http.server:sum", "http.method"="POST"}'), [
    [{ __name__: 'http.server:sum', 'http.method': 'POST', 'of.what': 'bytes' }, '6'],
  ]);

  const { alerts } = (await asked('alerts')) as {
    alerts: readonly {
      labels: Readonly<Record<string, string>>;
      annotations: Readonly<Record<string, string>>;
    }[];
  };
  const [large] = alerts.filter(({ labels }) => labels['alertname'] === 'Large');
  assert.deepEqual(
    [large?.labels['http.method'], large?.labels['team.name'], large?.annotations['summary']],
    ['POST', 'web', 'POST has 6'],
  );
  const { items } = (await call('GET', 'alerts/incidents')).body;
  assert.deepEqual(
    items
      .filter(({ rule_name: rule }: { rule_name: string }) => rule === 'Large')
      .map(({ labels }: { labels: Record<string, string> }) => labels['http.method']),
    ['POST'],
  );

  const prometheus = { type: 'prometheus', uid: 'p' };
  const dashboard = {
    title: 'Sizes',
    uid: 'sizes',
    templating: {
      list: [
        {
          name: 'method',
          type: 'query',
          datasource: prometheus,
          query: `label_values({"${name}"}, http.method)`,
          multi: true,
          includeAll: true,
        },
        {
          name: 'quoted',
          type: 'query',
          datasource: prometheus,
          query: 'label_values("http.method")',
        },
      ],
    },
    panels: [
      {
        id: 1,
        type: 'timeseries',
        title: 'Size',
        datasource: prometheus,
        gridPos: { x: 0, y: 0, w: 12, h: 6 },
        targets: [
          {
            expr: `sum by ("http.method") ({"${name}", "http.method"=~"$method"})`,
            legendFormat: 'of {{http.method}}',
          },
        ],
      },
      {
        id: 2,
        type: 'timeseries',
        title: 'Plain',
        datasource: prometheus,
        gridPos: { x: 0, y: 6, w: 12, h: 6 },
        targets: [{ expr: `{"${name}"}` }],
      },
    ],
  };
  const taken = await house.json('/api/v1/monitor/dashboards/import', {
    method: 'POST',
    body: JSON.stringify({ dashboard }),
  });
  assert.deepEqual(taken.left_out ?? [], [], JSON.stringify(taken));
  const window = new URLSearchParams({
    from: String(clock.now() - 60_000),
    to: String(clock.now()),
  });
  const shown = await house.json(`/api/v1/observability/dashboards/${taken.uid}?${String(window)}`);
  assert.deepEqual(
    shown.variables.map((variable: { values: string[] }) => variable.values),
    [
      ['GET', 'POST'],
      ['GET', 'POST'],
    ],
  );
  const names = (title: string): string[] =>
    shown.panels
      .find((panel: { title: string }) => panel.title === title)
      .data.result.map((series: { name: string }) => series.name);
  assert.deepEqual(names('Size'), ['of GET', 'of POST']);
  assert.deepEqual(names('Plain'), [
    `{"${name}", "http.method"="GET"}`,
    `{"${name}", "http.method"="POST"}`,
  ]);
});
