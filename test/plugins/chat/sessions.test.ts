import assert from 'node:assert/strict';
import { test } from 'node:test';

import { agentHouse, withoutTail } from './house.ts';

const sessions = '/chat/sessions';

test('sessions are opened, found, renamed, tagged and deleted by their owner', async (t) => {
  const kit = await agentHouse(t, { rules: [{ reply: { text: 'Yes.' } }] });
  const made = await kit.ask('anna', 'POST', sessions, {
    title: 'Disks',
    tags: ['db', 'db', 'night'],
    agent: 'sre',
    related_incident_id: 7,
  });
  assert.equal(made.status, 201);
  const { id, created_at: at, ...rest } = made.body;
  assert.deepEqual(rest, {
    title: 'Disks',
    tags: ['db', 'night'],
    agent: 'sre',
    related_incident_id: 7,
    user_id: 3,
    updated_at: at,
    last_message_at: null,
  });
  const titles = async (query = '', who: 'anna' | 'bob' | 'carl' = 'anna') =>
    (await kit.ask(who, 'GET', `${sessions}${query}`)).body.items.map(
      ({ title }: { title: string }) => title,
    );
  assert.deepEqual(await titles(), ['Disks', 'New session']);
  // The latest message comes first, and names a session that has no name.
  await kit.send('  Why is\n db-3   slow?  ');
  assert.deepEqual(await titles(), ['Why is db-3 slow?', 'Disks']);
  const odd = ['a_b', '50%', 'say "x"', 'back\\slash'];
  await kit.ask('anna', 'POST', sessions, { title: '100% of disk_1', tags: odd });
  for (const [query, found] of [
    ...[
      ['tag=night', ['Disks']] as const,
      ['tag=nigh', []] as const,
      ['tag=NIGHT', []] as const,
      ['tag=axb', []] as const,
    ],
    ...odd.map((tag) => [`tag=${encodeURIComponent(tag)}`, ['100% of disk_1']] as const),
    ...[
      ['q=disk_', ['100% of disk_1']] as const,
      ['q=DISKS', ['Disks']] as const,
      ['q=%25', ['100% of disk_1']] as const,
      ['q=is_', []] as const,
    ],
  ] as const) {
    assert.deepEqual(await titles(`?${query}`), found, query);
  }
  assert.equal(
    (
      await kit.ask(
        'anna',
        'DELETE',
        `${sessions}/${(await kit.ask('anna', 'GET', `${sessions}?tag=a_b`)).body.items[0].id}`,
      )
    ).status,
    204,
  );

  const renamed = await kit.ask('anna', 'PATCH', `${sessions}/${id}`, {
    title: 'Full disks',
    tags: [],
  });
  assert.deepEqual(
    [renamed.status, renamed.body.title, renamed.body.tags],
    [200, 'Full disks', []],
  );
  await kit.send('Which?', id);
  assert.equal((await titles())[0], 'Full disks', 'a title that a person gave is not replaced');
  for (const wrong of [
    {},
    { title: '  ' },
    { title: 'x'.repeat(201) },
    { tags: Array.from({ length: 21 }, (_, index) => `t${index}`) },
  ]) {
    assert.equal(
      (await kit.ask('anna', 'PATCH', `${sessions}/${id}`, wrong)).status,
      400,
      JSON.stringify(wrong),
    );
  }

  assert.equal((await kit.ask('anna', 'DELETE', `${sessions}/${id}`)).status, 204);
  assert.equal((await kit.ask('anna', 'GET', `${sessions}/${id}/messages`)).status, 404);
  assert.equal((await kit.ask('anna', 'DELETE', `${sessions}/${id}`)).status, 404);
});

test('history comes in pages, in both orders', async (t) => {
  const kit = await agentHouse(t, {
    rules: [
      {
        reply: ({ messages }) => ({
          text: `Answer to ${withoutTail(String(messages.at(-1)!.content))}`,
        }),
      },
    ],
  });
  for (const content of ['one', 'two', 'three']) {
    await kit.send(content);
  }
  const page = async (query: string) =>
    (await kit.ask('anna', 'GET', `${sessions}/${kit.session}/messages?${query}`)).body;
  const said = ({ items }: { items: { content: string }[] }) => items.map(({ content }) => content);
  const first = await page('order=asc&limit=4');
  assert.deepEqual(said(first), ['one', 'Answer to one', 'two', 'Answer to two']);
  assert.deepEqual(
    said(await page(`order=asc&limit=4&cursor=${encodeURIComponent(first.next_cursor)}`)),
    ['three', 'Answer to three'],
  );
  assert.deepEqual(said(await page('limit=2')), ['Answer to three', 'three']);
  const { role, agent, model, usage, finish_reason: finish } = (await page('limit=1')).items[0];
  assert.deepEqual(
    [role, agent, model, finish, usage.total_tokens > 0],
    ['assistant', 'sre', 'compatible/demo', 'stop', true],
  );
});

