import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { describe, test } from 'node:test';

import type { ImApp as App, ImPlatform } from 'svc/contracts/imbridge';
import { opened, sameSecret, sha1Hex, signed } from 'svc/im';

import { dingtalk } from '../../../plugins/im-dingtalk/dingtalk.ts';
import { feishu } from '../../../plugins/im-feishu/feishu.ts';
import { packed, unpacked } from '../../../plugins/im-feishu/frame.ts';
import { slack } from '../../../plugins/im-slack/slack.ts';
import { telegram } from '../../../plugins/im-telegram/telegram.ts';
import { elementsOf } from '../../../plugins/im-wecom/elements.ts';
import { wecom } from '../../../plugins/im-wecom/wecom.ts';
import {
  type AppSecrets,
  callback,
  imOffice,
  type Provider,
  providers,
  secretsOf,
  settled,
  sign,
  type SignedCallback,
  wecomSealed,
} from './office.ts';

const now = Date.UTC(2026, 10, 20, 10);
const ports = {
  fetch: () => Promise.reject(new Error('nothing is fetched to check a proof')),
  clock: { now: () => now },
};
const platforms: Readonly<Record<Provider, ImPlatform>> = {
  slack: slack(ports),
  telegram: telegram(ports),
  feishu: feishu(ports),
  dingtalk: dingtalk(ports),
  wecom: wecom(ports),
};
const appOf = (secrets: AppSecrets): App => ({ id: 'a', endpoint: '', ...secrets });
const received = (
  provider: Provider,
  secrets: AppSecrets,
  { method, headers, query, body }: SignedCallback,
  at = now,
) =>
  platforms[provider].receive(appOf(secrets), {
    method,
    headers,
    query,
    body: Buffer.from(body),
    now: at,
  });

