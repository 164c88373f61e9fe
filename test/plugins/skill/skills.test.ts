import assert from 'node:assert/strict';
import { test } from 'node:test';

import { SkillRunner, Skills } from 'svc/contracts/skill';
import { useNoLeaks } from 'svc/testing';

import { skillHouse } from './house.ts';

test('skills are listed, found, run and kept', async (t) => {
  const kit = await skillHouse(t);
  const { house, ask, done, rows, principal } = kit;
  useNoLeaks(t, house);
  const run = (who: Parameters<typeof ask>[0], key: string, params: object, more: object = {}) =>
    ask(who, 'POST', `/skills/${key}/execute`, { params, ...more });

  await t.test('a list with aliases of classes, and one in full', async () => {
    const { body } = await ask('vera', 'GET', '/skills?class=destructive');
    assert.deepEqual(
      body.items.map(
        ({ key, class: kind, scope, source, tier, requires }: Record<string, unknown>) => [
          key,
          kind,
          scope,
          source,
          tier,
          requires,
        ],
      ),
      [['sample_dangerous', 'dangerous', 'manager', 'tools', 'core', []]],
    );
    const one = await ask('vera', 'GET', '/skills/sample_safe');
    assert.deepEqual([one.status, one.body.schema.required], [200, ['host']]);
    const near = await ask('vera', 'GET', '/skills/sample_saf');
    assert.deepEqual(
      [near.status, near.body.message],
      [404, 'There is no skill sample_saf; perhaps sample_safe is meant.'],
    );
    const registry = house.service(Skills);
    assert.equal(registry.tools(), registry.tools(), 'the same list until anything changes');
  });

  await t.test('params are checked before anything, and defaults are filled in', async () => {
    done.length = 0;
    assert.deepEqual(
      (await run('anna', 'sample_safe', { host: 'db', extra: 1 })).body.message,
      'The params of sample_safe are invalid: extra is not a known field',
    );
    const wrong = await run('anna', 'sample_safe', { host: 5 });
    assert.deepEqual(
      [wrong.status, wrong.body.details],
      [400, [{ path: '/params/host', message: 'must be string' }]],
    );
    assert.equal((await run('anna', 'sample_safe', { host: 'db' }, { device_id: 7 })).status, 400);
    assert.deepEqual(done, []);
    assert.deepEqual((await run('anna', 'sample_safe', { host: 'db' })).body.result, {
      done: true,
    });
    assert.deepEqual(done, [{ tool: 'safe', params: { host: 'db', times: 1 } }]);
  });

  await t.test(
    'the right comes first: who may not use a tool learns nothing of its params',
    async () => {
      const refused = await run('anna', 'sample_mutating', { nonsense: 1 });
      assert.deepEqual(
        [
          refused.status,
          /switched off/.test(refused.body.message),
          /nonsense|params/.test(refused.body.message),
        ],
        [403, true, false],
      );
      await kit.allowWrites();
      assert.equal((await run('anna', 'sample_mutating', { nonsense: 1 })).status, 400);
      await kit.allowWrites(false);
    },
  );

  await t.test('a call by hand is one row of the trail; one of a room is, too', async () => {
    rows.length = 0;
    const { body } = await run('anna', 'sample_safe', { host: 'db' });
    assert.deepEqual(
      rows.map(({ action, resourceId, status }) => [action, resourceId, status]),
      [['skill:execute', 'sample_safe', 'success']],
    );
    assert.deepEqual((rows[0]!.after as Record<string, unknown>).execution_id, body.execution_id);
    rows.length = 0;
    await house.service(SkillRunner).run({
      principal: principal('anna'),
      key: 'sample_safe',
      params: { host: 'db', times: 2 },
      origin: 'chat',
    });
    assert.deepEqual(
      rows.map(({ action, principal: { name }, after }) => [
        action,
        name,
        (after as Record<string, unknown>).phase,
        (after as Record<string, unknown>).origin,
      ]),
      [['skill:execute', 'anna', 'end', 'chat']],
    );
    rows.length = 0;
    await run('vera', 'sample_safe', { host: 'db' });
    assert.deepEqual(
      rows.map(({ status, httpStatus }) => [status, httpStatus]),
      [['denied', 403]],
    );
  });

  await t.test(
    'what changes something takes the switch and the whole area; what is dangerous is not run by hand',
    async () => {
      done.length = 0;
      const off = await run('anna', 'sample_mutating', { host: 'db' });
      assert.deepEqual([off.status, /agent\.write_enabled/.test(off.body.message)], [403, true]);
      await kit.allowWrites();
      assert.equal((await run('anna', 'sample_mutating', { host: 'db' })).status, 200);
      kit.people.anna.grants = ['skill:execute'];
      assert.equal((await run('anna', 'sample_mutating', { host: 'db' })).status, 403);
      assert.equal((await run('anna', 'sample_safe', { host: 'db' })).status, 200);
      kit.people.anna.grants = ['skill:*'];
      const call = {
        principal: principal('bob'),
        key: 'sample_dangerous',
        params: { host: 'db' },
        origin: 'chat' as const,
      };
      await assert.rejects(house.service(SkillRunner).run(call), {
        code: 'forbidden',
        reason: 'skill.approval_needed',
      });
      await assert.rejects(house.service(SkillRunner).run({ ...call, approval: 'made-up' }), {
        code: 'forbidden',
        reason: 'skill.approval_mismatch',
      });
      assert.deepEqual(
        await house.service(SkillRunner).plan({ ...call, params: { host: 'db', times: 3 } }),
        {
          tool: house.service(Skills).tool('sample_dangerous'),
          params: { host: 'db', times: 3 },
          answer: { verdict: 'approval', signatures: 2 },
          target: { kind: 'manager', id: undefined, name: 'this manager' },
          rendered: 'sample_dangerous host="db" times=3 on this manager',
        },
      );
      for (const [params, place] of [
        [{ host: 'token=a|.+' }, 'host'],
        [{ host: 'db\u200bprod' }, 'host'],
      ] as const) {
        const { answer } = await house.service(SkillRunner).plan({ ...call, params });
        assert.equal(
          answer.verdict,
          'refused',
          'a call with a part that signers cannot see is refused',
        );
        assert.match(
          answer.verdict === 'refused' ? answer.message : '',
          new RegExp(`argument ${place} of sample_dangerous contains a secret or invisible`),
        );
      }
      // Without the room of approvals there is nothing to open.
      assert.equal((await run('anna', 'sample_dangerous', { host: 'db' })).status, 503);
      assert.deepEqual(
        done.map(({ tool }) => tool),
        ['mutating', 'safe'],
      );
      await kit.allowWrites(false);
    },
  );

  await t.test(
    'what a tool does wrong is its answer; what is asked wrongly is refused',
    async () => {
      const broken = await run('anna', 'sample_refuse', { code: 'plain' });
      assert.deepEqual(
        [broken.status, broken.body.status, broken.body.result, broken.body.error],
        [200, 'error', null, 'token=[redacted] broke'],
      );
      assert.equal(
        (await run('anna', 'sample_refuse', { code: 'unavailable' })).body.error,
        'refused with unavailable',
      );
      assert.equal((await run('anna', 'sample_refuse', { code: 'invalid_argument' })).status, 400);
      kit.effect = (_tool, _params, signal) =>
        new Promise((_resolve, reject) =>
          signal.addEventListener('abort', () => reject(new Error('aborted'))),
        );
      const late = await house.service(SkillRunner).run({
        principal: principal('anna'),
        key: 'sample_safe',
        params: { host: 'a' },
        origin: 'chat',
        timeoutMs: 5,
      });
      assert.deepEqual(
        [late.status, late.error],
        ['timeout', 'sample_safe did not end within 5 ms'],
      );
    },
  );

  await t.test('a text of 8 MB is shaped beside the requests, its secrets hidden', async () => {
    kit.effect = () => `password=hunter2\n${'a line of a tool\n'.repeat(500_000)}the end`;
    const { body } = await run('anna', 'sample_safe', { host: 'db' });
    assert.match(body.evidence, /^E\d+$/);
    assert.equal(body.result.lines, 500_002);
    assert.match(body.result.head, /^password=\[redacted\]\na line/);
    assert.match(body.result.tail, /the end$/);
    assert.equal(body.result.items, undefined, 'a text is no list of its characters');
  });

  await t.test('a large result is kept, and read on by its owner alone', async () => {
    const lines = Array.from(
      { length: 4_000 },
      (_, index) => `line ${index} password=hunter${index}`,
    );
    kit.effect = () => ({ lines, note: '\u001b[31mred\u001b[0m' });
    const { body } = await run('anna', 'sample_safe', { host: 'db' });
    assert.match(body.evidence, /^E\d+$/);
    assert.deepEqual(
      [body.result.evidence, body.result.items, body.result.lines],
      [body.evidence, { lines: 4_000 }, 4_005],
    );
    assert.ok(
      JSON.stringify(body.result).length < 8 * 1024 &&
        body.result.head.includes('line 0 ') &&
        body.result.tail.includes('"note": "red"'),
    );
    const read = (who: 'anna' | 'bob' | 'carl', params: object) =>
      run(who, 'evidence_read', { id: body.evidence, ...params });
    const found = await read('anna', { filter: 'line 39\\d\\d ', range: { from: 3_950 } });
    assert.deepEqual(
      [found.body.result.matching, found.body.result.lines[0]],
      [53, '3950:   "line 3947 password=[redacted]",'],
    );
    const all = await read('anna', {});
    const next = await read('anna', { range: { from: all.body.result.next } });
    assert.equal(next.body.result.lines[0].split(':')[0], String(all.body.result.next));
    assert.equal(all.body.evidence, null, 'reading on is not kept again');
    assert.equal((await read('anna', { filter: '(' })).status, 400);
    assert.equal((await read('bob', {})).status, 200, 'an administrator may');
    const opened = await kit.ask('anna', 'GET', `/skills/evidence/${body.evidence}`);
    assert.deepEqual(
      [opened.status, opened.body.tool, opened.body.params, opened.body.next_from],
      [200, 'sample_safe', { host: 'db', times: 1 }, null],
    );
    assert.match(opened.body.text, /line 3999 password=\[redacted\]/);
    assert.equal((await kit.ask('anna', 'GET', '/skills/evidence/E999')).status, 404);
    kit.people.carl.grants = ['skill:*'];
    assert.equal((await read('carl', {})).status, 404);
    assert.equal((await kit.ask('carl', 'GET', `/skills/evidence/${body.evidence}`)).status, 404);
  });

  await t.test('tools are found by words, among those that a persona may use', async () => {
    const runner = house.service(SkillRunner);
    const persona = {
      name: 'p',
      tools: [],
      disallowed_tools: ['sample_refuse'],
      permission_mode: 'read-only' as const,
    };
    const search = async (params: Record<string, unknown>) => {
      const { result } = await runner.run({
        principal: principal('anna'),
        key: 'tool_search',
        params,
        origin: 'chat',
        persona,
      });
      return result as { tools: { key: string; schema?: object }[]; not_available?: string[] };
    };
    const { tools: found } = await search({ query: 'do a thing to a host' });
    assert.deepEqual(
      [found[0]!.key, found.some(({ key }) => key === 'sample_dangerous')],
      ['sample_safe', false],
    );
    const selected = await search({ select: ['sample_safe', 'sample_refuse', 'sample_mutating'] });
    assert.deepEqual(
      [selected.tools.map(({ key }) => key), selected.not_available],
      [['sample_safe'], ['sample_refuse', 'sample_mutating']],
    );
    assert.ok(selected.tools[0]!.schema);
    await assert.rejects(search({}), { code: 'invalid_argument' });
  });
});
