import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';

import { readMetric } from '../../../plugins/alert/unit-test/series-notation.ts';
import { peer } from '../../peers.ts';
import { rulesHouse } from './rules-house.ts';

interface Ended {
  readonly code: number;
  readonly text: string;
}

const run = (file: string, args: readonly string[]): Promise<Ended> =>
  new Promise((settle) => {
    execFile(file, [...args], { timeout: 60_000 }, (error, stdout, stderr) =>
      settle({ code: typeof error?.code === 'number' ? error.code : 0, text: stdout + stderr }),
    );
  });

function folderOf(t: TestContext): string {
  const folder = mkdtempSync(join(tmpdir(), 'svc-rule-test-'));
  t.after(() => rmSync(folder, { recursive: true }));
  return folder;
}

const rules = {
  groups: [
    {
      name: 'example',
      rules: [
        { record: 'job:up:sum', expr: 'sum by (job) (up)' },
        {
          alert: 'JobGone',
          expr: 'job:up:sum == 0',
          for: '2m',
          labels: { severity: 'page' },
          annotations: { summary: '{{ $labels.job }} is gone ({{ $value | humanize }})' },
        },
      ],
    },
  ],
};
const series = [
  { series: 'up{job="a", instance="1"}', values: '1 1 0x10' },
  { series: 'up{job="a", instance="2"}', values: '1+0x4 0x8' },
];
const gone = {
  exp_labels: { severity: 'page', job: 'a' },
  exp_annotations: { summary: 'a is gone (0)' },
};
const testFile = (more: object = {}): object => ({
  rule_files: ['*.rules.yaml'],
  evaluation_interval: '1m',
  tests: [
    {
      interval: '1m',
      name: 'a job goes',
      input_series: series,
      alert_rule_test: [
        { eval_time: '6m', alertname: 'JobGone', exp_alerts: [] },
        { eval_time: '7m', alertname: 'JobGone', exp_alerts: [gone] },
      ],
      promql_expr_test: [
        {
          expr: 'job:up:sum',
          eval_time: '3m',
          exp_samples: [{ labels: 'job:up:sum{job="a"}', value: 1 }],
        },
        {
          expr: 'ALERTS{alertstate="pending"}',
          eval_time: '6m',
          exp_samples: [
            {
              labels: 'ALERTS{alertname="JobGone", alertstate="pending", job="a", severity="page"}',
              value: 1,
            },
          ],
        },
      ],
      ...more,
    },
  ],
});

test('svc rule test runs a file as it is, says ok, and shows what differs', async (t) => {
  const folder = folderOf(t);
  const write = (name: string, content: unknown): string => {
    writeFileSync(
      join(folder, name),
      typeof content === 'string' ? content : JSON.stringify(content),
    );
    return join(folder, name);
  };
  const svc = (file: string): Promise<Ended> =>
    run(process.execPath, ['bin/svc', 'rule', 'test', file]);
  write('a.rules.yaml', rules);
  const good = await svc(write('good.yaml', testFile()));
  assert.equal(good.code, 0, good.text);
  assert.match(good.text, /ok a job goes \(16 evaluations\)/);

  const bad = await svc(
    write(
      'bad.yaml',
      testFile({
        alert_rule_test: [
          {
            eval_time: '7m',
            alertname: 'JobGone',
            exp_alerts: [{ ...gone, exp_annotations: { summary: 'other' } }],
          },
        ],
        promql_expr_test: [],
      }),
    ),
  );
  assert.equal(bad.code, 1, bad.text);
  assert.match(bad.text, /failed a job goes/);
  assert.match(
    bad.text,
    /alert JobGone at 7m\n +- JobGone\{.*\} annotations \{summary="other"\}\n +\+ JobGone\{.*severity="page"\} annotations \{summary="a is gone \(0\)"\}/,
  );

  const missing = await svc(write('missing.yaml', { ...testFile(), rule_files: ['nowhere.yaml'] }));
  assert.deepEqual(
    [missing.code, /names the rule file nowhere\.yaml, which does not exist/.test(missing.text)],
    [2, true],
    missing.text,
  );
});

