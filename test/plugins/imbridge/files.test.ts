import assert from 'node:assert/strict';
import { test } from 'node:test';

import { textOf } from '../../../plugins/model/cli/fake-model/chat-request.ts';
import { callback, imOffice, settled } from './office.ts';

const textFile = (name: string, text: string, type = 'text/plain') => ({
  name,
  type,
  bytes: Buffer.from(text),
});

for (const provider of ['slack', 'telegram', 'feishu', 'dingtalk'] as const) {
  test(`a text file that a person of ${provider} sends is read; one that is none, or too large, is refused in a sentence`, async (t) => {
    const office = await imOffice(t);
    const app = await office.connect(provider);
    const answer = async (file: ReturnType<typeof textFile>): Promise<string> => {
      const before = app.fake.standing.length;
      await office.say(app, { text: 'Why?', files: [file] });
      const last = (): string => app.fake.standing[before]?.text ?? '';
      await settled(
        () => /All is well|Not read/.test(last()),
        () => app.fake,
      );
      return last();
    };
    app.fake.mischief.push('down');
    assert.equal(await answer(textFile('app.log', 'line 1: <disk> full\n\tat x')), 'All is well.');
    const { messages } = office.model.requests.at(-1)!.body;
    assert.match(
      textOf(messages.findLast(({ role }) => role === 'user')!),
      /(?:Why|What does this show).*\n\n.*data.*\n\n<enclosure title="file app\.log">\nline 1: <disk> full\n\tat x\n<\/enclosure>/,
    );
    for (const file of [
      textFile('core.bin', 'ELF\u0000\u0001'),
      { ...textFile('latin.txt', ''), bytes: Buffer.from([0x66, 0xe9, 0x65]) },
      textFile('big.log', 'x'.repeat(64 * 1024 + 1)),
    ]) {
      const said = await answer(file);
      assert.ok(said.includes(`Not read: ${file.name}. A message may bring 3 text files`), said);
    }
    assert.ok((await answer(textFile('a.txt', 'x'.repeat(64 * 1024)))).endsWith('All is well.'));
  });
}

test('the token of the bot goes to no address but that of the platform', async (t) => {
  const office = await imOffice(t);
  const app = await office.connect('slack');
  const elsewhere = await office.connect('slack', {}, 2);
  const file = { ...textFile('x.log', 'x'), url: `${elsewhere.fake.url}/files-pri/x.log` };
  const signed = callback('slack', app.secrets, { text: 'Why?', files: [file] }, office.now());
  await office.call(app, signed);
  await settled(
    () => /Not read: x\.log/.test(app.fake.standing.at(-1)?.text ?? ''),
    () => app.fake,
  );
  assert.deepEqual(elsewhere.fake.asked, []);
});

test('an answer that would take many messages is sent as a file, and as messages where the platform refuses files', async (t) => {
  const paragraphs = Array.from(
    { length: 300 },
    (_, index) =>
      `${index}. Load of web-${index}: nothing unusual, as in each of the hours before.`,
  );
  const text = paragraphs.join('\n\n');
  const office = await imOffice(t, [{ when: { last: 'everything' }, reply: { text } }]);
  for (const provider of ['slack', 'telegram', 'wecom'] as const) {
    const app = await office.connect(provider);
    const to = provider === 'slack' ? { to: 'D1' } : {};
    await office.say(app, { text: 'Tell me everything', ...to });
    await settled(
      () =>
        app.fake.standing.some(({ raw }) => raw['file'] !== undefined) &&
        app.fake.standing.some(({ text: said }) => /whole answer is in the file/.test(said)),
      () => app.fake.standing.map((one) => one.text.slice(0, 80)),
    );
    const file = app.fake.standing.find(({ raw }) => raw['file'] !== undefined)!;
    assert.equal(file.text, text);
    const shown = app.fake.standing.find(({ text: said }) => /in the file/.test(said))!.text;
    assert.ok(
      shown.includes(`the file ${String(file.raw['file'])}.`) && shown.startsWith('0. Load'),
    );
    assert.equal(app.fake.standing.length, 2, provider);
  }
  // A conversation that Slack takes no file in: named by a person.
  const app = await office.connect('slack', {}, 2);
  await office.say(app, { text: 'Tell me everything', to: 'U1' });
  await settled(
    () => /web-299/.test(app.fake.standing.at(-1)?.text ?? ''),
    () => app.fake.standing.length,
  );
  const found = app.fake.standing.flatMap(({ text: said }) => [...said.matchAll(/web-(\d+)\b/g)]);
  assert.deepEqual(
    found.map(([, number]) => Number(number)),
    [...paragraphs.keys()],
  );
});
