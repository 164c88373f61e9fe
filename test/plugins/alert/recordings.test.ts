import assert from 'node:assert/strict';
import { test } from 'node:test';

import { rows, rulesHouse, StoppedClock } from './rules-house.ts';

const second = 1_000;
const interval = 30 * second;

const file = (more: readonly object[] = []): string =>
  JSON.stringify({
    groups: [
      {
        name: 'jobs',
        labels: { from: 'rules' },
        rules: [
          { record: 'job:work:sum', expr: 'sum by (job) (work)' },
          { record: 'job:work:double', expr: '2 * job:work:sum', labels: { times: '2', job: '' } },
          { record: 'job:work:clash', expr: 'work', labels: { unit: '' } },
          {
            alert: 'Busy',
            expr: 'job:work:sum > 5',
            annotations: {
              all: '{{ query "sum(work)" | first | value }} of {{ query "count(up)" | len }}',
            },
          },
          ...more,
        ],
      },
    ],
  });

test('recording rules are imported, evaluated in their order, and written to the store; what they answer no more is ended', async (t) => {
  const clock = new StoppedClock(Date.UTC(2026, 10, 20, 12));
  const { call, ingest, queries, evaluator } = await rulesHouse(t, { clock });
  const imported = await call('POST', 'alert-rules/import', { content: file() });
  assert.equal(imported.status, 200, JSON.stringify(imported.body));
  assert.deepEqual(imported.body.recorded, [
    { group: 'jobs', record: 'job:work:sum' },
    { group: 'jobs', record: 'job:work:double' },
    { group: 'jobs', record: 'job:work:clash' },
  ]);
  const pass = async (jobs: readonly string[]): Promise<void> => {
    for (let passed = 0; passed < 2 * interval; passed += 10 * second) {
      const at = clock.now() + 10 * second;
      await ingest.write(
        jobs.flatMap((job) => ['1', '2'].flatMap((unit) => rows('work', { job, unit }, [[at, 4]]))),
      );
      clock.pass(10 * second);
      await evaluator.tick();
    }
  };
  const found = async (query: string): Promise<readonly string[]> => {
    const answer = await queries.instant(query, clock.now());
    assert.equal(answer.type, 'vector');
    return answer.type !== 'vector'
      ? []
      : answer.labels.map((labels, at) => `${JSON.stringify(labels)} ${answer.values[at]}`).sort();
  };
  await pass(['a', 'b']);
  assert.deepEqual(await found('job:work:sum'), [
    '{"__name__":"job:work:sum","from":"rules","job":"a"} 8',
    '{"__name__":"job:work:sum","from":"rules","job":"b"} 8',
  ]);
  const states = async (): Promise<Record<string, [number, string | null]>> =>
    Object.fromEntries(
      (await call('GET', 'recording-rules')).body.items.map((one: Record<string, unknown>) => [
        one['record'],
        [one['series'], one['error']],
      ]),
    );
  const clash = 'vector contains metrics with the same labelset after applying rule labels';
  assert.deepEqual(await states(), {
    'job:work:sum': [2, null],
    'job:work:double': [0, clash],
    'job:work:clash': [0, clash],
  });
  const { items } = (await call('GET', 'alerts/incidents?rule=busy')).body;
  assert.deepEqual(items[0].annotations, { all: '16 of 0' }, 'annotations ask the store');
  assert.deepEqual(
    [items.length, items[0].firing_instances],
    [1, 2],
    'the alert reads what was recorded, and groups by nothing',
  );

  await ingest.end([{ name: 'job', op: '=', value: 'b' }], clock.now() + 1);
  await pass(['a']);
  assert.deepEqual(
    await found('job:work:sum'),
    ['{"__name__":"job:work:sum","from":"rules","job":"a"} 8'],
    'b is over at once, not after five minutes',
  );
  assert.deepEqual(
    await found('job:work:double'),
    ['{"__name__":"job:work:double","from":"rules","times":"2"} 16'],
    'it reads what the rule before it has just written',
  );

  const again = await call('POST', 'alert-rules/import', { content: file() });
  assert.match(JSON.stringify(again.body.left_out), /its group was imported before; set overwrite/);
  const bad = await call('POST', 'alert-rules/import', {
    content: file([{ record: 'x', expr: 'sum(' }]),
    overwrite: true,
  });
  assert.deepEqual(
    [bad.status, /^jobs: x: expr: 1:\d+/.test(bad.body.message)],
    [400, true],
    bad.body.message,
  );
  const over = await call('POST', 'alert-rules/import', {
    content: file(),
    overwrite: true,
    enabled: false,
  });
  assert.equal(over.body.recorded.length, 3);
  const listed = (await call('GET', 'recording-rules')).body;
  assert.deepEqual([listed.total, listed.items[0].enabled], [3, false], 'the group was replaced');
  assert.equal((await call('DELETE', `recording-rules/${listed.items[0].id}`)).status, 204);
  assert.equal((await call('DELETE', `recording-rules/${listed.items[0].id}`)).status, 404);
});