describe('known answers', () => {
  test('Slack: the worked example of its own', () => {
    const body =
      'token=xyzz0WbapA4vBCDEFasx0q6G&team_id=T1DC2JH3J&team_domain=testteamnow&channel_id=G8PSS9T3V&channel_name=foobar&user_id=U2CERLKJA&user_name=roadrunner&command=%2Fwebhook-collect&text=&response_url=https%3A%2F%2Fhooks.slack.com%2Fcommands%2FT1DC2JH3J%2F397700885554%2F96rGlfmibIGlgcZRskXaIFfN&trigger_id=398738663015.47445629121.803a0bc887a14d10d2c447fce8b6703c';
    assert.equal(
      signed('8f742231b10e8888abcd99yyyzzz85a5', `v0:1531420618:${body}`, 'hex'),
      'a2114d57b48eac39b9ad189dd8316235a7b4a8d21a10bd27519666489c69b503',
    );
  });

  test('Feishu: a sealed event', () => {
    const sealed = Buffer.from('P37w+VZImNgPEO1RBhJ6RtKl7n6zymIbEG1pReEzghk=', 'base64');
    const key = createHash('sha256').update('test key').digest();
    assert.equal(
      opened(key, sealed.subarray(0, 16), sealed.subarray(16))?.toString(),
      'hello world',
    );
    assert.equal(
      opened(
        createHash('sha256').update('another').digest(),
        sealed.subarray(0, 16),
        sealed.subarray(16),
      ),
      undefined,
    );
  });

  test('Feishu and DingTalk: signatures of their bots', () => {
    assert.equal(
      signed('1599360473\ndemo', '', 'base64'),
      'l1N0gAcBjdwBvGm1xMjOF0XSyaLRpR7tuO5dHfhAYc8=',
    );
    assert.equal(
      encodeURIComponent(signed('this is secret', '1577262236757\nthis is secret', 'base64')),
      'hmPWwU%2B7lVdm3ZZz0r9tSfx0L4Q26jWOZr9%2BGs6EZQM%3D',
    );
  });

  test('WeCom: the address is made sure of, padded by seven', () => {
    const app = {
      app_id: 'wx5823bf96d3bd56c7:1',
      app_secret: 's',
      verify_token: 'QDG6eK',
      encrypt_key: 'jWmYm7qr5nMoAUwZRjGtBxmz3KA1tkAj3ykkR6q2B2C',
    };
    const echostr =
      'P9nAzCzyDtyTWESHep1vC5X9xho/qYX3Zpb4yKa9SKld1DsH3Iyt3tP3zNdtp+4RPcs8TgAE7OaBO+FZXvnaqQ==';
    const query = {
      msg_signature: '5c45ff5e21c57e6ad56bac8758b79b1d9ac89fd3',
      timestamp: '1409659589',
      nonce: '263014780',
      echostr,
    };
    assert.equal(
      sha1Hex([app.verify_token, query.timestamp, query.nonce, echostr].toSorted().join('')),
      query.msg_signature,
    );
    const given = { method: 'GET' as const, headers: {}, query, body: '' };
    assert.deepEqual(received('wecom', app, given, 1_409_659_589_000), {
      outcome: 'answer',
      body: '1616140317555161061',
      type: 'text/plain',
    });
    assert.deepEqual(received('wecom', app, given), { outcome: 'refused' }, 'years later');
  });

  test('secrets of any lengths are compared, and a frame of a long connection comes back as it went', () => {
    assert.deepEqual(
      [sameSecret('a', 'a'), sameSecret('a', 'aa'), sameSecret('', 'a'), sameSecret('', '')],
      [true, false, false, true],
    );
    const frame = {
      seq: 2n ** 63n,
      log: 5n,
      service: 7,
      method: 1,
      headers: { type: 'event', message_id: 'x' },
      payload: Buffer.from('{}'),
    };
    assert.deepEqual(
      { ...unpacked(packed(frame)), headers: { ...unpacked(packed(frame))!.headers } },
      { ...frame, payload: new Uint8Array(Buffer.from('{}')) },
    );
    for (let cut = 1; cut < packed(frame).length; cut++) {
      unpacked(packed(frame).subarray(0, cut));
    }
    assert.equal(unpacked(Buffer.from([0x2a, 0xff, 0xff, 0xff, 0xff, 0x0f])), undefined);
  });
});

test('what a callback tells is read as the platform means it', () => {
  for (const provider of providers) {
    const secrets = secretsOf(provider);
    const direct = received(
      provider,
      secrets,
      callback(provider, secrets, { text: 'hello', key: '7' }, now),
    );
    assert.ok(direct.outcome === 'events', provider);
    assert.deepEqual(
      [
        direct.events.length,
        direct.events[0]!.text.trim(),
        direct.events[0]!.sender,
        direct.events[0]!.direct,
      ],
      [1, 'hello', 'U1', true],
      provider,
    );
  }
  const group = { text: 'hello', to: 'C1', direct: false, above: '42' };
  for (const provider of ['slack', 'telegram', 'feishu'] as const) {
    const secrets = secretsOf(provider);
    const told = received(provider, secrets, callback(provider, secrets, group, now));
    assert.ok(told.outcome === 'events');
    assert.deepEqual(
      [told.events[0]!.text.trim(), told.events[0]!.replies_to, told.events[0]!.conversation],
      ['hello', ['42'], 'C1'],
      provider,
    );
  }
});

test('a card of Feishu may be signed with the time as Go prints it', () => {
  const secrets = secretsOf('feishu');
  const good = callback('feishu', secrets, { text: 'token', pressed: true }, now);
  const at = '2026-11-20 18:00:01.05 +0800 CST m=+3612.1';
  const signature = createHash('sha256')
    .update(`${at}nonce${secrets.encrypt_key}${good.body}`)
    .digest('hex');
  const headers = {
    ...good.headers,
    'x-lark-request-timestamp': at,
    'x-lark-signature': signature,
  };
  assert.equal(received('feishu', secrets, { ...good, headers }).outcome, 'events');
  assert.equal(received('feishu', secrets, { ...good, headers }, now + 400_000).outcome, 'refused');
});

