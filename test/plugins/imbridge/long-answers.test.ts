import assert from 'node:assert/strict';
import { test } from 'node:test';

import { inParts } from 'svc/im';
import { telegramHtml } from '../../../plugins/im-telegram/html.ts';
import { imOffice, providers, settled, sign } from './office.ts';

const paragraphs = Array.from(
  { length: 120 },
  (_, index) =>
    `${index}. **Load** of web-${index} & its \`pool\` < 90 %: nothing unusual in 日本.`,
);
const long = paragraphs.join('\n\n');

test('a long answer arrives whole, in as many messages as it takes, on each platform', async (t) => {
  const office = await imOffice(t, [{ when: { last: 'everything' }, reply: { text: long } }]);
  for (const provider of providers) {
    const app = await office.connect(provider);
    await office.say(app, { text: 'Tell me everything' });
    await settled(
      () => /web-119\b/.test(app.fake.standing.at(-1)?.text ?? ''),
      () => app.fake,
    );
    const texts = app.fake.standing.map(({ text }) => text);
    const found = [...texts.join('\n').matchAll(/web-(\d+)\b/g)].map(([, number]) =>
      Number(number),
    );
    assert.deepEqual(found, [...paragraphs.keys()], provider);
    assert.ok(texts.length < 12, `${provider}: ${texts.length} messages`);
  }
});

test('an answer that cannot be put where it was announced is excused, with the reason', async (t) => {
  const office = await imOffice(t);
  const app = await office.connect('slack');
  const { standing } = app.fake;
  // The person deletes what was announced: the platform refuses every edit of it.
  standing.push = (...messages) => {
    const count = Array.prototype.push.apply(standing, messages);
    if (messages[0]!.text.startsWith('Working on it')) {
      standing.splice(0);
    }
    return count;
  };
  await office.say(app, { text: 'How are things?' });
  await settled(
    () => standing.length > 0,
    () => app.fake,
  );
  assert.match(standing[0]!.text, /^No answer: .*message_not_found/);
});

test('in a group of Telegram the bot answers what is meant for it', async (t) => {
  const office = await imOffice(t);
  const app = await office.connect('telegram');
  const update = {
    update_id: 7,
    message: {
      message_id: 1,
      chat: { id: '-100', type: 'supergroup' },
      from: { id: 'ann', is_bot: false, username: 'ann' },
      text: 'Lunch at noon?',
    },
  };
  await office.call(app, sign('telegram', app.secrets, JSON.stringify(update), office.now()));
  await office.say(app, { text: 'How are things?', to: '-100', direct: false });
  await settled(
    () => app.fake.standing.some(({ text }) => text === 'All is well.'),
    () => app.fake,
  );
  assert.deepEqual(
    app.fake.standing.map(({ text }) => text),
    ['All is well.'],
  );
});

test('parts end where a reader would stop, and split blocks of code stay blocks', () => {
  const fits = (part: string): boolean => part.length <= 60;
  for (const [text, parts] of [
    ['short', ['short']],
    [`${'a '.repeat(20)}\n\n${'b '.repeat(20)}`, ['a '.repeat(20).trim(), 'b '.repeat(20)]],
    [
      `\`\`\`sh\n${'echo one\n'.repeat(9)}\`\`\`\ndone`,
      [
        `\`\`\`sh\n${'echo one\n'.repeat(5)}\`\`\``,
        `\`\`\`sh\n${'echo one\n'.repeat(4)}\`\`\`\ndone`,
      ],
    ],
    ['x'.repeat(100), ['x'.repeat(56), 'x'.repeat(44)]],
  ] as const) {
    assert.deepEqual(inParts(text, fits, 10), parts);
  }
  const cut = inParts('word '.repeat(100), fits, 3);
  assert.equal(cut.length, 3);
  assert.ok(cut.at(-1)!.endsWith('\n…') && cut.every(fits));
  assert.deepEqual(
    inParts('😀'.repeat(40), (part) => part.length <= 31, 10).filter((part) =>
      /[\ud800-\udbff](?![\udc00-\udfff])/.test(part),
    ),
    [],
  );
});

test('markdown becomes what Telegram can show', () => {
  for (const [text, html] of [
    ['**a** & *b* <c>', '<b>a</b> &amp; <i>b</i> &lt;c&gt;'],
    ['## A **b**\n- one\n- two', '<b>A b</b>\n• one\n• two'],
    ['see `a*b*c` and snake_case_name', 'see <code>a*b*c</code> and snake_case_name'],
    ['```sh\nls <x>\n```\nthen', '<pre><code class="language-sh">ls &lt;x&gt;</code></pre>\nthen'],
    ['| a | b |\n|---|---|\n| long | 1 |', '<pre>a     b\nlong  1</pre>\n'],
    ['[here](https://a.example/x)', 'here (https://a.example/x)'],
    ['**open', '**open'],
  ] as const) {
    assert.equal(telegramHtml(text), html);
  }
});
