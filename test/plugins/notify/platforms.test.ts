import assert from 'node:assert/strict';
import { describe, test, type TestContext } from 'node:test';

import { startDingtalk, startWecom, dingtalkPath, wecomPath } from './fakes/robots.ts';
import { feishuPath, startFeishu } from './fakes/feishu.ts';
import { json, type Platform, type Quirk } from './fakes/platform.ts';
import { startReceiver } from './fakes/receiver.ts';
import { slackPath, startSlack } from './fakes/slack.ts';
import { startTelegram, telegramToken, tooManyTelegram } from './fakes/telegram.ts';
import { noticeOf, openOffice, type Office, type OfficeOptions, testClock } from './office.ts';

interface Kind {
  readonly type: string;
  readonly alias: string;
  start(t: TestContext, clock: { now(): number }): Promise<Platform>;
  readonly path: string;
  readonly secret?: string;
  readonly limit: { readonly count: number; readonly perMs: number };
}

const kinds: readonly Kind[] = [
  {
    type: 'webhook',
    alias: 'webhook',
    start: (t) => startReceiver(t, 'shared-s3cret'),
    path: '/hooks/s3cr3t-path',
    secret: 'shared-s3cret',
    limit: { count: 5, perMs: 1_000 },
  },
  {
    type: 'feishu',
    alias: 'im_provider_1',
    start: (t, clock) => startFeishu(t, clock, 'feishu-s3cret'),
    path: feishuPath,
    secret: 'feishu-s3cret',
    limit: { count: 90, perMs: 60_000 },
  },
  {
    type: 'slack',
    alias: 'im_provider_2',
    start: (t) => startSlack(t),
    path: slackPath,
    limit: { count: 50, perMs: 60_000 },
  },
  {
    type: 'dingtalk',
    alias: 'im_provider_3',
    start: (t, clock) => startDingtalk(t, clock, 'SECdingtalk'),
    path: dingtalkPath,
    secret: 'SECdingtalk',
    limit: { count: 18, perMs: 60_000 },
  },
  {
    type: 'wecom',
    alias: 'im_provider_4',
    start: (t, clock) => startWecom(t, clock),
    path: wecomPath,
    limit: { count: 18, perMs: 60_000 },
  },
  {
    type: 'telegram',
    alias: 'im_provider_5',
    start: (t) => startTelegram(t),
    path: '?chat_id=-1001234567890',
    secret: telegramToken,
    limit: { count: 18, perMs: 60_000 },
  },
];

async function meet(
  t: TestContext,
  kind: Kind,
  options: OfficeOptions = {},
): Promise<{ office: Office; platform: Platform; id: number }> {
  const clock = testClock();
  const office = await openOffice(t, { clock, timeoutMs: 300, ...options });
  const platform = await kind.start(t, clock);
  const { id, channel_type: type } = await office.channel({
    channel_type: kind.alias,
    endpoint: platform.url + kind.path,
    ...(kind.secret !== undefined && { secret: kind.secret }),
  });
  assert.equal(type, kind.type);
  return { office, platform, id };
}

/** Labels and texts as an attacker would write them. */
const hostile = {
  summary:
    '<!channel> <at user_id="all">everyone</at> @all @here <b>&amp;</b> </text> "quotes" \\ \u0007 🚨'.repeat(
      20,
    ),
  labels: { evil: '<@U123> & <script>alert(1)</script> @everyone', __proto: 'x' },
  annotations: {
    description: `line\nbreak <a href="https://evil.example">x</a> ${'漢字🚨'.repeat(3_000)}`,
  },
};

