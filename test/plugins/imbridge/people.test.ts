import assert from 'node:assert/strict';
import { test } from 'node:test';

import { callback, type ImApp, type ImOffice, imOffice, settled } from './office.ts';

/** Says it and returns the one answer that follows. */
async function answerTo(
  office: ImOffice,
  app: ImApp,
  act: Parameters<ImOffice['say']>[1],
): Promise<string> {
  const before = app.fake.standing.length;
  await office.say(app, act);
  await settled(
    () => app.fake.standing.length > before && !/^…$|^Working/.test(app.fake.standing.at(-1)!.text),
    () => app.fake.standing,
  );
  return app.fake.standing.at(-1)!.text;
}

test('an account is linked by a code that is good once, for ten minutes, and not in a group', async (t) => {
  const office = await imOffice(t);
  const app = await office.connect('feishu');
  const codeOf = async () => (await office.ask('vera', 'POST', '/im/links')).body.code as string;
  const code = await codeOf();
  assert.match(
    await answerTo(office, app, { text: `/link ${code}`, from: 'U2', to: 'C1', direct: false }),
    /direct message/,
  );
  assert.match(
    await answerTo(office, app, { text: `/link ${code}`, from: 'U2' }),
    /wrong, used or expired/,
    'others have seen it',
  );
  const late = await codeOf();
  office.clock.ahead += 11 * 60_000;
  assert.match(await answerTo(office, app, { text: `/link ${late}`, from: 'U2' }), /wrong, used/);
  const good = await codeOf();
  assert.match(
    await answerTo(office, app, { text: `/link ${good}`, from: 'U2' }),
    /linked to vera/,
  );
  assert.match(await answerTo(office, app, { text: `/link ${good}`, from: 'U9' }), /wrong, used/);
  const { items } = (await office.ask('vera', 'GET', '/im/links')).body;
  assert.deepEqual([items.length, items[0].sender, items[0].user_id], [1, 'U2', 6]);
  assert.equal((await office.ask('anna', 'GET', '/im/links')).body.items.length, 0);
  assert.equal(
    (await office.ask('anna', 'DELETE', `/im/links/${items[0].id}`)).status,
    404,
    'of another',
  );
  assert.equal((await office.ask('token of vera', 'POST', '/im/links')).status, 403);
  office.people.vera.status = 'disabled';
  assert.match(
    await answerTo(office, app, { text: '/ack 1', from: 'U2' }),
    /Link your account first/,
    'at once',
  );
});

test('whoever is not linked and not allowed is told how, or, where everybody finds the bot, nothing at all', async (t) => {
  const office = await imOffice(t);
  const [slack, telegram] = [
    await office.connect('slack', { allow_from: [] }),
    await office.connect('telegram', { allow_from: ['U5'] }),
  ];
  assert.match(await answerTo(office, slack, { text: 'How are things?' }), /Link your account/);
  assert.match(
    await answerTo(office, slack, { text: '/incidents', from: 'U4' }),
    /linked accounts/,
  );
  await office.say(telegram, { text: 'How are things?', from: 'U4' });
  assert.equal(await answerTo(office, telegram, { text: 'And now?', from: 'U5' }), 'All is well.');
  assert.equal(telegram.fake.standing.length, 1);
  assert.equal(office.model.requests.length, 1);
});

test('a stranger sees no device once an organization shows its members some alone', async (t) => {
  const office = await imOffice(t);
  const app = await office.connect('slack', { allow_from: ['U5'] });
  const offered = async (): Promise<readonly string[]> => {
    assert.equal(
      await answerTo(office, app, { text: 'How are things?', from: 'U5' }),
      'All is well.',
    );
    return office.model.requests.at(-1)!.body.tools!.map(({ function: { name } }) => name);
  };
  assert.ok((await offered()).includes('sample_safe'));
  office.people.vera.selectors = ['customer=acme'];
  const narrowed = await offered();
  assert.ok(
    !narrowed.includes('sample_safe') && narrowed.includes('tool_search'),
    'what cannot be narrowed is not offered',
  );
});

