import assert from 'node:assert/strict';
import { test } from 'node:test';

import { FleetSkills } from 'svc/contracts/edge';
import type { SkillOrder } from 'svc/edge-protocol';
import type { AuditRecord, Principal } from 'svc/sdk';

import { edgeHouse, until } from './house.ts';

const principal = (id: string, ...grants: string[]): Principal => ({
  kind: 'user',
  id,
  role: 'user',
  grants,
});
const told = (key: string, kind: string) => ({
  key,
  name: key,
  description: key,
  class: kind,
  scope: 'edge',
  tier: 'core',
  schema: { type: 'object' },
});

test('skills of a machine are used by those who may, and every use stands in the trail', async (t) => {
  const rows: AuditRecord[] = [];
  const trail = { append: async (_tx: unknown, record: AuditRecord) => void rows.push(record) };
  const { house, create, simulate, edge } = await edgeHouse(t, {
    services: { 'audit.trail': trail },
  });
  const keys = await create();
  const skills = house.service(FleetSkills);
  const asked: { method: string; order: SkillOrder; key: string | undefined }[] = [];
  let reply: (order: SkillOrder) => unknown = ({ audit_id: id }) => ({
    status: 'ok',
    result: { done: true },
    error: null,
    duration_ms: 1,
    execution_id: id,
    truncated: false,
    read_on: null,
  });
  let list: unknown = {
    skills: [
      told('file_tail', 'safe'),
      told('service_restart', 'mutating'),
      told('wipe', 'dangerous'),
    ],
  };
  const serve = (method: string, mutating: boolean) => ({
    mutating,
    handle: async (
      order: unknown,
      { idempotencyKey: key }: { idempotencyKey: string | undefined },
    ) => {
      asked.push({ method, order: order as SkillOrder, key });
      return reply(order as SkillOrder);
    },
  });
  const methods = {
    skill_list: { mutating: false, handle: async () => list },
    skill_execute: serve('skill_execute', false),
    skill_change: serve('skill_change', true),
  };
  await assert.rejects(skills.list(keys.id), { code: 'unavailable' });
  const connection = await simulate(keys, { methods });
  await until('it is online', async () => (await edge(keys.id)).status === 'online');
  rows.length = 0;

  assert.deepEqual(
    (await skills.list(keys.id)).map(({ key }) => key),
    ['file_tail', 'service_restart', 'wipe'],
  );

  await t.test(
    'arguments of processes are for who holds edge:arguments here, too, wherever they stand in an answer',
    async () => {
      const before = reply;
      const processes = [{ pid: 1, name: 'mysql', cmdline: 'mysql -ppw' }, { cmdline: 'no name' }];
      reply = (order) => ({ ...(before(order) as object), result: { sampled_at: 'x', processes } });
      const seen = async (...grants: string[]) =>
        (await skills.execute(keys.id, 'file_tail', {}, { principal: principal('1', ...grants) }))
          .result;
      assert.deepEqual(await seen('device:read'), {
        sampled_at: 'x',
        processes: [{ pid: 1, name: 'mysql', cmdline: 'mysql' }, { cmdline: '' }],
      });
      assert.deepEqual(await seen('device:read', 'edge:arguments'), { sampled_at: 'x', processes });
      reply = before;
      asked.length = 0;
      rows.length = 0;
    },
  );

  await t.test('to look takes the right to read devices, or to this skill', async () => {
    const params = { path: '/var/log/a', password: 'hunter2' };
    for (const grant of ['device:read', 'device:*', 'skill:file_tail', 'skill:*', '*']) {
      assert.equal(
        (await skills.execute(keys.id, 'file_tail', params, { principal: principal('1', grant) }))
          .status,
        'ok',
        grant,
      );
    }
    assert.deepEqual(
      [asked.length, asked[0]!.method, asked[0]!.key],
      [5, 'skill_execute', undefined],
    );
    const [row] = rows;
    assert.deepEqual(
      [row!.action, row!.resourceType, row!.resourceId, row!.status, row!.principal.id],
      ['skill:execute', 'edge', String(keys.id), 'success', '1'],
    );
    const { skill, params: kept, execution_id: id } = row!.after as Record<string, unknown>;
    assert.deepEqual(
      [skill, kept, id],
      ['file_tail', { path: '/var/log/a', password: '[redacted]' }, asked[0]!.order.audit_id],
    );
    rows.length = 0;
    await assert.rejects(
      skills.execute(keys.id, 'file_tail', {}, { principal: principal('2', 'edge:*') }),
      { code: 'forbidden' },
    );
    assert.deepEqual([asked.length, rows.map(({ status }) => status)], [5, ['denied']]);
  });

  await t.test(
    'to change takes the whole area, is in the trail before it is done, and is the same for the same key of the same person',
    async () => {
      rows.length = 0;
      asked.length = 0;
      const params = { service: 'web' };
      const wish = (id: string) =>
        skills.execute(keys.id, 'service_restart', params, {
          principal: principal(id, 'skill:*'),
          idempotencyKey: 'k',
        });
      await Promise.all([wish('1'), wish('1'), wish('2')]);
      assert.deepEqual(new Set(asked.map(({ method }) => method)), new Set(['skill_change']));
      assert.equal(new Set(asked.map(({ key }) => key)).size, 2);
      assert.ok(asked.every(({ key, order }) => key === order.audit_id));
      assert.deepEqual(rows.map(({ after }) => (after as { phase: string }).phase).sort(), [
        'begin',
        'begin',
        'begin',
        'end',
        'end',
        'end',
      ]);
      for (const grant of ['device:*', 'skill:service_restart']) {
        await assert.rejects(
          skills.execute(keys.id, 'service_restart', params, { principal: principal('1', grant) }),
          { code: 'forbidden' },
        );
      }
      await assert.rejects(
        skills.execute(keys.id, 'wipe', {}, { principal: principal('1', '*') }),
        /approval from two people/,
      );
      assert.equal(asked.length, 3);
    },
  );

  await t.test('what fails, and what is no answer, is told and kept as a failure', async () => {
    rows.length = 0;
    const look = () => skills.execute(keys.id, 'file_tail', {}, { principal: principal('1', '*') });
    reply = ({ audit_id: id }) => ({
      status: 'timeout',
      result: null,
      error: { code: 'unavailable', message: 'too late' },
      duration_ms: 1,
      execution_id: id,
      truncated: false,
      read_on: null,
    });
    assert.equal((await look()).status, 'timeout');
    reply = () => ({ status: 'ok' });
    await assert.rejects(look(), /did not return a skill result/);
    assert.deepEqual(
      rows.map(({ status, error }) => [status, error?.replace(/\d+/, 'N')]),
      [
        ['failure', 'too late'],
        ['failure', 'Edge N did not return a skill result; upgrade its agent.'],
      ],
    );
    await assert.rejects(skills.execute(keys.id, 'none', {}, { principal: principal('1', '*') }), {
      code: 'not_found',
    });
    list = { skills: [told('Bad Key', 'safe')] };
    await assert.rejects(skills.list(keys.id), /did not return a list of skills/);
    await connection.session.close();
    await assert.rejects(look(), { code: 'unavailable' });
  });
});
