import assert from 'node:assert/strict';
import { type AddressInfo, createServer } from 'node:net';
import { test, type TestContext } from 'node:test';

import { MailSender } from 'svc/contracts/mail';
import { NoticeDispatcher } from 'svc/contracts/notify';
import { startTestHost, useNoLeaks } from 'svc/testing';

import { encodedWords, mailText } from '../../../plugins/mail/mail-text.ts';
import { authority } from '../metricsdb/certificates.ts';
import { noticeOf } from '../notify/office.ts';
import { decoded, postOffice, type Taken } from './post-office.ts';

const later = (code: number): Error =>
  Object.assign(new Error('say it again'), { responseCode: code });

async function house(
  t: TestContext,
  port: number,
  settings: Record<string, string> = {},
  plugins = ['mail'],
) {
  const started = await startTestHost(t, {
    plugins: [...plugins, 'setting'],
    environment: {
      SVC_OUTBOUND_ALLOW_PRIVATE: '127.0.0.0/8',
      SVC_MAIL_HOST: '127.0.0.1',
      SVC_MAIL_PORT: String(port),
      SVC_MAIL_FROM: 'svc@example.org',
      ...settings,
    },
    services: { 'audit.trail': { append: async () => undefined } },
  });
  const set = (key: string, value: unknown) =>
    started.json(`/api/v1/system-settings/mail/${key}`, {
      method: 'PUT',
      body: JSON.stringify({ value }),
    });
  const probe = async (to?: string): Promise<{ code: string; detail: string }> =>
    started.json('/api/v1/integrations/mail/test', {
      method: 'POST',
      body: JSON.stringify(to === undefined ? {} : { to }),
    });
  return { house: started, set, probe };
}

const mail = {
  id: 'm-1',
  to: ['ann@example.org'],
  subject: 'Größe: 97 % 🚨',
  text: '.\nfirst\n.hidden\n\nhttps://svc.example/x',
};
const login = { SVC_MAIL_USER: 'svc@example.org', SVC_MAIL_PASSWORD: 'p4ss wörd' };

test('a message goes over TLS to a server that is who it says, signed in, and arrives as it was written', async (t) => {
  const office = await postOffice(t);
  const { house: started, set } = await house(t, office.port, login);
  useNoLeaks(t, started);
  await set('ca', authority);
  const sender = started.service(MailSender);
  assert.equal(sender.isSet, true);
  assert.deepEqual(
    await sender.send({
      ...mail,
      to: ['ann@example.org', 'nobody@example.org'],
      html: '<b>x</b>',
      thread: 'incident-7',
    }),
    {
      refused: [{ to: 'nobody@example.org', reason: '550 no such mailbox' }],
    },
  );
  const [got] = office.taken as [Taken];
  assert.deepEqual(
    [got.from, got.to, got.secure, got.user],
    ['svc@example.org', ['ann@example.org'], true, 'svc@example.org'],
  );
  assert.match(got.text, /^Message-ID: <m-1@example\.org>\r$/m);
  assert.match(got.text, /^References: <incident-7@example\.org>\r$/m);
  assert.match(got.text, /^Auto-Submitted: auto-generated\r$/m);
  assert.match(got.text, /^Subject: =\?utf-8\?B\?/m);
  assert.deepEqual(decoded(got.text), [
    '.\r\nfirst\r\n.hidden\r\n\r\nhttps://svc.example/x',
    '<b>x</b>',
  ]);
  await assert.rejects(sender.send({ ...mail, to: ['no@example.org'] }), {
    code: 'conflict',
    message: /rejected the e-mail: 550 no such mailbox/,
  });
  office.quirks.push(later(451));
  await assert.rejects(sender.send(mail), { code: 'unavailable', message: /451 say it again/ });
  await assert.rejects(
    sender.send({ ...mail, to: ['ann@example.org>\r\nRCPT TO:<evil@example.org'] }),
    { code: 'invalid_argument' },
  );
  assert.equal(office.taken.length, 1);
});

test('what keeps e-mail from being taken has a code, and no password leaves without TLS', async (t) => {
  const office = await postOffice(t, { hideSTARTTLS: true, allowInsecureAuth: true });
  const { set, probe } = await house(t, office.port, login);
  assert.match((await probe()).detail, /offers no STARTTLS/);
  assert.equal((await probe()).code, 'tls');
  await set('security', 'none');
  assert.deepEqual(
    [
      (await probe()).code,
      /no password is sent over a connection that is not encrypted/.test((await probe()).detail),
    ],
    ['unauthorized', true],
  );

  const strict = await postOffice(t);
  const other = await house(t, strict.port, { SVC_MAIL_USER: 'svc@example.org' });
  const untrusted = await other.probe();
  assert.equal(untrusted.code, 'tls', 'its certificate is of no authority that is known');
  assert.match(
    untrusted.detail,
    /; set mail\.ca to the CA of its certificate, or mail\.security to the protocol of that port$/,
  );
  await other.set('ca', authority);
  assert.equal((await other.probe()).code, 'unauthorized', 'a wrong password');
  await other.set('password', 'p4ss wörd');
  assert.equal((await other.probe()).code, 'ok');
  assert.equal((await other.probe('ann@example.org')).code, 'ok');
  assert.equal((await other.probe('no@example.org')).code, 'failing');
  assert.equal(strict.taken.length, 1);

  const refusing = await house(t, 9);
  assert.equal((await refusing.probe()).code, 'refused');
  const banner = createServer((socket) => socket.end('SSH-2.0-OpenSSH\r\n'));
  await new Promise<void>((done) => banner.listen(0, '127.0.0.1', done));
  t.after(() => banner.close());
  const wrong = await house(t, (banner.address() as AddressInfo).port);
  assert.equal((await wrong.probe()).code, 'not_that_product');
  const away = await house(t, strict.port, { SVC_OUTBOUND_ALLOW_PRIVATE: '' });
  assert.equal((await away.probe()).code, 'not_allowed');
  const unset = await house(t, strict.port, { SVC_MAIL_HOST: '' });
  assert.equal((await unset.probe()).code, 'not_configured');
});