describe('every platform', () => {
  for (const kind of kinds) {
    test(`${kind.type} takes a firing, a resolve and a digest, with texts that an attacker wrote`, async (t) => {
      const { office, platform, id } = await meet(t, kind);
      await office.dispatcher.accept(noticeOf(1, 'firing', { incident: hostile }));
      await office.drain();
      await office.dispatcher.accept(noticeOf(1, 'resolved', { incident: hostile }));
      await office.drain();
      for (let incident = 2; incident <= 40; incident += 1) {
        await office.dispatcher.accept(noticeOf(incident, 'firing', { incident: hostile }));
      }
      await office.drain();
      assert.deepEqual(
        office.recorded.map(({ error }) => error).filter(Boolean),
        [],
        `it said ${JSON.stringify(platform.requests.at(-1)?.text).slice(0, 300)}`,
      );
      assert.equal(platform.taken.length, platform.requests.length);
      const messages = platform.taken.filter(({ body }) => (body?.page?.number ?? 1) === 1);
      assert.equal(messages.length, 3);
      // A program gets the texts as they are.
      for (const { text, url } of kind.type === 'webhook' ? [] : platform.taken) {
        assert.doesNotMatch(
          decodeURIComponent(url.href) + text.replaceAll('\\n', ' '),
          /<at\b|<!channel>|(?:^|[^\w])@(?:all|here|everyone|U123)/,
        );
      }
      if (kind.type !== 'webhook') {
        assert.match(platform.taken[0]!.text, /https:\/\/svc\.example\/incidents\/1/);
      }
      if (['slack', 'wecom', 'telegram'].includes(kind.type)) {
        assert.match(platform.taken[0]!.text, /… full: https/, 'a text that was cut leads on');
      }
      assert.equal((await office.shown(id)).degraded, false);
    });

    test(`${kind.type} is never told more in a window than it takes`, async (t) => {
      const { office, platform } = await meet(t, kind);
      const at: number[] = [];
      for (let incident = 1; at.length < kind.limit.count + 15; incident += 1) {
        await office.dispatcher.accept(noticeOf(incident));
        await office.turn();
        while (at.length < platform.requests.length) {
          at.push(office.clock.now());
        }
        office.clock.advance(Math.ceil(kind.limit.perMs / kind.limit.count / 2));
      }
      for (const [index, from] of at.entries()) {
        const inside = at.slice(index).filter((one) => one < from + kind.limit.perMs).length;
        assert.ok(inside <= kind.limit.count, `${inside} within ${kind.limit.perMs} ms`);
      }
      assert.equal(
        platform.taken.length,
        platform.requests.length,
        'the platform has refused none',
      );
    });

    const quirks: readonly (readonly [string, Quirk, 'again' | RegExp])[] = [
      ['is slow', 'slow', 'again'],
      ['resets in the middle of its answer', 'reset', 'again'],
      ['hangs up', 'hang up', 'again'],
      ['answers 500', { status: 500, body: 'oops' }, 'again'],
      ['redirects', 'redirect', /redirect, which is not followed/],
      ['answers with five megabytes', 'huge', /The response is larger than/],
      ['is not there', { status: 404, body: 'gone' }, /answered 404/],
    ];
    // Where the status has said that it was taken, it is not told again: see the tests of misbehaviour.
    const cut = ['is slow', 'resets in the middle of its answer'];
    const unread =
      kind.type === 'webhook'
        ? [...cut, 'answers with five megabytes']
        : kind.type === 'telegram'
          ? cut
          : [];
    for (const [what, quirk, ends] of quirks.filter(([named]) => !unread.includes(named))) {
      test(`${kind.type} ${what}: ${ends === 'again' ? 'it is told again' : `it is tried again only ${what.includes('megabytes') ? 'never' : 'much later'}`}`, async (t) => {
        const { office, platform, id } = await meet(t, kind);
        platform.next(quirk);
        await office.dispatcher.accept(noticeOf(1));
        await office.turn();
        assert.equal(platform.requests.length, 1);
        if (ends === 'again') {
          assert.equal(office.recorded.length, 0);
          office.clock.advance(5_000);
          await office.turn();
          assert.deepEqual(
            [platform.taken.length, office.recorded[0]!.result, office.recorded[0]!.attempts],
            [1, 'sent', 2],
          );
        } else {
          const arrived = what === 'answers with five megabytes';
          const said = [...office.recorded, ...office.delayed];
          assert.deepEqual(
            said.map(({ result }) => result),
            [arrived ? 'failed' : 'delayed'],
          );
          assert.match(said[0]!.error!, ends);
          assert.equal((await office.shown(id)).degraded, !arrived);
          office.clock.advance(200_000);
          await office.turn();
          assert.equal(platform.requests.length, 1);
          office.clock.advance(200_000);
          await office.turn();
          assert.deepEqual(
            [platform.requests.length, platform.taken.length],
            arrived ? [1, 0] : [2, 1],
          );
        }
      });
    }

    test(`${kind.type} says 429 and for how long: it is left alone until then`, async (t) => {
      const { office, platform } = await meet(t, kind);
      const busy: Quirk =
        kind.type === 'telegram'
          ? tooManyTelegram(33)
          : kind.type === 'feishu'
            ? { status: 429, headers: { 'retry-after': '33' } }
            : { status: 429, headers: { 'retry-after': '33' }, body: 'rate_limited' };
      platform.next(busy);
      await office.dispatcher.accept(noticeOf(1));
      await office.turn();
      await office.dispatcher.accept(noticeOf(2));
      office.clock.advance(32_999);
      await office.turn();
      assert.equal(platform.requests.length, 1);
      office.clock.advance(1);
      await office.turn();
      assert.ok(platform.taken.length >= 1);
    });

    test(`no part of a key of ${kind.type} shows in what is said about the channel, whatever the platform echoes`, async (t) => {
      const { office, platform, id } = await meet(t, kind);
      const keys = [kind.secret, ...kind.path.split(/[/?&=]/)].filter(
        (part): part is string => part !== undefined && /s3cr?3t|secret/i.test(part),
      );
      platform.always({
        status: 403,
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({
          ok: false,
          errcode: 1,
          description: `bad ${keys.join(' ')}`,
          msg: keys.join(' '),
        }),
      });
      await office.dispatcher.accept(noticeOf(1));
      await office.turn();
      const said = JSON.stringify([
        await office.shown(id),
        office.recorded,
        office.delayed,
        office.announced,
        office.lines,
        await office.deliveries(),
      ]);
      assert.ok(keys.length > 0);
      for (const key of keys) {
        assert.ok(!said.includes(key), `${key} in ${said}`);
      }
      assert.match((await office.shown(id)).degraded_reason!, /403|code/);
    });
  }
});