test('addresses are made sure of only for who proves it', async () => {
  const hello = (provider: Provider, body: object) =>
    sign(provider, secretsOf(provider), JSON.stringify(body), now);
  const challenge = { type: 'url_verification', challenge: 'ch4', token: 'verify-1' };
  assert.deepEqual(received('slack', secretsOf('slack'), hello('slack', challenge)), {
    outcome: 'answer',
    body: '{"challenge":"ch4"}',
    type: 'application/json',
  });
  assert.equal(
    received('slack', secretsOf('slack', 2), hello('slack', challenge)).outcome,
    'refused',
  );
  const sealed = hello('feishu', challenge);
  assert.equal(
    received('feishu', secretsOf('feishu'), { ...sealed, headers: {} }).outcome,
    'answer',
    'the seal and the token are the proof',
  );
  assert.equal(received('feishu', secretsOf('feishu', 2), sealed).outcome, 'refused');
  assert.equal(
    received('feishu', secretsOf('feishu'), { ...sealed, body: JSON.stringify(challenge) }).outcome,
    'refused',
    'not sealed',
  );
});

/** Callbacks that look right and are not, by what is wrong with them. */
function forgeries(provider: Provider): ReadonlyMap<string, SignedCallback> {
  const [own, other] = [secretsOf(provider), secretsOf(provider, 2)];
  const good = callback(provider, own, { text: 'hello', key: '1' }, now);
  const changed = (headers: Record<string, string>): SignedCallback => ({
    ...good,
    headers: { ...good.headers, ...headers },
  });
  const without = (name: string): SignedCallback => ({
    ...good,
    headers: Object.fromEntries(Object.entries(good.headers).filter(([key]) => key !== name)),
  });
  const all = new Map<string, SignedCallback>([
    ['of another app', callback(provider, other, { text: 'hello' }, now)],
    ['by GET', { ...good, method: 'GET' }],
    ['nothing', { ...good, body: '', headers: {}, query: {} }],
    ...providers
      .filter((each) => each !== provider)
      .map(
        (each) => [`of ${each}`, callback(each, secretsOf(each), { text: 'hello' }, now)] as const,
      ),
  ]);
  const proof = {
    slack: 'x-slack-signature',
    telegram: 'x-telegram-bot-api-secret-token',
    feishu: 'x-lark-signature',
    dingtalk: 'sign',
    wecom: '',
  }[provider];
  if (proof !== '') {
    const value = good.headers[proof]!;
    all.set('without a proof', without(proof));
    all.set('with an empty proof', changed({ [proof]: '' }));
    all.set('with a proof cut short', changed({ [proof]: value.slice(0, -1) }));
    all.set('with a longer proof', changed({ [proof]: `${value}0` }));
    all.set('with a proof in capitals', changed({ [proof]: value.toUpperCase() }));
  }
  if (provider !== 'telegram') {
    all.set('stale', callback(provider, own, { text: 'hello' }, now - 301_000 - 1_000));
    all.set('of the future', callback(provider, own, { text: 'hello' }, now + 302_000));
  }
  if (provider === 'slack' || provider === 'feishu') {
    all.set('with other words', {
      ...good,
      body: good.body.replace('hello', 'other').replace(/.{4}"\}$/, 'AAAA"}'),
    });
    const at = provider === 'slack' ? 'x-slack-request-timestamp' : 'x-lark-request-timestamp';
    ['', '-1', '0', 'NaN', '1e12', ' 1', '99999999999999'].forEach((time) =>
      all.set(`at ${time}`, changed({ [at]: time })),
    );
  }
  if (provider === 'slack') {
    all.set(
      'signed, of another app by its words',
      sign(
        'slack',
        own,
        JSON.stringify({ type: 'event_callback', api_app_id: 'A9', event: {} }),
        now,
      ),
    );
    all.set('signed, without an app', sign('slack', own, '{}', now));
    all.set(
      'of the first version',
      changed({ 'x-slack-signature': good.headers['x-slack-signature']!.replace('v0=', 'v1=') }),
    );
  }
  if (provider === 'feishu') {
    const clear = callback('feishu', own, { text: 'hello' }, now);
    all.set('with another nonce', changed({ 'x-lark-request-nonce': 'x' }));
    all.set('in the clear', {
      ...clear,
      body: '{"schema":"2.0","header":{"token":"verify-1","app_id":"cli_abcdef1"}}',
    });
    all.set(
      'with the token of another app',
      sign(
        'feishu',
        own,
        JSON.stringify({ schema: '2.0', header: { token: 'verify-2', app_id: own.app_id } }),
        now,
      ),
    );
    all.set(
      'with the id of another app',
      sign(
        'feishu',
        own,
        JSON.stringify({ schema: '2.0', header: { token: 'verify-1', app_id: other.app_id } }),
        now,
      ),
    );
    all.set('with a seal of odd length', sign('feishu', own, '', now));
  }
  if (provider === 'dingtalk') {
    all.set(
      'of another robot',
      sign('dingtalk', own, JSON.stringify({ msgId: 'x', robotCode: other.app_id }), now),
    );
    all.set('with another time', changed({ timestamp: String(now + 5) }));
    all.set('in seconds', changed({ timestamp: String(Math.floor(now / 1_000)) }));
  }
  if (provider === 'wecom') {
    const { msg_signature: mark } = good.query;
    all.set('without a proof', {
      ...good,
      query: { timestamp: good.query['timestamp']!, nonce: 'nonce' },
    });
    all.set('with a proof cut short', {
      ...good,
      query: { ...good.query, msg_signature: mark!.slice(1) },
    });
    all.set('with another nonce', { ...good, query: { ...good.query, nonce: 'x' } });
    all.set('with another time', {
      ...good,
      query: { ...good.query, timestamp: `${Number(good.query['timestamp']) + 1}` },
    });
    all.set('with a document type', {
      ...good,
      body: `<!DOCTYPE x [<!ENTITY e SYSTEM "file:///etc/passwd">]>${good.body}`,
    });
    all.set(
      'with the seal of another corporation',
      sign('wecom', { ...own, app_id: other.app_id }, '<xml></xml>', now),
    );
    all.set(
      'to another agent',
      sign(
        'wecom',
        own,
        `<xml><ToUserName>${own.app_id.split(':')[0]}</ToUserName><AgentID>9</AgentID></xml>`,
        now,
      ),
    );
    all.set('with a length beyond its end', {
      ...good,
      body: good.body.replace(
        /<Encrypt>.*<\/Encrypt>/,
        `<Encrypt>${wecomSealed(own.encrypt_key, 'x', 'y')}</Encrypt>`,
      ),
    });
  }
  return all;
}

