import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';

import { ask, confirmOf, startMarket } from '../plugins/marketplace/market.ts';
import { scratch, svc } from './launcher.ts';

const page = readFileSync(new URL('../../docs/packs.md', import.meta.url), 'utf8');
const [publishing] = page.split('\n## ').filter((section) => section.startsWith('Publish a pack'));
/** The commands of that section that need no running svc, in their order. */
const commands = [...publishing!.matchAll(/^svc (pack .+?)(?:\s+#.*)?$/gm)].map(([, words]) =>
  words!.trim().split(/\s+/),
);

test('the section on publishing leads from nothing to an installed, signed pack', async (t) => {
  const cwd = scratch(t);
  assert.deepEqual(
    commands.map(([, verb]) => verb),
    ['new', 'check', 'test', 'build', 'sign', 'publish'],
  );
  let key = '';
  for (const words of commands) {
    const { code, stdout, stderr } = await svc([...words, '--json'], { cwd });
    assert.equal(code, 0, `svc ${words.join(' ')}: ${stderr}${stdout}`);
    key = words[1] === 'sign' ? (JSON.parse(stdout) as { public_key: string }).public_key : key;
  }
  const house = await startMarket(t);
  const added = await ask(house, 'POST', '/registries', {
    name: 'ours',
    url: join(cwd, 'registry'),
    public_key: key,
  });
  assert.deepEqual(
    [added.status, added.body.packs, added.body.signed],
    [201, 1, true],
    JSON.stringify(added.body),
  );
  const wanted = { registry: 'ours', pack_id: 'greeter' };
  const { body } = await ask(house, 'POST', '/install', wanted);
  const installed = await ask(house, 'POST', '/install', { ...wanted, confirm: confirmOf(body) });
  assert.equal(installed.status, 201, JSON.stringify(installed.body));
  assert.deepEqual(
    [installed.body.state, installed.body.signed_by, installed.body.skills, installed.body.agents],
    ['active', 'ours', ['greeter-guide'], ['greeter-clerk']],
  );
  assert.deepEqual(await house.json('/api/v1/greeter'), { message: 'Hello operator' });
});