test('series of native histograms are read, recorded, alerted on and expected', async (t) => {
  const { call } = await rulesHouse(t);
  const content = JSON.stringify({
    groups: [
      {
        name: 'latency',
        rules: [
          { record: 'job:latency:rate5m', expr: 'sum by (job) (rate(latency[5m]))' },
          {
            alert: 'Slow',
            expr: 'histogram_quantile(0.5, job:latency:rate5m) > 1',
            annotations: { summary: 'half takes {{ $value | printf "%.2f" }} s' },
          },
          { alert: 'Seen', expr: 'latency{instance="2"}' },
          {
            alert: 'Spread',
            expr: 'latency{instance="1"}',
            labels: { first: '{{ $value }}' },
            annotations: {
              summary: 'as {{ .Value }} {{ printf "%s %v" $value $value }}',
              known: '{{ if $value }}yes{{ end }}',
              number: '{{ $value | humanize }}',
            },
          },
        ],
      },
    ],
  });
  const input = [
    {
      series: 'latency{job="a", instance="1"}',
      values: '{{sum:6 count:4 buckets:[1 2 1]}}+{{sum:6 count:4 buckets:[1 2 1]}}x10',
    },
    {
      series: 'latency{job="a", instance="2"}',
      values: '_x5 {{sum:1 count:1 buckets:[1]}}x2 {{}} stale 1',
    },
    { series: 'own', values: '{{schema:-53 count:3 sum:4 custom_values:[1 2] buckets:[1 2]}}' },
  ];
  const query = (expr: string, at: string, ...samples: readonly object[]) => ({
    expr,
    eval_time: at,
    exp_samples: samples,
  });
  const rate =
    '{{sum:0.1 count:0.06666666666666667 counter_reset_hint:gauge buckets:[0.016666666666666666 0.03333333333333333 0.016666666666666666]}}';
  const spread = '{count:4, sum:6, (0.5,1]:1, (1,2]:2, (2,4]:1}';
  const noNumber =
    '<error expanding template: template:1:13: error calling humanize: "{count:4, sum:6, (0.5,1]:1, (1,2]:2, (2," is not a number>';
  const test = (expected: readonly object[]) => ({
    rule_files: ['a.yaml'],
    evaluation_interval: '1m',
    tests: [
      {
        interval: '1m',
        input_series: input,
        alert_rule_test: [
          {
            eval_time: '4m',
            alertname: 'Slow',
            exp_alerts: [
              { exp_labels: { job: 'a' }, exp_annotations: { summary: 'half takes 1.41 s' } },
            ],
          },
          {
            eval_time: '0m',
            alertname: 'Spread',
            exp_alerts: [
              {
                exp_labels: { job: 'a', instance: '1', first: spread },
                exp_annotations: {
                  summary: `as ${spread} ${spread} ${spread}`,
                  known: 'yes',
                  number: noNumber,
                },
              },
            ],
          },
          { eval_time: '4m', alertname: 'Seen', exp_alerts: [] },
          {
            eval_time: '6m',
            alertname: 'Seen',
            exp_alerts: [{ exp_labels: { job: 'a', instance: '2' } }],
          },
        ],
        promql_expr_test: expected,
      },
    ],
  });
  const post = async (...expected: readonly object[]) =>
    (
      await call('POST', 'alert-rules/test', {
        content: JSON.stringify(test(expected)),
        files: [{ name: 'a.yaml', content }],
      })
    ).body;
  const right = await post(
    query('job:latency:rate5m', '4m', { labels: 'job:latency:rate5m{job="a"}', histogram: rate }),
    // The first of a chunk is not known to go on from another one; what fell begins a new one.
    query('latency{instance="2"}', '5m', {
      labels: 'latency{job="a", instance="2"}',
      histogram: '{{count:1 sum:1 buckets:[1]}}',
    }),
    query('latency{instance="2"}', '6m', {
      labels: 'latency{job="a", instance="2"}',
      histogram: '{{sum:1 buckets:[1] counter_reset_hint:not_reset count:1}}',
    }),
    query('latency{instance="2"}', '8m', {
      labels: 'latency{job="a", instance="2"}',
      histogram: '{{}}',
    }),
    query('latency{instance="2"}', '9m'),
    query('latency{instance="2"}', '10m', { labels: 'latency{job="a", instance="2"}', value: 1 }),
    query('histogram_quantile(0.5, own)', '0m', { labels: '{}', value: 1.25 }),
  );
  assert.deepEqual([right.ok, right.tests[0].failures], [true, []], JSON.stringify(right));

  const wrong = await post(
    query('latency{instance="1"}', '1m', {
      labels: 'latency{job="a", instance="1"}',
      histogram: '{{count:8 sum:12 buckets:[2 4 2]}}',
    }),
    query('latency{instance="1"}', '0m', { labels: 'latency{job="a", instance="1"}', value: 4 }),
    query('own * own', '0m', { labels: '{}', histogram: '{{}}' }),
  );
  assert.deepEqual(
    wrong.tests[0].failures.map(
      ({
        expected,
        got,
      }: {
        readonly expected: readonly string[];
        readonly got: readonly string[];
      }) => [...expected, ...got],
    ),
    [
      [
        'latency{instance="1", job="a"} {{count:8 sum:12 buckets:[2 4 2]}}',
        'latency{instance="1", job="a"} {{count:8 sum:12 counter_reset_hint:not_reset buckets:[2 4 2]}}',
      ],
      [
        'latency{instance="1", job="a"} 4',
        'latency{instance="1", job="a"} {{count:4 sum:6 buckets:[1 2 1]}}',
      ],
      ['{} {{}}'],
    ],
  );
});