test('forged, stale, replayed, of another app, of another platform: all are answered alike, with 401 and nothing else', async (t) => {
  const office = await imOffice(t);
  let kinds = 0;
  for (const provider of providers) {
    const app = await office.connect(provider);
    office.clock.ahead = now - Date.now();
    for (const [what, forged] of forgeries(provider)) {
      assert.deepEqual(
        await office.call(app, forged),
        { status: 401, text: '' },
        `${provider} ${what}`,
      );
      kinds += 1;
    }
    const good = callback(provider, app.secrets, { text: 'hello' }, office.now());
    assert.deepEqual(
      await office.call({ provider, id: '00000000-0000-7000-8000-000000000000' }, good),
      { status: 401, text: '' },
    );
    assert.deepEqual(await office.call({ provider: 'other' as Provider, id: app.id }, good), {
      status: 401,
      text: '',
    });
    assert.deepEqual(await office.call(app, { ...good, body: 'x'.repeat(1024 * 1024 + 1) }), {
      status: 401,
      text: '',
    });
    assert.equal((await office.call(app, good)).status, 200, provider);
    kinds += 3;
  }
  assert.ok(kinds >= 60, String(kinds));
  t.diagnostic(`${kinds} kinds of callbacks were refused`);
  // A proof of DingTalk covers no words, so it is good for those it came with.
  const ding = (await office.ask('bob', 'GET', '/im/apps')).body.items.find(
    ({ provider }: { provider: string }) => provider === 'dingtalk',
  );
  const shown = callback(
    'dingtalk',
    secretsOf('dingtalk'),
    { text: 'first', key: 'one' },
    office.now(),
  );
  assert.equal((await office.call({ provider: 'dingtalk', id: ding.id }, shown)).status, 200);
  assert.equal(
    (await office.call({ provider: 'dingtalk', id: ding.id }, shown)).status,
    200,
    'the same again is a retry',
  );
  const other = { ...shown, body: shown.body.replace('first', 'other').replace('one', 'two') };
  assert.deepEqual(await office.call({ provider: 'dingtalk', id: ding.id }, other), {
    status: 401,
    text: '',
  });
});

