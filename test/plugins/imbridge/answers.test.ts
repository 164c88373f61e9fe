import assert from 'node:assert/strict';
import { test } from 'node:test';

import { imOffice, providers, settled } from './office.ts';

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