test('what a test file may not say is refused with the place', async (t) => {
  const { call } = await rulesHouse(t);
  const post = async (file: unknown, content = JSON.stringify(rules)) =>
    (
      await call('POST', 'alert-rules/test', {
        content: JSON.stringify(file),
        files: [{ name: 'a.yaml', content }],
      })
    ).body;
  const refused = async (more: object): Promise<string> => (await post(testFile(more))).message;
  assert.equal((await post(testFile())).ok, true);
  assert.match(
    await refused({ input_series: [{ series: 'up{a=b}', values: '1' }] }),
    /tests\[0\]\.input_series\[0\] has labels that cannot be read/,
  );
  assert.match(
    await refused({ input_series: [{ series: 'up', values: '1 x' }] }),
    /holds x, which is not a number/,
  );
  assert.match(
    await refused({ input_series: [{ series: 'up', values: '1x999999999' }] }),
    /more than 200000 steps/,
  );
  for (const [values, why] of [
    [
      '{{schema:9}}',
      /tests\[0\]\.input_series\[0\] holds a native histogram that has the schema 9; there are -4 to 8/,
    ],
    ['{{schema:1 schema:2}}', /with schema twice/],
    ['{{sum:x}}', /with sum as x, which is no number/],
    ['{{size:3}}', /cannot be read, from size:3 on; it has schema, /],
    ['{{count:1', /which is not of the form \{\{…\}\}/],
    ['{{count:-1}}', /has a count below zero/],
    ['{{schema:1}}+{{schema:0}}x2', /adds a histogram of schema 0 to one of schema 1/],
    ['{{schema:-53 custom_values:[2 1]}}', /has custom_values that do not ascend/],
    [
      '{{schema:-53 custom_values:[1] buckets:[1 1 1]}}',
      /has more buckets than custom_values leave room for/,
    ],
    [
      '{{buckets:[1 1]}}x100000',
      /stands for too many buckets: 100001 histograms of 3, where 200000 are left/,
    ],
  ] as const) {
    assert.match(await refused({ input_series: [{ series: 'up', values }] }), why);
  }
  const expecting = {
    promql_expr_test: [
      { expr: 'up', eval_time: '0m', exp_samples: [{ labels: 'up', histogram: '{{sum:1' }] },
    ],
  };
  assert.match(
    await refused(expecting),
    /exp_samples\[0\]\.histogram is not a native histogram such as/,
  );
  const fuzzily = async (expected: number): Promise<boolean> => {
    const promql = [
      { expr: 'sum(x)', eval_time: '0m', exp_samples: [{ labels: '{}', value: expected }] },
    ];
    const sums = {
      input_series: ['0.1', '0.2'].map((values, at) => ({ series: `x{at="${at}"}`, values })),
      alert_rule_test: [],
      promql_expr_test: promql,
    };
    return (await post({ ...testFile(sums), fuzzy_compare: true })).ok;
  };
  assert.deepEqual(
    await Promise.all([0.3, 0.1 + 0.2, 0.299_999_999_999_999_93, 0.300_000_1].map(fuzzily)),
    [true, true, false, false],
    'one unit in the last place',
  );
  assert.match(await refused({ surprise: 1 }), /tests\[0\] has a field surprise/);
  assert.match(
    await refused({ alert_rule_test: [{ eval_time: '10y', alertname: 'JobGone' }] }),
    /rule evaluations/,
  );
  assert.match(
    (await post({ ...testFile(), group_eval_order: ['other'] })).message,
    /lists the group other/,
  );
  assert.match((await post({ rule_files: [], tests: [] })).message, /no tests/);
  assert.match((await post(testFile(), 'groups: 1')).message, /^a\.yaml: groups must be a list/);
  const failing = await post(
    testFile(),
    JSON.stringify({ groups: [{ name: 'g', rules: [{ alert: 'JobGone', expr: 'nope(' }] }] }),
  );
  assert.deepEqual(
    [failing.ok, failing.tests[0].failures[0].kind, failing.tests[0].failures[0].subject],
    [false, 'rule', 'JobGone'],
  );
});

