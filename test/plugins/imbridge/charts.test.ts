import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';

import { type Provider, imOffice, providers, settled } from './office.ts';

const measures = fileURLToPath(new URL('../../fixtures/plugins/measures', import.meta.url));
const measuring = (query: string) => ({
  when: { last: query },
  times: 1,
  reply: { tool_calls: [{ name: 'metrics_range', arguments: { query } }] },
});
/** Conversations that take a picture. */
const place = (provider: Provider) => (provider === 'slack' ? { to: 'D1' } : {});

test('what an answer has measured is shown below it as a picture, once, on each platform that svc sends pictures to', async (t) => {
  const office = await imOffice(
    t,
    providers.map((provider) => measuring(`load_${provider}`)),
    { plugins: [measures] },
  );
  for (const provider of providers) {
    const app = await office.connect(provider);
    await office.say(app, { text: `Draw load_${provider}`, ...place(provider) });
    const shown = () => app.fake.standing.map(({ text }) => text);
    if (provider === 'dingtalk') {
      await settled(() => shown().includes('All is well.'), shown);
      assert.equal(app.fake.standing.length, 1, 'words alone');
      continue;
    }
    await settled(() => shown().includes('PNG'), shown);
    assert.equal(shown().filter((text) => text === 'PNG').length, 1);
    assert.equal(shown()[0], 'All is well.', 'the words come first');
    const { raw } = app.fake.standing.find(({ text }) => text === 'PNG')!;
    if (provider === 'slack' || provider === 'telegram') {
      assert.equal(
        raw['caption'],
        `load_${provider}, 2026-11-30T12:00:00Z to 2026-11-30T13:00:00Z`,
      );
    }
  }
});

test('without a picture an answer still arrives: where the platform refuses it, and of a result that was too large', async (t) => {
  const office = await imOffice(t, [measuring('load_1'), measuring('load_19')], {
    plugins: [measures],
  });
  const app = await office.connect('slack');
  // A person, not a conversation: files need one.
  await office.say(app, { text: 'Draw load_1', to: 'U1' });
  await settled(() => app.fake.standing.at(-1)?.text === 'All is well.');
  await office.say(app, { text: 'Draw load_19', to: 'D1' });
  await settled(
    () =>
      app.fake.standing.at(-1)?.to === 'D1' && app.fake.standing.at(-1)!.text === 'All is well.',
  );
  await office.say(app, { text: 'And now?', to: 'D1' });
  await settled(() => app.fake.standing.length === 3);
  assert.ok(app.fake.standing.every(({ text }) => text !== 'PNG'));
});