test('what a server says before TLS begins is not taken for what it says behind it', async (t) => {
  const sneaky = createServer((socket) => {
    socket.write('220 hello\r\n');
    socket.on('error', () => undefined);
    socket.on('data', (bytes) => {
      const line = bytes.toString('latin1');
      socket.write(
        line.startsWith('EHLO')
          ? '250-hello\r\n250 STARTTLS\r\n'
          : line.startsWith('STARTTLS')
            ? '220 go\r\n250-hello\r\n250 AUTH PLAIN\r\n'
            : '250 ok\r\n',
      );
    });
  });
  await new Promise<void>((done) => sneaky.listen(0, '127.0.0.1', done));
  t.after(() => sneaky.close());
  const { probe } = await house(t, (sneaky.address() as AddressInfo).port, login);
  const { code, detail } = await probe();
  assert.deepEqual(
    [code, /sent data before the connection was encrypted/.test(detail)],
    ['tls', true],
  );
});

test('an incident comes as e-mail, its end in the same thread; a mailbox that is busy gets it later', async (t) => {
  const office = await postOffice(t);
  const { house: started, set } = await house(t, office.port, {}, ['mail', 'notify']);
  await set('ca', authority);
  const channel = await started.json('/api/v1/notification-channels', {
    method: 'POST',
    body: JSON.stringify({
      name: 'Mail',
      channel_type: 'email',
      endpoint: 'ann@example.org, ops@example.org',
      group_wait: '0s',
      group_interval: '0s',
      group_by: ['...'],
    }),
  });
  assert.equal(channel.endpoint, 'ann@example.org, ops@example.org');
  const refused = await started.fetch('/api/v1/notification-channels', {
    method: 'POST',
    body: JSON.stringify({ name: 'Other', channel_type: 'email', endpoint: 'ann' }),
  });
  assert.match(await refused.text(), /endpoint must be one or several e-mail addresses/);
  const arrived = async (count: number): Promise<void> => {
    for (const deadline = Date.now() + 20_000; office.taken.length < count;) {
      assert.ok(
        Date.now() < deadline,
        `${office.taken.length} of ${count} arrived: ${started.lines.slice(-3).join('\n')}`,
      );
      await new Promise((done) => setTimeout(done, 10));
    }
  };
  office.quirks.push(later(450));
  const dispatcher = started.service(NoticeDispatcher);
  await dispatcher.accept(
    noticeOf(1, 'firing', { incident: { summary: 'disk of <db-3> & more' } }),
  );
  await arrived(1);
  await dispatcher.accept(noticeOf(1, 'resolved'));
  await arrived(2);
  const [firing, resolved] = office.taken as [Taken, Taken];
  assert.deepEqual(firing.to, ['ann@example.org', 'ops@example.org']);
  const [text, html] = decoded(firing.text);
  assert.match(text!, /Rule: CPU is busy/);
  assert.match(firing.text, /^Subject: \[FIRING\] warning: disk of <db-3> & more\r$/m);
  assert.match(html!, /<a href="http[^"]+">/);
  const thread = (message: string) => /^References: (<[^>]+>)/m.exec(message)?.[1];
  assert.deepEqual(
    [thread(firing.text), thread(firing.text) !== undefined],
    [thread(resolved.text), true],
  );
});

test('headers hold what was meant and nothing that was smuggled in', () => {
  const text = mailText({
    id: 'a\r\nBcc: evil@x.example',
    to: ['ann@x.example'],
    from: 'svc@x.example',
    subject: 'one\r\nBcc: evil@x.example',
    text: 'x',
    at: 0,
  });
  assert.doesNotMatch(text, /^Bcc/m);
  assert.match(text, /^Date: Thu, 01 Jan 1970 00:00:00 \+0000\r$/m);
  const long = encodedWords('漢字🚨'.repeat(60));
  assert.ok(long.split('\r\n ').every((word) => word.length <= 75));
  const back = long
    .split('\r\n ')
    .map((word) => Buffer.from(word.slice(10, -2), 'base64').toString())
    .join('');
  assert.equal(back, '漢字🚨'.repeat(60).slice(0, 250));
  assert.ok(
    encodedWords('word '.repeat(60))
      .split('\r\n')
      .every((line) => line.length < 78),
  );
});