/** The same numbers for the same seed. */
function dice(seed: number): (sides: number) => number {
  let state = seed * 2_654_435_761;
  return (sides) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return (state >>> 8) % sides;
  };
}

/**
 * Expressions without samples exactly on the edge of a window, which Prometheus 3 counts
 * differently from 2.
 */
const expressions = [
  'm > 2',
  'm{job="a"} <= 1',
  'sum by (job) (m) > 4',
  'sum_over_time(m[150s]) > 5',
  'm == 3 or m == 0',
  'rec > 2',
  'absent(m{job="c"})',
  'count(m) > bool 2',
  'm unless m > 3',
  'ALERTS{alertname="A0"}',
];

function randomCase(seed: number): {
  readonly rules: object;
  readonly test: (alerts: readonly object[]) => object;
  readonly alerts: readonly string[];
  readonly times: readonly string[];
} {
  const roll = dice(seed);
  const alerts = Array.from({ length: 4 }, (_, index) => `A${index}`);
  const spans = ['0s', '1m', '2m', '90s', '5m'];
  const times = Array.from({ length: 24 }, (_, index) => `${index}m`);
  const made = alerts.map((alert) => ({
    alert,
    expr: expressions[roll(expressions.length)],
    for: spans[roll(spans.length)],
    ...(roll(3) === 0 && { keep_firing_for: spans[roll(spans.length)] }),
    labels: { severity: 'page', kind: '{{ if gt $value 2.0 }}high{{ else }}low{{ end }}' },
    annotations: {
      summary:
        '{{ $labels.job }}/{{ $labels.instance }} at {{ $value }} {{ humanize $value }} {{ humanizeDuration $value }} {{ printf "%05.1f" $value }}',
      ...(roll(4) === 0 && {
        asked:
          '{{ with query "count(m)" }}{{ . | first | value }}{{ end }}{{ range sortByLabel "job" (query "sum by (job) (m)") }} {{ label "job" . }}={{ . | value }}{{ .Labels.none }}{{ end }}',
      }),
    },
  }));
  const values = (): string =>
    Array.from(
      { length: 24 },
      () => ['_', 'stale', ...Array.from({ length: 8 }, () => String(roll(6)))][roll(10)],
    ).join(' ');
  const input = ['a', 'b'].flatMap((job) =>
    [1, 2].map((instance) => ({
      series: `m{job="${job}", instance="${instance}"}`,
      values: values(),
    })),
  );
  return {
    alerts,
    times,
    rules: {
      groups: [
        {
          name: 'g',
          rules: [{ record: 'rec', expr: 'max by (job) (m)', labels: { from: 'rule' } }, ...made],
        },
      ],
    },
    test: (tests) => ({
      rule_files: ['rules.yaml'],
      evaluation_interval: '1m',
      tests: [{ interval: '1m', input_series: input, alert_rule_test: tests }],
    }),
  };
}

