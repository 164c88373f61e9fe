import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, test } from 'node:test';

import Type from 'typebox';

import { route, SvcError } from '../../core/sdk/index.ts';
import { type House, openHouse, until } from './house.ts';

let house: House;
let made = 0;
const idle = (): void => {};
let finish = idle;

const Made = Type.Object({ id: Type.Integer(), secret: Type.Optional(Type.String()) });
const Body = Type.Object({ name: Type.String() });
const common = { access: 'thing:create', body: Body, response: Made } as const;

before(async () => {
  house = await openHouse([
    route({
      ...common,
      method: 'POST',
      path: '/api/v1/things',
      summary: 'Create',
      async handle({ body }) {
        await house.changes.change(body.name);
        made += 1;
        return { id: made, secret: 'svc_sk_shown-once' };
      },
    }),
    route({
      ...common,
      method: 'POST',
      path: '/api/v1/things/idle',
      summary: 'Writes nothing',
      handle: () => ({ id: (made += 1) }),
    }),
    route({
      ...common,
      method: 'POST',
      path: '/api/v1/things/twice',
      summary: 'Writes twice',
      async handle() {
        await house.changes.change('one');
        await house.changes.change('two');
        return { id: 1 };
      },
    }),
    route({
      ...common,
      method: 'POST',
      path: '/api/v1/things/half',
      summary: 'Writes, then fails',
      async handle() {
        await house.changes.change('half');
        throw new SvcError('upstream_error', 'the other end is gone');
      },
    }),
    route({
      ...common,
      method: 'POST',
      path: '/api/v1/things/stubborn',
      summary: 'Swallows a failed write',
      async handle() {
        await house.changes.change('lost').catch(() => {});
        return { id: 1 };
      },
    }),
    route({
      ...common,
      method: 'POST',
      path: '/api/v1/things/retry',
      summary: 'Retries a failed write',
      async handle() {
        await house.changes.change('first').catch(() => {});
        await house.changes.change('second');
        return { id: 1 };
      },
    }),
    route({
      ...common,
      method: 'POST',
      path: '/api/v1/things/wait',
      summary: 'Waits',
      async handle({ body }) {
        await new Promise<void>((resolve) => {
          finish = resolve;
        });
        await house.changes.change(body.name);
        return { id: 7 };
      },
    }),
    route({
      ...common,
      method: 'POST',
      path: '/api/v1/things/late',
      summary: 'Writes too late',
      timeoutMs: 30,
      async handle() {
        await new Promise((resolve) => setTimeout(resolve, 120));
        await house.changes.change('too late').then(
          () => (made = -1),
          () => (made = -2),
        );
        return { id: 1 };
      },
    }),
    route({
      method: 'PUT',
      path: '/api/v1/things/{id}',
      access: 'thing:update',
      summary: 'Notes',
      body: Body,
      handle: (call) =>
        call.note({
          resourceId: 'thing-9',
          before: { name: 'a', password: 'p', nested: { api_key: 'k' } },
          after: { name: 'b', token: 't', token_type: 'Bearer' },
        }),
    }),
    route({
      method: 'POST',
      path: '/api/v1/edges/{id}/rotate-secret',
      access: 'edge:rotate',
      summary: 'Rotate',
      handle: () => {},
    }),
    route({
      method: 'GET',
      path: '/api/v1/settings/{key}',
      access: 'admin',
      audited: true,
      action: 'setting:reveal',
      summary: 'Reveal',
      response: Type.String(),
      handle: () => 'secret',
    }),
    route({
      method: 'POST',
      path: '/api/v1/preview',
      access: 'any',
      audited: false,
      summary: 'Not a change',
      handle: () => {},
    }),
    route({
      method: 'POST',
      path: '/api/v1/auth/login',
      access: 'public',
      summary: 'Log in',
      body: Body,
      response: Made,
      handle: () => {
        made += 1;
        return { id: made };
      },
    }),
    route({
      method: 'GET',
      path: '/api/v1/read',
      access: 'any',
      summary: 'Read',
      handle: () => {},
    }),
    route({
      method: 'GET',
      path: '/api/v1/guarded',
      access: 'thing:look',
      summary: 'Look',
      handle: () => {},
    }),
  ]);
});
after(() => house.close());
beforeEach(() => {
  Object.assign(house.changes, {
    rows: [],
    blocked: undefined,
    failAudit: false,
    failCommit: false,
    auditDelayMs: 0,
  });
  house.changes.answers.clear();
  made = 0;
});

