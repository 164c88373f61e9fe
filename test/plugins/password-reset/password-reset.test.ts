import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';

import type { AuditRecord } from 'svc/sdk';
import { startTestHost, useNoLeaks } from 'svc/testing';

import { settled } from '../imbridge/office.ts';
import { authority } from '../metricsdb/certificates.ts';
import { decoded, postOffice, type Taken } from '../mail/post-office.ts';

const [old, next] = ['a long enough passphrase', 'another long passphrase'];
const minute = 60_000;

/**
 * Starts the real plugins of accounts, sessions and e-mail, and a real SMTP server with STARTTLS.
 */
async function house(t: TestContext, more: Readonly<Record<string, string>> = {}) {
  const office = await postOffice(t);
  const clock = { ahead: 0 };
  const rows: AuditRecord[] = [];
  const started = await startTestHost(t, {
    plugins: ['iam', 'session', 'mail', 'password-reset', 'setting'],
    clock: {
      now: () => Date.now() + clock.ahead,
      monotonic: () => performance.now() + clock.ahead,
    },
    services: {
      'audit.trail': {
        append: async (_tx: unknown, record: AuditRecord) => void rows.push(record),
      },
    },
    environment: {
      SVC_OUTBOUND_ALLOW_PRIVATE: '127.0.0.0/8',
      SVC_MAIL_HOST: '127.0.0.1',
      SVC_MAIL_PORT: String(office.port),
      SVC_MAIL_FROM: 'svc@example.org',
      SVC_ADMIN_EMAIL: 'ann@example.org',
      SVC_ADMIN_PASSWORD: old,
      SVC_PUBLIC_URL: 'https://svc.example',
      ...more,
    },
  });
  await started.json('/api/v1/system-settings/mail/ca', {
    method: 'PUT',
    body: JSON.stringify({ value: authority }),
  });
  const post = async (path: string, body: object, bearer?: string) => {
    const headers = {
      'content-type': 'application/json',
      ...(bearer !== undefined && { authorization: `Bearer ${bearer}` }),
    };
    const answer = await fetch(`${started.url}/api/v1/${path}`, {
      method: 'POST',
      headers,
      body: JSON.stringify(body),
    });
    const text = await answer.text();
    return { status: answer.status, text, body: text === '' ? {} : JSON.parse(text) };
  };
  const mails = async (count: number): Promise<Taken> => {
    await settled(
      () => office.taken.length >= count,
      () => started.lines.slice(-3),
    );
    return office.taken[count - 1]!;
  };
  const login = (password: string, email = 'ann@example.org') =>
    post('auth/login', { email, password });
  return {
    started,
    office,
    clock,
    rows,
    post,
    mails,
    login,
    ask: (email: string) => post('password-resets', { email }),
  };
}

const textOf = ({ text }: Taken): string => decoded(text)[0] ?? '';
const tokenIn = (mail: Taken): string =>
  /^https:\/\/svc\.example\/#reset=([\w-]{43})\r?$/m.exec(textOf(mail))![1]!;

test('a forgotten password is replaced by a link that works once, and everything that was open is closed', async (t) => {
  const { started, office, rows, post, mails, login, ask } = await house(t);
  useNoLeaks(t, started);
  const session = (await login(old)).body;
  const pat = (
    await post(
      'tokens',
      { name: 'ci', expires_at: new Date(Date.now() + 3_600_000).toISOString() },
      session.access_token,
    )
  ).body.token as string;
  assert.equal(
    (await fetch(`${started.url}/api/v1/me`, { headers: { authorization: `Bearer ${pat}` } }))
      .status,
    200,
  );

  const known = await ask(' Ann@Example.org ');
  const unknown = await ask('nobody@example.org');
  assert.deepEqual([known.status, known.text], [202, unknown.text]);
  const mail = await mails(1);
  assert.deepEqual(
    [mail.to, mail.secure],
    [['ann@example.org'], true],
    'over STARTTLS, to the address of the account',
  );
  const token = tokenIn(mail);

  const weak = await post('password-resets/redeem', { token, password: 'short' });
  assert.equal(weak.status, 400, 'a password that is too short does not spend the link');
  const storm = await Promise.all(
    Array.from({ length: 4 }, (_, at) =>
      post('password-resets/redeem', { token, password: `${next} ${at}` }),
    ),
  );
  assert.equal(
    storm.filter(({ status }) => status === 204).length,
    1,
    JSON.stringify(storm.map(({ status, text }) => [status, text])),
  );
  const won = storm.findIndex(({ status }) => status === 204);
  assert.deepEqual(
    await Promise.all([login(old), login(`${next} ${won}`)]).then((both) =>
      both.map(({ status }) => status),
    ),
    [401, 200],
  );
  for (const bearer of [session.access_token, pat]) {
    assert.equal(
      (await fetch(`${started.url}/api/v1/me`, { headers: { authorization: `Bearer ${bearer}` } }))
        .status,
      401,
    );
  }
  assert.equal((await post('auth/refresh', { refresh_token: session.refresh_token })).status, 401);
  assert.match(textOf(await mails(2)), /was changed with a link/);
  const [row] = rows.filter(
    ({ action, status }) => action === 'password:reset' && status === 'success',
  );
  assert.deepEqual(
    [row?.principal.email, row?.resourceType, row?.resourceId],
    ['ann@example.org', 'user', '1'],
  );
  assert.equal(rows.filter(({ action }) => action === 'password:ask').length, 2);
  await started.settled();
  assert.equal(office.taken.length, 2, 'nothing went to the address without an account');
  const leaks = [...started.lines, ...rows.map((each) => JSON.stringify(each))].filter(
    (line) => line.includes(token) || line.includes(next),
  );
  assert.deepEqual(leaks, []);
});

