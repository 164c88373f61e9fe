import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';

import { AuditTrail, type Principal } from 'svc/sdk';
import type { TestHost } from 'svc/testing';

import {
  as,
  auditHouse,
  type Found,
  inFile,
  list,
  type Listed,
  type Logged,
  record,
  trailPath,
} from './house.ts';

const hour = 3_600_000;
const start = Date.parse('2026-03-01T00:00:00Z');
const rowCount = 240;
const bea: Principal = {
  kind: 'user',
  id: '8',
  email: 'bea@example.org',
  role: 'user',
  grants: [],
};
const robot: Principal = { kind: 'token', id: '8', role: 'user', grants: [] };
const actions = [
  'edge:create',
  'edge:plugin',
  'edgeless:create',
  'device:update',
  'alert:ack',
  'edge:delete',
];
const statuses = ['success', 'success', 'denied', 'success', 'failure'] as const;

/** Row `n` of the test, an hour after the one before. */
const nth = (n: number) =>
  record({
    occurredAt: start + n * hour,
    principal:
      n % 3 === 0 ? bea : n % 3 === 1 ? robot : { ...bea, id: '9', email: 'carl@example.org' },
    action: actions[n % actions.length]!,
    resourceType: actions[n % actions.length]!.split(':')[0]!,
    resourceId: n % 7 === 0 ? undefined : `id-${n % 7}`,
    status: statuses[n % statuses.length]!,
    requestId: `r-${n}`,
  });

