import assert from 'node:assert/strict';
import { test } from 'node:test';

import { Gate as GateToken, type GateQuestion } from 'svc/contracts/gate';
import type { Principal } from 'svc/sdk';
import { startTestHost, useNoLeaks } from 'svc/testing';

const asked = (more: Partial<GateQuestion> = {}): GateQuestion => ({
  principal: { kind: 'user', id: '5', role: 'admin', grants: ['*'] },
  tool: { key: 'service_restart', class: 'mutating', source: 'edge' },
  origin: 'api',
  ...more,
});

test('the gate of a house follows accounts and settings as they change', async (t) => {
  let person: object | undefined = { id: 5, role: 'user', status: 'active', grants: ['skill:*'] };
  const house = await startTestHost(t, {
    plugins: ['gate', 'setting'],
    services: { 'iam.directory': { live: () => person } },
  });
  useNoLeaks(t, house);
  const gate = house.service(GateToken);
  const set = (key: string, value: unknown) =>
    house.json(`/api/v1/system-settings/${key.replace('.', '/')}`, {
      method: 'PUT',
      body: JSON.stringify({ value }),
    });
  const step = (question: GateQuestion): string => {
    const answer = gate.decide(question);
    return answer.verdict === 'refused' ? answer.step : answer.verdict;
  };

  assert.equal(step(asked()), 'writes_off');
  await set('agent.write_enabled', true);
  assert.equal(step(asked()), 'run');
  person = { id: 5, role: 'viewer', status: 'active', grants: [] };
  assert.equal(step(asked()), 'role');
  person = undefined;
  assert.equal(step(asked()), 'account');
  person = { id: 5, role: 'user', status: 'active', grants: ['skill:*'] };

  await t.test(
    'a pattern is looked for in every argument, and one that cannot be read refuses all',
    async () => {
      const args = { list: ['a', 'b\nrm -rf /'] };
      assert.equal(step(asked({ args })), 'run');
      await set('agent.denied_arguments', ['service_restart\\.list\\.1=.*rm -rf']);
      assert.equal(step(asked({ args })), 'arguments');
      assert.equal(step(asked({ args: { list: ['a'] } })), 'run');
      // Safe tools are no way around it.
      assert.equal(
        step(asked({ args, tool: { key: 'service_restart', class: 'safe', source: 'logs' } })),
        'arguments',
      );
      await set('agent.denied_arguments', ['(']);
      const answer = gate.decide(asked({ args: {} }));
      assert.ok(
        answer.verdict === 'refused' && answer.message.includes('agent.denied_arguments has "("'),
        JSON.stringify(answer),
      );
      await set('agent.denied_arguments', []);
    },
  );

  await t.test('a tool is denied by its key, and by the name that models know', () => {
    const tool = { key: 'mcp:desk:page.delete', class: 'mutating', source: 'mcp:desk' } as const;
    const denying = (...disallowed_tools: string[]) =>
      step(
        asked({
          tool,
          persona: {
            name: 'p',
            tools: [],
            disallowed_tools,
            permission_mode: 'dual-sign-required',
          },
        }),
      );
    assert.deepEqual(
      [
        denying('mcp:desk:page.delete'),
        denying('mcp_desk_page_delete'),
        denying('mcp_desk_page'),
        denying(),
      ],
      ['deny', 'deny', 'approval', 'approval'],
    );
  });

  await t.test('targets are allowed by number or label', async () => {
    const at = (device_id: number, labels: Readonly<Record<string, string>>) =>
      asked({ args: {}, target: { device_id, labels } });
    assert.equal(step(at(1, { env: 'prod' })), 'arguments');
    assert.equal(step(at(1, { env: 'staging' })), 'run');
    await set('agent.write_targets', ['device:2', 'team=a=b']);
    assert.equal(step(at(1, { env: 'staging' })), 'arguments');
    assert.equal(step(at(2, {})), 'run');
    assert.equal(step(at(3, { team: 'a=b' })), 'run');
    assert.equal(step(at(2, { env: 'prod' })), 'arguments');
  });

  await t.test('a token never does more than its person', () => {
    const token = (...grants: string[]): Principal => ({
      kind: 'token',
      id: '5',
      role: 'user',
      grants,
    });
    assert.equal(
      step(asked({ principal: token('*') })),
      'approval',
      'a program has not said so with the call',
    );
    assert.equal(step(asked({ principal: token('device:read') })), 'role');
    person = { id: 5, role: 'user', status: 'active', grants: ['device:read'] };
    assert.equal(step(asked({ principal: token('*') })), 'role');
  });
});
