import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';

import { listening } from '../alert-sources/house.ts';
import { imOffice, settled } from './office.ts';

test('a sixth platform is one more plugin: its apps are connected, proven, answered and linked, and go with it', async (t) => {
  const office = await imOffice(t, [], {
    plugins: [fileURLToPath(new URL('./im-moss', import.meta.url))],
  });
  const said: { to: string; text: string }[] = [];
  const fake = createServer((request, response) => {
    const parts: Buffer[] = [];
    request.on('data', (part: Buffer) => parts.push(part));
    request.on('end', () => {
      said.push(JSON.parse(Buffer.concat(parts).toString()) as { to: string; text: string });
      response.end('{}');
    });
  });
  const port = await listening(fake);
  t.after(() => fake.close());
  const draft = {
    provider: 'moss',
    name: 'Moss',
    app_id: 'm1',
    verify_token: 'green',
    endpoint: `http://127.0.0.1:${port}`,
    allow_from: ['U1'],
  };
  const { status, body: app } = await office.ask('bob', 'POST', '/im/apps', draft);
  assert.equal(status, 201, JSON.stringify(app));
  const callback = async (id: string, text: string, token = 'green') => {
    const address = `${office.house.url}/api/v1/im/moss/events?app=${app.id}`;
    const answer = await fetch(address, {
      method: 'POST',
      headers: { 'x-moss-token': token },
      body: JSON.stringify({ id, from: 'U1', text }),
    });
    return [answer.status, await answer.text()] as const;
  };
  assert.deepEqual(await callback('1', 'hello', 'brown'), [401, '']);
  for (let time = 0; time < 5; time++) {
    assert.deepEqual(await callback('1', 'How is it?'), [200, '{"taken":true}']);
  }
  await settled(() => said.length > 0);
  const { body: code } = await office.ask('vera', 'POST', '/im/links');
  await callback('2', `/link ${code.code}`);
  await settled(
    () => said.some(({ text }) => text.includes('linked to vera')),
    () => said,
  );
  assert.deepEqual(
    said.filter(({ text }) => text === 'All is well.').length,
    1,
    'five times told, once answered',
  );

  await office.house.host.disable('im-moss');
  assert.deepEqual(
    await callback('3', 'gone'),
    [503, ''],
    'without its room its platform is to come back later',
  );
  assert.equal(
    (await office.ask('bob', 'POST', '/im/apps', { ...draft, name: 'Other' })).status,
    400,
  );
  await office.house.host.enable('im-moss');
  await callback('4', '/help');
  await settled(() => said.some(({ text }) => text.includes('/incidents')));
});