test('a link is of no use once it is old, replaced, or its account has changed; asking and trying have limits', async (t) => {
  const { started, clock, post, mails, login, ask } = await house(t);
  const redeem = async (token: string): Promise<number> =>
    (await post('password-resets/redeem', { token, password: next })).status;
  await ask('ann@example.org');
  const first = tokenIn(await mails(1));
  await ask('ann@example.org');
  const second = tokenIn(await mails(2));
  assert.equal(await redeem(first), 401, 'a newer link takes the place of the one before');
  clock.ahead += 31 * minute;
  assert.equal(await redeem(second), 401, 'half an hour');
  await ask('ann@example.org');
  const third = tokenIn(await mails(3));
  const limited = await ask('ann@example.org');
  assert.equal(limited.status, 429);
  for (let at = 0; at < 3; at++) {
    await ask('nobody@example.org');
  }
  assert.deepEqual(
    (await ask('nobody@example.org')).body.error,
    limited.body.error,
    'an address has its limit with or without an account',
  );
  await started.json('/api/v1/users/1', {
    method: 'PATCH',
    body: JSON.stringify({ email: 'anna@example.org' }),
  });
  assert.equal(await redeem(third), 401, 'the mailbox is another one by now');
  await started.json('/api/v1/users/1', {
    method: 'PATCH',
    body: JSON.stringify({ email: 'ann@example.org' }),
  });
  assert.equal(await redeem(third), 401, 'it is no better when the mailbox is that one again');
  await started.json('/api/v1/users/1/password', {
    method: 'PATCH',
    body: JSON.stringify({ password: 'set by the operator' }),
  });
  assert.equal(await redeem(third), 401, 'the password was changed meanwhile');
  for (let at = 0; at < 20; at++) {
    await redeem(`guess-${at}`);
  }
  assert.equal(await redeem('one more'), 429);
  assert.equal((await login('set by the operator')).status, 200);
});

test('who is disabled is sent nothing; without a server the answer says so; what cannot be sent yet is sent later', async (t) => {
  const { started, office, rows, mails, ask } = await house(t);
  const user = await started.json('/api/v1/users', {
    method: 'POST',
    body: JSON.stringify({
      email: 'off@example.org',
      password: old,
      role: 'viewer',
      display_name: 'Off',
    }),
  });
  await started.json(`/api/v1/users/${user.id}`, {
    method: 'PATCH',
    body: JSON.stringify({ status: 'disabled' }),
  });
  office.quirks.push(Object.assign(new Error('busy'), { responseCode: 451 }));
  assert.deepEqual(
    [(await ask('off@example.org')).status, (await ask('ann@example.org')).status],
    [202, 202],
  );
  assert.deepEqual((await mails(1)).to, ['ann@example.org']);
  await started.host.disable('mail');
  const answers = [await ask('ann@example.org'), await ask('nobody@example.org')];
  assert.deepEqual(
    answers.map(({ status, body }) => [status, body.error]),
    [
      [409, 'conflict'],
      [409, 'conflict'],
    ],
  );
  assert.ok(rows.some(({ action, status }) => action === 'password:ask' && status === 'failure'));
});