test('apps of one provider are told apart by name alone; without one, there is only one', async (t) => {
  const office = await imOffice(t);
  const one = await office.connect('telegram');
  const signedAs = (number: number) =>
    callback(
      'telegram',
      secretsOf('telegram', number),
      { text: '/help', key: `n${number}` },
      office.now(),
    );
  const bare = async (signed: SignedCallback) =>
    (
      await fetch(`${office.house.url}/api/v1/im/telegram/events`, {
        method: 'POST',
        headers: signed.headers,
        body: signed.body,
      })
    ).status;
  assert.equal(await bare(signedAs(1)), 200);
  const two = await office.connect('telegram', {}, 2);
  assert.deepEqual(
    [
      await bare(signedAs(1)),
      (await office.call(one, signedAs(2))).status,
      (await office.call(two, signedAs(2))).status,
    ],
    [401, 401, 200],
  );
  await settled(() => one.fake.standing.length === 1 && two.fake.standing.length === 1);
});

test('a method that no platform uses is answered 405, whether or not there is such an app', async (t) => {
  const office = await imOffice(t);
  for (const method of ['PUT', 'PATCH', 'DELETE']) {
    for (const provider of ['telegram', 'unheard-of']) {
      const answer = await fetch(`${office.house.url}/api/v1/im/${provider}/events`, { method });
      assert.deepEqual(
        [answer.status, answer.headers.get('www-authenticate')],
        [405, null],
        method,
      );
      assert.match(answer.headers.get('allow')!, /GET.*POST/);
      const { error, message } = (await answer.json()) as { error: string; message: string };
      assert.deepEqual(
        [error, message.includes(`does not support ${method}`)],
        ['not_found', true],
        message,
      );
    }
  }
});

test('XML of a callback is read without a parser that could fetch', () => {
  assert.deepEqual(
    { ...elementsOf('<xml><A><![CDATA[x<y>&amp;]]></A> <B> 1 &lt; 2 </B></xml>') },
    { A: 'x<y>&amp;', B: '1 < 2' },
  );
  for (const bad of [
    '',
    '<xml>',
    '<a></a>',
    '<xml><A>1</B></xml>',
    '<xml><A>1</xml>',
    '<!DOCTYPE x><xml></xml>',
    '<xml><!ENTITY x></xml>',
    '<?php ?><xml></xml>',
    '<xml>text</xml>',
  ]) {
    assert.equal(elementsOf(bad), undefined, bad);
  }
  assert.equal(elementsOf(`<xml>${'<A>1</A>'.repeat(200)}</xml>`), undefined);
});