describe('the trail', () => {
  let house: TestHost;
  let expected: Logged[];
  const undo: (() => unknown)[] = [];
  const scope = {
    after: (work: () => unknown) => void undo.unshift(work),
  } as unknown as Parameters<typeof auditHouse>[0];

  before(async () => {
    house = await auditHouse(scope);
    const trail = house.service(AuditTrail);
    for (let n = 0; n < rowCount; n++) {
      await trail.append(undefined as never, nth(n));
    }
    expected = [...(await whole('?to=2026-04-01T00:00:00Z')).items];
    assert.equal(expected.length, rowCount);
  });
  after(async () => {
    for (const work of undo) {
      await work();
    }
  });

  /** Every page of a list; the rows of its own reading are younger than the test's. */
  async function whole(
    query: string,
  ): Promise<{ items: Logged[]; totals: number[]; pages: number }> {
    const items: Logged[] = [];
    const totals: number[] = [];
    let cursor = '';
    do {
      const page: Listed = await list(
        house,
        `${query}&limit=50${cursor === '' ? '' : `&cursor=${encodeURIComponent(cursor)}`}`,
      );
      items.push(...page.items);
      totals.push(page.total);
      cursor = page.next_cursor;
    } while (cursor !== '');
    return { items, totals, pages: totals.length };
  }

  const until = 'to=2026-04-01T00:00:00Z';
  const filters: Readonly<Record<string, (row: Logged) => boolean>> = {
    'actor=bea@example.org': ({ actor }) => actor.email === 'bea@example.org',
    'actor=8': ({ actor }) => actor.type === 'user' && actor.id === '8',
    'actor=token:8': ({ actor }) => actor.type === 'token',
    'actor=nobody@example.org': () => false,
    'action=edge:create': ({ action }) => action === 'edge:create',
    'action=edge:*': ({ action }) => action.startsWith('edge:'),
    'action=edge*': ({ action }) => action.startsWith('edge'),
    'action=*': () => true,
    'action=zone:*': () => false,
    'without=edge:*': ({ action }) => !action.startsWith('edge:'),
    'without=edge:create,device*': ({ action }) =>
      action !== 'edge:create' && !action.startsWith('device'),
    'status=success&actor=8&action=edge:*&without=edge:delete': ({ status, actor, action }) =>
      status === 'success' &&
      actor.type === 'user' &&
      actor.id === '8' &&
      action.startsWith('edge:') &&
      action !== 'edge:delete',
    'resource_type=edge': ({ resource_type }) => resource_type === 'edge',
    'resource_id=id-3': ({ resource_id }) => resource_id === 'id-3',
    'resource_type=device&resource_id=id-3': ({ resource_type, resource_id }) =>
      resource_type === 'device' && resource_id === 'id-3',
    'status=denied': ({ status }) => status === 'denied',
    'status=success&action=edge:*&actor=BEA@example.org': ({ status, action, actor }) =>
      status === 'success' && action.startsWith('edge:') && actor.email === 'bea@example.org',
    'actor=8&status=failure&resource_type=edge': ({ status, actor, resource_type }) =>
      actor.type === 'user' && actor.id === '8' && status === 'failure' && resource_type === 'edge',
    'from=2026-03-03T00:00:00Z': ({ occurred_at }) => occurred_at >= '2026-03-03T00:00:00.000Z',
    'from=2026-03-03T01:00:00%2B01:00&status=denied&resource_id=id-2': ({
      occurred_at,
      status,
      resource_id,
    }) =>
      occurred_at >= '2026-03-03T00:00:00.000Z' && status === 'denied' && resource_id === 'id-2',
  };
  for (const [query, fits] of Object.entries(filters)) {
    test(`filtered by ${query} has exactly the rows that fit, newest first, and their number`, async () => {
      const { items, totals } = await whole(`?${until}&${query}`);
      const right = expected.filter(fits);
      assert.deepEqual(
        items.map(({ id }) => id),
        right.map(({ id }) => id),
      );
      assert.deepEqual(new Set(totals), new Set([right.length]));
    });
  }

  test('is newest first, and its pages neither overlap nor leave anything out while it grows', async () => {
    const { items, pages } = await whole('?resource_type=edge');
    const ids = items.map(({ id }) => id);
    assert.deepEqual(
      ids,
      [...new Set(ids)].sort((a, b) => b - a),
    );
    assert.ok(pages > 1);
  });

  test('knows how many rows there are, also after more have come', async () => {
    const before_ = await list(house, '?status=success');
    const all = await list(house);
    const after_ = await list(house, '?status=success');
    assert.equal(after_.total, before_.total + 2);
    assert.equal(
      all.total,
      inFile(
        house.dataDir,
        (database) => database.prepare('select count(*) from audit_log').pluck().get() as number,
      ) - 2,
    );
  });

  test('refuses a filter that is none, by name', async () => {
    for (const query of [
      'status=maybe',
      'from=yesterday',
      'action=*x',
      "action='",
      'without=',
      'without=*',
      "without=a:b,'",
      'actor=',
      'colour=red',
      'status=denied&status=success',
    ]) {
      const answer = await house.fetch(`${trailPath}?${query}`);
      const { error, message } = (await answer.json()) as { error: string; message: string };
      assert.deepEqual([answer.status, error], [400, 'invalid_argument'], query);
      assert.match(message, new RegExp(query.split('=')[0]!));
    }
  });

  test('is for administrators only', async () => {
    for (const path of ['', '/export', '/verify']) {
      assert.equal((await house.fetch(trailPath + path, as('anna'))).status, 403);
      assert.equal((await house.fetch(trailPath + path, as('nobody'))).status, 401);
    }
  });

  test('comes out of a JSONL export as it is listed, oldest first, with the same filters', async () => {
    const answer = await house.fetch(`${trailPath}/export?${until}&action=edge:*`);
    assert.match(
      answer.headers.get('content-disposition')!,
      /^attachment; filename="audit-\d{4}-\d\d-\d\d\.jsonl"$/,
    );
    const rows = (await answer.text())
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as Logged);
    assert.deepEqual(
      rows,
      expected.filter(({ action }) => action.startsWith('edge:')).toReversed(),
    );
    const nothing = await house.fetch(`${trailPath}/export?action=zone:*`);
    assert.deepEqual([nothing.status, await nothing.text()], [200, '']);
  });

  test('comes out of a CSV export cell for cell', async () => {
    const [header, ...rows] = csv(
      await (await house.fetch(`${trailPath}/export?format=csv&${until}`)).text(),
    );
    assert.equal(rows.length, rowCount);
    const column = (name: string): number => header!.indexOf(name);
    const first = expected.at(-1)!;
    assert.equal(rows[0]![column('id')], String(first.id));
    assert.equal(rows[0]![column('actor_email')], first.actor.email);
    assert.equal(rows[0]![column('hash')], first.hash);
    assert.ok(rows.every((cells) => cells.length === header!.length));
  });

  test('cannot plant a formula in a spreadsheet, whatever a stranger sends', async () => {
    const evil = [
      "=cmd|'/c calc'!A0",
      '+1+1',
      '-2+3',
      '@SUM(A1)',
      '\t=1',
      'harmless "quoted", and\nlong',
    ];
    for (const userAgent of evil) {
      await house
        .service(AuditTrail)
        .append(undefined as never, record({ userAgent, error: userAgent, action: 'evil:try' }));
    }
    const [header, ...rows] = csv(
      await (await house.fetch(`${trailPath}/export?format=csv&action=evil:try`)).text(),
    );
    const cells = rows.map((row) => row[header!.indexOf('user_agent')]!);
    assert.deepEqual(cells, [...evil.slice(0, 5).map((text) => `'${text}`), evil[5]]);
    assert.ok(rows.flat().every((cell) => !/^[=+\-@\t\r]/.test(cell)));
  });

  test('notes who read, exported and verified it', async () => {
    await house.json<Found>(`${trailPath}/verify`);
    await (await house.fetch(`${trailPath}/export?limit_of=nothing`)).text();
    await (await house.fetch(`${trailPath}/export?action=zone:*`)).text();
    const { items } = await list(house, '?action=audit:*&limit=3');
    assert.deepEqual(
      items.map(({ action, status, resource_type }) => [action, status, resource_type]),
      [
        ['audit:export', 'success', 'audit-log'],
        ['audit:export', 'failure', 'audit-log'],
        ['audit:verify', 'success', 'audit-log'],
      ],
    );
  });
});

/** RFC 4180, as a spreadsheet reads it. */
function csv(text: string): string[][] {
  const rows: string[][] = [[]];
  for (const [, quoted, plain, end] of text.matchAll(
    /(?:"((?:[^"]|"")*)"|([^",\r\n]*))(,|\r\n)/g,
  )) {
    rows.at(-1)!.push(quoted === undefined ? plain! : quoted.replaceAll('""', '"'));
    if (end === '\r\n') {
      rows.push([]);
    }
  }
  return rows.slice(0, -1);
}