test('a stranger who floods a room is told so once and left without answers; who is on call there still has theirs', async (t) => {
  const office = await imOffice(t, [], { environment: { SVC_IM_PER_MINUTE: '3' } });
  const app = await office.connect('feishu', { allow_from: ['*'] });
  await office.link(app, 'vera', 'U2');
  const before = app.fake.standing.length;
  for (let at = 0; at < 6; at++) {
    await office.say(app, { text: `/help ${at}`, from: 'U9', to: 'C1', direct: false });
  }
  for (let at = 0; at < 6; at++) {
    await office.say(app, { text: '/ack 404', from: 'U2', to: 'C1', direct: false });
  }
  const answers = () =>
    app.fake.standing
      .slice(before)
      .map(({ text }) =>
        text.startsWith('Ask in') ? 'help' : text.startsWith('Only 3') ? 'enough' : 'ack',
      );
  const times = (word: string): number => answers().filter((answer) => answer === word).length;
  // Messages of a group that is no thread are answered side by side.
  await settled(() => times('help') >= 3 && times('ack') >= 3 && times('enough') >= 2, answers);
  assert.deepEqual([...new Set(answers())].toSorted(), ['ack', 'enough', 'help']);
  assert.deepEqual([times('help'), times('ack')], [3, 3]);
});

test('the same message a hundred times at once is one question; each thread and person has a session of its own', async (t) => {
  const office = await imOffice(t);
  const app = await office.connect('slack', { allow_from: ['*'] });
  const signed = callback(
    'slack',
    app.secrets,
    { text: 'How are things?', key: 'same' },
    office.now(),
  );
  const all = await Promise.all(Array.from({ length: 100 }, () => office.call(app, signed)));
  assert.deepEqual([...new Set(all.map(({ status }) => status))], [200]);
  await settled(() => app.fake.standing.at(-1)?.text === 'All is well.');
  assert.equal((await office.call(app, signed)).status, 200);
  assert.deepEqual([app.fake.standing.length, office.model.requests.length], [1, 1]);
  const rows = ['r1', 'r2', 'r3'].map((key) =>
    callback('slack', app.secrets, { text: `/help ${key}`, key, from: 'U8' }, office.now()),
  );
  for (const at of [2, 0, 2, 1, 0, 2, 1]) {
    assert.equal((await office.call(app, rows[at]!)).status, 200, 'repeated in any order');
  }
  await settled(() => app.fake.standing.length === 4);
  await answerTo(office, app, { text: 'And now?', key: 'next' });
  await answerTo(office, app, { text: 'And for me?', from: 'U7', to: 'U1' });
  await answerTo(office, app, { text: '/new' });
  await answerTo(office, app, { text: 'Once more?' });
  const { items } = (await office.ask('bob', 'GET', '/chat/sessions?all=true')).body;
  assert.deepEqual(items.map(({ title }: { title: string }) => title).toSorted(), [
    'And for me?',
    'How are things?',
    'Once more?',
  ]);
});

test('an answer grows in its message, no faster than the platform allows, and is there whole after every mishap', async (t) => {
  const office = await imOffice(t);
  for (const provider of ['slack', 'feishu', 'wecom', 'dingtalk', 'telegram'] as const) {
    const app = await office.connect(provider);
    for (const mischief of ['limited', 'down', 'reset', 'lost-answer', 'expired'] as const) {
      if (mischief === 'expired' && (provider === 'slack' || provider === 'telegram')) {
        continue;
      }
      app.fake.mischief.push(mischief);
      const before = app.fake.standing.length;
      await office.say(app, { text: `What of ${mischief}?`, from: `U${1 + (before % 3)}` });
      await settled(
        () => app.fake.standing.slice(before).some(({ text }) => text === 'All is well.'),
        () => [provider, mischief, app.fake.standing],
      );
      assert.equal(
        app.fake.standing.slice(before).filter(({ text }) => text === 'All is well.').length,
        1,
        `${provider} ${mischief}`,
      );
    }
  }
});