test('a group of recording rules is listed and put whole, as it is read; what could not be recorded leaves what was', async (t) => {
  const { call, house } = await rulesHouse(t);
  const put = (more: object) =>
    call('PUT', 'recording-rules/groups', {
      group: 'jobs/of: all',
      rules: [{ record: 'job:up:sum', expr: 'sum by (job) (up)' }],
      ...more,
    });
  const groups = async () => (await call('GET', 'recording-rules/groups')).body;
  const plain = {
    group: 'jobs/of: all',
    interval_seconds: 0,
    limit: 0,
    enabled: true,
    rules: [{ record: 'job:up:sum', expr: 'sum by (job) (up)' }],
  };
  assert.deepEqual((await put({})).body, plain);
  assert.equal((await call('POST', 'alert-rules/import', { content: file() })).status, 200);
  const imported = {
    group: 'jobs',
    interval_seconds: 0,
    limit: 0,
    enabled: true,
    rules: [
      { record: 'job:work:sum', expr: 'sum by (job) (work)', labels: { from: 'rules' } },
      {
        record: 'job:work:double',
        expr: '2 * job:work:sum',
        labels: { from: 'rules', times: '2', job: '' },
      },
      { record: 'job:work:clash', expr: 'work', labels: { from: 'rules', unit: '' } },
    ],
  };
  assert.deepEqual(
    (await groups()).items,
    [imported, plain],
    'by name, with the labels of a group at each of its rules',
  );

  const turned = {
    ...imported,
    interval_seconds: 60,
    limit: 5,
    enabled: false,
    rules: imported.rules.toReversed(),
  };
  assert.deepEqual((await call('PUT', 'recording-rules/groups', turned)).body, turned);
  assert.deepEqual((await groups()).items, [turned, plain]);
  assert.equal((await call('GET', 'recording-rules')).body.total, 4);

  const refusals: readonly (readonly [object, RegExp])[] = [
    [{ rules: [plain.rules[0], { record: 'x', expr: 'sum(' }] }, /^rules\.1\.expr: 1:\d+/],
    [{ rules: [{ record: 'x', expr: 'up[5m]' }] }, /answers a matrix, and a recording rule needs/],
    [{ rules: [{ record: 'up{job="a"}', expr: 'up' }] }, /\/rules\/0\/record|record/],
    [{ rules: [{ record: 'x', expr: 'up', labels: { __name__: 'y' } }] }, /labels/],
    [{ rules: [] }, /rules/],
    [{ interval_seconds: 3 }, /at least 5/],
  ];
  for (const [more, said] of refusals) {
    const refused = await put(more);
    assert.deepEqual(
      [refused.status, refused.body.error],
      [400, 'invalid_argument'],
      JSON.stringify(more),
    );
    assert.match(
      JSON.stringify([refused.body.message, refused.body.details]),
      new RegExp(said.source.replace('^', '')),
    );
  }
  await house.host.disable('metricsdb');
  assert.equal((await put({ limit: 7 })).status, 503);
  assert.deepEqual((await groups()).items, [turned, plain]);
});

test('a group that is put again does not count twice against the limit of all', async (t) => {
  const { call } = await rulesHouse(t);
  const rules = (from: number) =>
    Array.from({ length: 5_000 }, (_, at) => ({ record: `r${from + at}`, expr: '1' }));
  for (const group of ['a', 'b', 'c', 'd']) {
    assert.equal(
      (await call('PUT', 'recording-rules/groups', { group, rules: rules(0) })).status,
      200,
      group,
    );
  }
  assert.equal(
    (await call('PUT', 'recording-rules/groups', { group: 'd', rules: rules(1) })).status,
    200,
    '20,000 are there, and stay so many',
  );
  const beyond = await call('PUT', 'recording-rules/groups', {
    group: 'e',
    rules: rules(0).slice(0, 1),
  });
  assert.deepEqual(
    [beyond.status, /limit of 20000 recording rules/.test(beyond.body.message)],
    [409, true],
  );
});