const post = (
  path: string,
  headers: Record<string, string> = {},
  name: unknown = 'x',
  token?: string,
): ReturnType<House['call']> =>
  house.call('POST', `/api/v1/things${path}`, { body: { name }, headers, token });

describe('the trail', () => {
  test('a change and its row are one transaction, with everything a reader asks for', async () => {
    const reply = await post(
      '',
      { 'x-request-id': 'r-1', 'user-agent': 'curl/8' },
      'x',
      'user-7=thing:*',
    );
    assert.equal(reply.status, 201);
    assert.deepEqual(
      house.changes.rows.map((row) => row.kind),
      ['change', 'audit'],
    );
    const { principal, occurredAt, ...row } = house.changes.audit[0]!;
    assert.equal(principal.id, '7');
    assert.ok(Math.abs(occurredAt - Date.now()) < 10_000);
    assert.deepEqual(row, {
      ip: '127.0.0.1',
      userAgent: 'curl/8',
      action: 'thing:create',
      resourceType: 'thing',
      resourceId: undefined,
      status: 'success',
      httpStatus: 201,
      error: undefined,
      requestId: 'r-1',
      before: undefined,
      after: undefined,
    });
  });

  test('one row however many writes, and one when the handler wrote nothing', async () => {
    await post('/twice');
    assert.deepEqual(
      house.changes.rows.map((row) => row.kind),
      ['change', 'audit', 'change'],
    );
    house.changes.rows = [];
    await post('/idle');
    assert.deepEqual(
      house.changes.rows.map((row) => row.kind),
      ['audit'],
    );
  });

  test('reads and what says that it is no change leave no row; a reveal does', async () => {
    await house.call('GET', '/api/v1/read');
    await house.call('POST', '/api/v1/preview');
    assert.deepEqual(house.changes.rows, []);
    await house.call('GET', '/api/v1/settings/llm-key');
    const [row] = house.changes.audit;
    assert.deepEqual(
      [row!.action, row!.resourceType, row!.resourceId],
      ['setting:reveal', 'setting', 'llm-key'],
    );
  });

  test('action and resource come from the declaration; a note sharpens them, and secrets are blanked', async () => {
    await house.call('POST', '/api/v1/edges/12/rotate-secret');
    await house.call('PUT', '/api/v1/things/9', { body: { name: 'b' } });
    const [rotate, update] = house.changes.audit;
    assert.deepEqual(
      [rotate!.action, rotate!.resourceType, rotate!.resourceId, rotate!.httpStatus],
      ['edge:rotate-secret', 'edge', '12', 204],
    );
    assert.deepEqual([update!.action, update!.resourceId], ['thing:update', 'thing-9']);
    assert.deepEqual(update!.before, { name: 'a', password: '••••', nested: { api_key: '••••' } });
    assert.deepEqual(update!.after, { name: 'b', token: '••••', token_type: 'Bearer' });
  });

  test('no row, no change: when the trail cannot be written the call is unavailable and nothing stands', async () => {
    for (const path of ['', '/idle', '/stubborn']) {
      house.changes.failAudit = true;
      const { status, body } = await post(path);
      assert.deepEqual([status, body.error], [503, 'unavailable'], path);
      assert.deepEqual(house.changes.rows, [], path);
    }
    assert.equal(house.strikes.length, 0);
  });

  test('a write that was rolled back takes its row along, and the next one brings it again', async () => {
    house.changes.failCommit = true;
    assert.equal((await post('/retry')).status, 201);
    assert.deepEqual(
      house.changes.rows.map((row) => (row.kind === 'change' ? row.value : row.kind)),
      ['second', 'audit'],
    );
  });

  test('a handler that throws gets a failure row, also after its change was written', async () => {
    const { status } = await post('/half', { 'x-request-id': 'r-2' });
    assert.equal(status, 502);
    assert.deepEqual(
      house.changes.audit.map((row) => [row.status, row.httpStatus, row.requestId, row.error]),
      [
        ['success', 201, 'r-2', undefined],
        ['failure', 502, 'r-2', 'the other end is gone'],
      ],
    );
  });

  test('refusals are written down as denied, bad input as failure', async () => {
    await post('', {}, 'x', '');
    await post('', {}, 'x', 'user-1');
    await post('', {}, 7);
    assert.deepEqual(
      house.changes.audit.map((row) => [row.status, row.httpStatus, row.principal.kind]),
      [
        ['denied', 401, 'anonymous'],
        ['denied', 403, 'user'],
        ['failure', 400, 'operator'],
      ],
    );
  });

  test('denials of reads are written down too: who may not, and whose credential is none, or who shows none', async () => {
    await house.call('GET', '/api/v1/guarded', { token: 'user-1' });
    await house.call('GET', '/api/v1/guarded', { token: 'gone' });
    await house.call('GET', '/api/v1/guarded', { token: '' });
    assert.deepEqual(
      house.changes.audit.map((row) => [row.status, row.httpStatus]),
      [
        ['denied', 403],
        ['denied', 401],
        ['denied', 401],
      ],
    );
  });

  test('one stranger fills no more than sixty rows a minute; the rest is counted', async () => {
    const flooded = await openHouse([
      route({
        ...common,
        method: 'POST',
        path: '/api/v1/things',
        summary: 'Create',
        handle: () => ({ id: 1 }),
      }),
    ]);
    for (let call = 0; call < 70; call++) {
      await flooded.call('POST', '/api/v1/things', { token: '' });
    }
    assert.equal(flooded.changes.audit.length, 60);
    assert.ok(flooded.logs.some((line) => line.fields['event'] === 'audit.refusal_counted'));
    await flooded.close();
  });

  test('while nothing can be written, changes are refused at once and reads go on', async () => {
    house.changes.blocked = 'the disk is full';
    const { status, body } = await post('');
    assert.deepEqual([status, body.error], [503, 'unavailable']);
    assert.match(body.message, /the disk is full/);
    assert.equal((await house.call('GET', '/api/v1/read')).status, 204);
    assert.equal((await house.call('POST', '/api/v1/preview')).status, 204);
    assert.equal(made, 0);
  });

  test('a trail that hangs does not keep a refused caller waiting for long, and a flood is bounded', async () => {
    const hung = await openHouse([
      route({
        ...common,
        method: 'POST',
        path: '/api/v1/things',
        summary: 'Create',
        handle: () => ({ id: 1 }),
      }),
    ]);
    hung.changes.auditDelayMs = 3_000;
    const from = performance.now();
    const replies = await Promise.all(
      Array.from({ length: 400 }, () => hung.call('POST', '/api/v1/things', { token: '' })),
    );
    assert.ok(replies.every((reply) => reply.status === 401));
    assert.ok(performance.now() - from < 9_000);
    assert.ok(hung.logs.some((line) => line.fields['event'] === 'audit.refusal_counted'));
    hung.changes.auditDelayMs = 0;
    // Rows that were on their way tell, once they are written, of those that were not.
    await until(() =>
      hung.changes.audit.some(
        (row) => row.action === 'audit:overflow' && /more refused calls came/.test(row.error ?? ''),
      ),
    );
    await hung.close();
  });

  test('a handler that goes on after its deadline cannot change anything any more', async () => {
    assert.equal((await post('/late')).status, 503);
    await until(() => made !== 0);
    assert.equal(made, -2);
    assert.deepEqual(house.changes.changes, []);
    assert.deepEqual(
      house.changes.audit.map((row) => row.status),
      ['failure'],
    );
  });
});