describe('platforms that answer 200 and mean no', () => {
  const asked = async (t: TestContext, type: string, quirk: Quirk) => {
    const { office, platform, id } = await meet(
      t,
      kinds.find((kind) => kind.type === type)!,
    );
    platform.next(quirk);
    await office.dispatcher.accept(noticeOf(1));
    await office.turn();
    return { office, platform, id, outcome: office.delayed[0] };
  };

  for (const [type, body, degraded] of [
    ['feishu', { code: 19024, msg: 'Key Words Not Found' }, true],
    ['feishu', { code: 9001, msg: 'bad content' }, false],
    ['dingtalk', { errcode: 310000, errmsg: 'keywords not in content' }, true],
    ['wecom', { errcode: 93000, errmsg: 'invalid webhook url' }, true],
    ['wecom', { errcode: 40058, errmsg: 'too long' }, false],
  ] as const) {
    test(`${type} refuses with ${JSON.stringify(body)}: late at once${degraded ? ', and the channel is degraded' : ''}`, async (t) => {
      const { office, id, outcome } = await asked(t, type, json(body));
      assert.equal(outcome?.result, 'delayed');
      assert.match(outcome.error!, /the platform answered with code \d+: /);
      assert.equal((await office.shown(id)).degraded, degraded);
    });
  }

  for (const [type, body, waitMs] of [
    ['feishu', { code: 11232, msg: 'frequency limited' }, 20_000],
    ['dingtalk', { errcode: 410100, errmsg: 'send too fast' }, 600_000],
    ['wecom', { errcode: 45009, errmsg: 'api freq out of limit' }, 60_000],
  ] as const) {
    test(`${type} is too busy (${JSON.stringify(body)}): nothing goes there for ${waitMs / 1000} s`, async (t) => {
      const { office, platform, outcome } = await asked(t, type, json(body));
      assert.equal(outcome?.result, waitMs > 60_000 ? 'delayed' : undefined);
      office.clock.advance(waitMs - 1);
      await office.turn();
      assert.equal(platform.requests.length, 1);
      office.clock.advance(1);
      await office.turn();
      assert.equal(platform.taken.length, 1);
    });
  }

  test('a page of somebody who stands between is no success, and is tried again', async (t) => {
    for (const type of ['feishu', 'slack', 'dingtalk', 'wecom', 'telegram']) {
      const { office, platform } = await asked(t, type, {
        status: 200,
        headers: { 'content-type': 'text/html' },
        body: '<html>Log in to this network</html>',
      });
      assert.equal(office.recorded.length, 0, type);
      await office.drain();
      assert.equal(platform.taken.length, 1, type);
    }
  });

  test('slack says no_service with 200: the channel is degraded', async (t) => {
    const { office, id, outcome } = await asked(t, 'slack', { status: 200, body: 'no_service' });
    assert.equal(outcome!.result, 'delayed');
    assert.equal((await office.shown(id)).degraded_reason, 'the platform answered 200: no_service');
  });
});