const annotated = /^\w+(\{[^]*\}) annotations (\{[^]*\})$/;

test('twenty random files say what promtool says', async (t) => {
  const promtool = peer(t, 'promtool');
  if (promtool === undefined) {
    return;
  }
  const { call } = await rulesHouse(t);
  const folder = folderOf(t);
  let fired = 0;
  for (let seed = 1; seed <= 20; seed++) {
    const { rules: content, test: fileOf, alerts, times } = randomCase(seed);
    const asked = alerts.flatMap((alertname) => times.map((at) => ({ eval_time: at, alertname })));
    const files = [{ name: 'rules.yaml', content: JSON.stringify(content) }];
    const { body } = await call('POST', 'alert-rules/test', {
      content: JSON.stringify(fileOf(asked)),
      files,
    });
    const firing: readonly { kind: string; at: string; subject: string; got: readonly string[] }[] =
      body.tests[0].failures;
    assert.ok(
      firing.every(({ kind }) => kind === 'alert'),
      JSON.stringify(firing.filter(({ kind }) => kind !== 'alert')),
    );
    const expected = asked.map((one) => ({
      ...one,
      exp_alerts: (
        firing.find(
          ({ at, subject }) =>
            (at === '0s' ? '0m' : at) === one.eval_time && subject === one.alertname,
        )?.got ?? []
      ).map((text) => {
        fired += 1;
        const [, labels = '', annotations = ''] = annotated.exec(text)!;
        const { alertname: _name, ...others } = readMetric(labels, '');
        return { exp_labels: others, exp_annotations: readMetric(annotations, '') };
      }),
    }));
    writeFileSync(join(folder, 'rules.yaml'), JSON.stringify(content));
    writeFileSync(join(folder, 'test.yaml'), JSON.stringify(fileOf(expected)));
    const verdict = await run(promtool, ['test', 'rules', join(folder, 'test.yaml')]);
    assert.equal(verdict.code, 0, `seed ${seed}: ${JSON.stringify(content)}\n${verdict.text}`);
  }
  assert.ok(fired > 250, `${fired} alerts are enough to tell`);
});

test('a field that Prometheus does not know is a fault of the rule file, unless such fields are to be left aside', async (t) => {
  const { call } = await rulesHouse(t);
  const files = [
    {
      name: 'all.rules.yaml',
      content: JSON.stringify({ groups: [{ ...rules.groups[0], namespace: 'team' }] }),
    },
  ];
  const content = JSON.stringify(testFile());
  const strict = await call('POST', 'alert-rules/test', { content, files });
  assert.deepEqual([strict.status, strict.body.error], [400, 'invalid_argument']);
  assert.match(
    strict.body.message,
    /all\.rules\.yaml: groups\[0\]\.namespace is not a known field/,
  );
  const lenient = await call('POST', 'alert-rules/test', { content, files, strict: false });
  assert.deepEqual([lenient.status, lenient.body.ok], [200, true]);
});
