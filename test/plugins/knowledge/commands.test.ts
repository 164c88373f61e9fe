import assert from 'node:assert/strict';
import { test } from 'node:test';

import { scratch, svc } from '../../cli/launcher.ts';
import { knowledgeHouse } from './house.ts';

test('the commands find a document by a question, and print it with its lines', async (t) => {
  const { house, add } = await knowledgeHouse(t);
  const content = '# Mail is late\n\n1. Look at the queue:\n\n       mailq\n';
  const { id } = await add('mail/late.md', content, { tags: ['mail'] });
  await add('mail/lost.md', '# Mail is lost\n\nThe queue is empty.\n');
  const call = (...args: string[]) =>
    svc([...args, '--url', house.url, '--token', 'anna', '--data', scratch(t)]);

  const found = await call(
    'knowledge',
    'search',
    'late mail',
    '--limit',
    '1',
    '--tag',
    'mail',
    '--path',
    'mail',
  );
  assert.equal(found.code, 0, found.stderr);
  assert.match(
    found.stdout,
    new RegExp(
      String.raw`^ID +PATH +HEADING +SCORE\n${id} +mail/late\.md +Mail is late +[\d.]+\n$`,
    ),
  );
  assert.match((await call('knowledge', 'search', 'xylophone')).stdout, /^No matching documents/);
  assert.equal((await call('knowledge', 'show', String(id))).stdout, content);
  assert.equal((await call('knowledge', 'show', 'mail/late.md')).stdout, content);
  await add('hosts/mail-late.md', content);
  assert.equal(
    (await call('knowledge', 'show', 'playbook://hosts/mail-late.md')).stdout,
    content,
    'as rules and reports name it',
  );
  assert.match(
    (await call('knowledge', 'show', 'playbook://hosts/none.md')).stderr,
    /There is no document "playbook:\/\/hosts\/none\.md"/,
  );
});