test('telegram cannot read the HTML: the same goes as plain text at once', async (t) => {
  const office = await openOffice(t);
  const platform = await startTelegram(t, { htmlBroken: true });
  await office.channel({
    channel_type: 'telegram',
    endpoint: `${platform.url}?chat_id=-1001234567890&message_thread_id=7`,
    secret: telegramToken,
  });
  await office.dispatcher.accept(noticeOf(1, 'firing', { incident: { summary: 'a < b & c' } }));
  await office.turn();
  const [rich, plain] = platform.requests.map(({ body }) => body);
  assert.deepEqual(
    [rich.parse_mode, plain.parse_mode, plain.message_thread_id],
    ['HTML', undefined, 7],
  );
  assert.match(rich.text, /<b>\[FIRING\] warning: a &lt; b &amp; c<\/b>/);
  assert.match(plain.text, /^\[FIRING\] warning: a < b & c\n/);
  assert.deepEqual(
    [platform.taken.length, office.recorded[0]!.result, office.recorded[0]!.attempts],
    [1, 'sent', 1],
  );
});

test('a telegram group that has moved says where to', async (t) => {
  const office = await openOffice(t);
  const platform = await startTelegram(t);
  const { id } = await office.channel({
    channel_type: 'telegram',
    endpoint: `${platform.url}?chat_id=-1001234567890`,
    secret: telegramToken,
  });
  platform.next(
    json(
      {
        ok: false,
        error_code: 400,
        description: 'Bad Request: group chat was upgraded to a supergroup chat',
        parameters: { migrate_to_chat_id: -100777 },
      },
      400,
    ),
  );
  await office.dispatcher.accept(noticeOf(1));
  await office.turn();
  assert.equal(
    (await office.shown(id)).degraded_reason,
    'the group has become -100777; enter that as the endpoint of the channel',
  );
});

test('an address in a private network is refused with the setting that would allow it', async (t) => {
  const office = await openOffice(t, { allow: [] });
  const platform = await startReceiver(t);
  const { id } = await office.channel({ channel_type: 'webhook', endpoint: platform.url });
  await office.dispatcher.accept(noticeOf(1));
  await office.turn();
  assert.equal(platform.requests.length, 0);
  assert.match(
    office.delayed[0]!.error!,
    /this machine; if svc may connect to it, add it to the setting outbound\.allow_private/,
  );
  assert.match((await office.shown(id)).degraded_reason!, /outbound\.allow_private/);
});

test('what is paced goes on being paced after a restart', async (t) => {
  const clock = testClock();
  const office = await openOffice(t, { clock });
  const platform = await startWecom(t, clock);
  await office.channel({ channel_type: 'wecom', endpoint: platform.url + wecomPath });
  for (let incident = 1; incident <= 18; incident += 1) {
    await office.dispatcher.accept(noticeOf(incident));
    await office.turn();
    clock.advance(1_000);
  }
  assert.equal(platform.taken.length, 18);
  const next = office.generation(2, new AbortController().signal);
  await office.dispatcher.accept(noticeOf(19));
  await next.turn();
  assert.equal(platform.requests.length, 18);
  clock.advance(42_000);
  await next.turn();
  assert.equal(platform.taken.length, 19);
});
