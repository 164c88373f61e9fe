import assert from 'node:assert/strict';
import { test } from 'node:test';

import type Database from 'better-sqlite3';

import { imOffice, providers, settled } from './office.ts';
import { storedIn } from '../../kit/stored.ts';

test('a question on each platform is answered in one message, in a session of its thread', async (t) => {
  const office = await imOffice(t, [
    {
      when: { last: 'Who' },
      reply: { text: 'See ![x](http://evil.example/p.png) @here <!channel> <at id=all></at>.' },
    },
  ]);
  for (const provider of providers) {
    const app = await office.connect(provider);
    await office.say(app, { text: 'How are things?' });
    await settled(
      () => app.fake.standing.at(-1)?.text === 'All is well.',
      () => app.fake,
    );
    assert.equal(app.fake.standing.length, 1, provider);
    await office.say(app, { text: 'Who is here?' });
    await settled(
      () => /See/.test(app.fake.standing.at(-1)!.text),
      () => app.fake,
    );
    const { text } = app.fake.standing.at(-1)!;
    assert.doesNotMatch(text, /evil|@here|<!channel>|<at/, provider);
  }
});

test('a message that a version without jobs has left is answered once, and one that it has answered stays so', async (t) => {
  const office = await imOffice(t);
  const app = await office.connect('slack');
  await office.say(app, { text: 'How are things?', key: 'answered' });
  await settled(
    () => app.fake.standing.at(-1)?.text === 'All is well.',
    () => app.fake,
  );
  app.fake.mischief.push(...Array.from({ length: 100 }, () => 'down' as const));
  await office.say(app, { text: 'And now?', key: 'left' });
  const database = storedIn(office.house.dataDir, { timeout: 0 });
  t.after(() => database.close());
  const tries = (): number =>
    (database.prepare('SELECT max(epoch) AS tries FROM imbridge_work').get() as { tries: number })
      .tries ?? 0;
  await settled(
    () => tries() > 0,
    () => app.fake,
  );
  // As it was before there were jobs: the row alone, with its tries.
  await office.house.host.disable('imbridge');
  // Who holds the writer is of this thread, so that waiting for it would be for ever.
  await settled(
    () => isWritten(database),
    () => 'the database stays locked',
  );
  app.fake.mischief.length = 0;
  await office.house.host.enable('imbridge');
  await settled(
    () => app.fake.standing.length === 2 && app.fake.standing[1]!.text === 'All is well.',
    () => app.fake,
  );
  const states = database.prepare('SELECT state FROM imbridge_jobs ORDER BY id').pluck();
  await settled(
    () => states.all().join() === 'done,done',
    () => states.all(),
  );
});

function isWritten(database: Database.Database): boolean {
  try {
    database.exec(
      "DELETE FROM imbridge_work; UPDATE imbridge_jobs SET tries = 3 WHERE state = 'queued'",
    );
    return true;
  } catch {
    return false;
  }
}