test('a session is its owner’s: another does not find it, an administrator reads it and writes nothing into it', async (t) => {
  const kit = await agentHouse(t, { rules: [{ reply: { text: 'Yes.' } }] });
  const { run_id: run } = await kit.send('Is it mine?');
  const paths = [
    ['GET', `/messages`],
    ['GET', `/runs`],
    ['GET', `/runs/${run}`],
    ['GET', `/messages/stream?run_id=${run}`],
    ['POST', `/runs/${run}/cancel`],
    ['PATCH', ''],
    ['DELETE', ''],
    ['POST', '/messages'],
    ['POST', '/messages/stream'],
  ] as const;
  const body = (method: string, path: string) =>
    method === 'GET' || path.endsWith('cancel') || method === 'DELETE'
      ? undefined
      : path === ''
        ? { title: 'Mine' }
        : { content: 'And now?' };
  for (const [method, path] of paths) {
    assert.equal(
      (await kit.ask('carl', method, `${sessions}/${kit.session}${path}`, body(method, path)))
        .status,
      404,
      `${method} ${path}`,
    );
  }
  // A run of one's own session is not found in another, nor one of another's in one's own.
  const other = (await kit.ask('carl', 'POST', sessions, {})).body.id as string;
  assert.equal((await kit.ask('carl', 'GET', `${sessions}/${other}/runs/${run}`)).status, 404);
  assert.equal(
    (await kit.ask('carl', 'GET', `${sessions}/${other}/messages/stream?run_id=${run}`)).status,
    404,
  );
  assert.equal(
    (await kit.ask('anna', 'GET', `${sessions}/${await kit.newSession()}/runs/${run}`)).status,
    404,
  );

  assert.deepEqual((await kit.ask('bob', 'GET', `${sessions}?all=true`)).body.items.length, 3);
  assert.deepEqual((await kit.ask('carl', 'GET', `${sessions}?all=true`)).body.items.length, 1);
  assert.equal(
    (await kit.ask('bob', 'GET', `${sessions}/${kit.session}/messages`)).body.items.length,
    2,
  );
  for (const path of ['/messages', '/messages/stream']) {
    const refused = await kit.ask('bob', 'POST', `${sessions}/${kit.session}${path}`, {
      content: 'Delete all.',
    });
    assert.deepEqual(
      [refused.status, refused.body.message],
      [
        403,
        'This session belongs to another user; create your own with POST /api/v1/chat/sessions.',
      ],
      path,
    );
  }
  assert.equal(kit.fake.requests.length, 1);
});

test('a stream is followed from where its reader was, whatever else a Last-Event-ID says', async (t) => {
  const kit = await agentHouse(t, { rules: [{ reply: { text: 'One answer.' } }] });
  const [one, two] = [await kit.send('One?'), await kit.send('Two?')];
  const follow = async (run: string, last: string) => {
    const answer = await kit.house.fetch(
      `/api/v1${sessions}/${kit.session}/messages/stream?run_id=${run}`,
      {
        headers: { authorization: 'Bearer anna', 'last-event-id': last },
      },
    );
    assert.equal(answer.status, 200);
    return [...(await answer.text()).matchAll(/^id: (.*)$/gm)].map(([, id]) => id!);
  };
  const all = await follow(one.run_id, '');
  assert.deepEqual(await follow(one.run_id, all[3]!), all.slice(4));
  for (const foreign of [
    `${two.run_id}.3`,
    'nonsense',
    `${one.run_id}.x`,
    '../../etc/passwd.2',
    `${one.run_id}`,
  ]) {
    assert.deepEqual(await follow(one.run_id, foreign), all, foreign);
  }
  assert.deepEqual(await follow(one.run_id, `${one.run_id}.99999999999999999999`), []);
});