test('a change is approved by buttons that are good for what was shown, by people who may, each once, two where two are needed', async (t) => {
  const call = {
    when: { turn: 1, last: 'Wipe' },
    reply: { tool_calls: [{ name: 'sample_dangerous', arguments: { host: 'db-3' } }] },
  };
  const long = {
    when: { turn: 1, last: 'Erase' },
    reply: { tool_calls: [{ name: 'sample_dangerous', arguments: { host: 'db '.repeat(600) } }] },
  };
  const office = await imOffice(t, [call, long, { when: { turn: 2 }, reply: { text: 'Wiped.' } }]);
  await office.allowWrites();
  Object.assign(office.people.anna, { grants: ['device:*', 'skill:*', 'approval:*'] });
  const app = await office.connect('slack');
  await office.link(app, 'anna', 'U1');
  await office.link(app, 'carl', 'U2');
  await office.link(app, 'vera', 'U3');
  const before = app.fake.standing.length;
  await office.say(app, { text: 'Wipe db-3.' });
  const cards = () =>
    app.fake.standing.slice(before).filter(({ text }) => text.includes('Waiting for 2'));
  await settled(
    () => cards().length === 2,
    () => app.fake.standing.slice(before),
  );
  assert.deepEqual(
    cards()
      .map(({ to }) => to)
      .toSorted(),
    ['U1', 'U2'],
    'the thread of who asked, and who else may sign',
  );
  const tokenOf = (to: string, verb: string) =>
    new RegExp(`/${verb} ([\\w-]+)`).exec(cards().find((card) => card.to === to)!.text)![1]!;
  const [own, others] = [tokenOf('U1', 'approve'), tokenOf('U2', 'approve')];
  assert.match(
    await answerTo(office, app, { text: others, from: 'U3', pressed: true }),
    /approval:sign/,
  );
  assert.match(
    await answerTo(office, app, { text: `/approve ${others}`, from: 'U9' }),
    /Link your account/,
  );
  assert.match(
    await answerTo(office, app, { text: own, from: 'U1', pressed: true }),
    /anna.* has approved.*one more person/,
  );
  assert.match(
    await answerTo(office, app, { text: own, from: 'U1', pressed: true }),
    /already signed this/,
  );
  assert.deepEqual(office.done, []);
  await office.say(app, { text: others, from: 'U2', pressed: true });
  await settled(
    () => app.fake.standing.slice(before).some(({ text }) => text === 'Wiped.'),
    () => app.fake.standing.slice(before),
  );
  assert.deepEqual(office.done, [{ tool: 'dangerous', params: { host: 'db-3', times: 1 } }]);
  const { items } = (await office.ask('bob', 'GET', '/approvals')).body;
  const { body } = await office.ask('bob', 'GET', `/approvals/${items[0].id}`);
  assert.deepEqual(
    [body.status, body.signatures.map(({ method }: { method: string }) => method)],
    ['executed', ['chat', 'chat']],
  );
  assert.ok(
    office.rows.some(
      ({ action, status, ip }) =>
        action === 'approval:approve' && status === 'failure' && ip === 'im:slack',
    ),
    'what was refused stands in the trail',
  );
  assert.match(await answerTo(office, app, { text: others, from: 'U2', pressed: true }), /already/);
  await office.say(app, { text: '/new' });
  await office.say(app, { text: 'Erase all of it.' });
  const longCards = () =>
    app.fake.standing.slice(before).filter(({ text }) => text.includes('only the beginning'));
  await settled(
    () => longCards().length > 0,
    () => app.fake.standing.slice(before),
  );
  assert.ok(
    longCards().every(({ text }) => text.includes('in the console') && !text.includes('/approve')),
    'what a message cannot show whole is not signed there',
  );
});

test('what is approved is what was shown: a button of other arguments, of another app or of old is good for nothing', async (t) => {
  const call = {
    when: { turn: 1, last: 'Restart' },
    reply: { tool_calls: [{ name: 'sample_mutating', arguments: { host: 'db-3' } }] },
  };
  const office = await imOffice(t, [call, { when: { turn: 2 }, reply: { text: 'Over.' } }]);
  await office.allowWrites();
  const [one, two] = [await office.connect('telegram'), await office.connect('telegram', {}, 2)];
  await office.link(one, 'anna', 'U1');
  await office.link(two, 'anna', 'U1');
  const before = one.fake.standing.length;
  await office.say(one, { text: 'Restart db-3.' });
  await settled(
    () => one.fake.standing.slice(before).some(({ text }) => text.includes('/approve')),
    () => one.fake.standing,
  );
  await settled(
    () => two.fake.standing.at(-1)!.text.includes('/approve'),
    () => two.fake.standing,
  );
  const [, approve, deny] = /approve ([\w-]+) or \/deny ([\w-]+)/.exec(
    one.fake.standing.at(-1)!.text,
  )!;
  assert.match(await answerTo(office, two, { text: approve!, pressed: true }), /no longer valid/);
  assert.match(await answerTo(office, one, { text: `/approve ${deny!}` }), /no longer valid/);
  await office.say(one, { text: deny!, pressed: true });
  await settled(
    () => one.fake.standing.some(({ text }) => text === 'Over.'),
    () => one.fake.standing,
  );
  assert.deepEqual(office.done, []);
});