describe('a repeated request', () => {
  const key = { 'idempotency-key': 'k-1' };

  test('gets the first answer again, byte for byte, and nothing happens twice', async () => {
    const first = await post('', key);
    const again = await post('', key);
    assert.deepEqual(
      [again.status, again.text, again.headers.get('idempotency-replayed')],
      [201, first.text, 'true'],
    );
    assert.equal(first.headers.get('idempotency-replayed'), null);
    assert.equal(made, 1);
    assert.deepEqual(
      house.changes.rows.map((row) => row.kind),
      ['change', 'audit', 'idempotency'],
    );
  });

  test('also when the handler wrote nothing itself', async () => {
    await post('/idle', key);
    assert.equal((await post('/idle', key)).body.id, 1);
  });

  test('is another request for another caller, on another route, or with another key', async () => {
    await post('', key);
    await post('', key, 'x', 'user-1=thing:*');
    await post('/idle', key);
    await post('', { 'idempotency-key': 'k-2' });
    assert.equal(made, 4);
  });

  test('with another body is a conflict', async () => {
    await post('', key);
    const { status, body } = await post('', key, 'y');
    assert.deepEqual([status, body.error], [409, 'conflict']);
    assert.match(body.message, /different request/);
  });

  test('while the first still runs is a conflict', async () => {
    const first = post('/wait', key);
    await until(() => finish !== idle);
    const second = await post('/wait', key);
    assert.match(second.body.message, /still running/);
    finish();
    assert.equal((await first).status, 201);
    assert.equal((await post('/wait', key)).body.id, 7);
  });

  test('of which the answer was lost is told so instead of being run again', async () => {
    await post('', key);
    const [[place, row]] = [...house.changes.answers] as [
      [string, typeof house.changes.answers extends Map<string, infer R> ? R : never],
    ];
    house.changes.answers.set(place, { ...row, answer: undefined });
    const { status, body } = await post('', key);
    assert.equal(status, 409);
    assert.match(body.message, /applied, but its response was lost/);
    assert.equal(made, 1);
  });

  test('after a failure that changed nothing is tried anew; after one that did, it hears the same failure', async () => {
    await post('', key, 7);
    assert.equal((await post('', key)).status, 201);
    const half = { 'idempotency-key': 'k-3' };
    const failed = await post('/half', half);
    const again = await post('/half', half);
    assert.deepEqual(
      [again.status, again.text, again.headers.get('idempotency-replayed')],
      [502, failed.text, 'true'],
    );
    assert.deepEqual(
      house.changes.changes.filter((change) => change === 'half'),
      ['half'],
    );
  });

  test('is forgotten after a day', async () => {
    await post('', key);
    for (const [place, row] of house.changes.answers) {
      house.changes.answers.set(place, { ...row, createdAt: row.createdAt - 24 * 3_600_000 - 1 });
    }
    await post('', key);
    assert.equal(made, 2);
  });

  test('never replays between callers without a name, keeps no secret in the clear, and takes sane keys only', async () => {
    for (let round = 0; round < 2; round += 1) {
      await house.call('POST', '/api/v1/auth/login', {
        token: '',
        body: { name: 'x' },
        headers: key,
      });
    }
    assert.equal(made, 2);
    await post('', key);
    assert.doesNotMatch(JSON.stringify([...house.changes.answers]), /svc_sk_/);
    for (const bad of ['x'.repeat(201), 'a b', ' ']) {
      assert.equal((await post('', { 'idempotency-key': bad })).status, 400);
    }
  });
});

test('every pin is given back', async () => {
  await until(() => house.server.open === 0);
  assert.equal(house.registry.leases.size, 0);
});
