import assert from 'node:assert/strict';
import { test } from 'node:test';

import { MailSender } from 'svc/contracts/mail';
import { startTestHost } from 'svc/testing';

import { emailChannel } from '../../../plugins/mail/email-channel.ts';
import { incidentMessage } from '../../../plugins/notify/message/message.ts';
import { silent } from '../../storage/folder.ts';
import { hostileNotice, hostileWords, type Place, places } from '../notify/hostile-words.ts';
import { beyond, htmlReader, troubleIn } from '../notify/readers.ts';
import { decoded, postOffice, type Taken } from './post-office.ts';

const now = Date.parse('2026-11-20T10:11:00Z');
const links = {
  link: 'https://svc.example.org/p/1',
  act: 'https://svc.example.org/ui/incidents/7',
  chart: '',
};

const headsOf = ({ text }: Taken): readonly string[] =>
  text
    .slice(0, text.indexOf('\r\n\r\n'))
    .split(/\r\n(?! )/)
    .map((line) => line.slice(0, line.indexOf(':')));

test('words of strangers in an e-mail are no field, no line of SMTP, no tag and no link', async (t) => {
  const office = await postOffice(t, { secure: false, disabledCommands: ['STARTTLS', 'AUTH'] });
  const house = await startTestHost(t, {
    plugins: ['mail', 'setting'],
    environment: {
      SVC_OUTBOUND_ALLOW_PRIVATE: '127.0.0.0/8',
      SVC_MAIL_HOST: '127.0.0.1',
      SVC_MAIL_PORT: String(office.port),
      SVC_MAIL_FROM: 'svc@example.org',
      SVC_MAIL_SECURITY: 'none',
    },
    services: { 'audit.trail': { append: async () => undefined } },
  });
  const channel = emailChannel(house.service(MailSender), silent);
  let sent = 0;
  const told = async (place: Place, words: string): Promise<Taken> => {
    const { kind, incident } = hostileNotice((sent += 1), place, words);
    const host = {
      id: 7,
      display_name: place === 'the name of the host' ? words : 'db-3',
      hostname: 'db-3',
      ip_address: '10.0.0.7',
      roles: ['db'],
      tags: {},
    };
    const message = incidentMessage(
      `d-${sent}`,
      { kind, incident },
      { ...links, template: undefined, around: { now, host } },
    );
    assert.deepEqual(
      await channel.deliver(
        message,
        { endpoint: 'ops@example.org', secret: '' },
        { now, timeoutMs: 10_000 },
      ),
      { result: 'sent' },
    );
    assert.equal(office.taken.length, sent, 'one message is one message');
    return office.taken.at(-1)!;
  };
  for (const place of places) {
    const reference = await told(place, 'word');
    for (const [what, words] of Object.entries(hostileWords)) {
      const where = `${what}, ${place}`;
      const got = await told(place, words);
      assert.deepEqual([got.from, got.to], ['svc@example.org', ['ops@example.org']], where);
      assert.deepEqual(headsOf(got), headsOf(reference), where);
      assert.ok(
        got.text.split('\r\n').every((line) => line.length <= 998 && /^[\t -~]*$/.test(line)),
        where,
      );
      const [text, html] = decoded(got.text) as [string, string];
      assert.doesNotMatch(
        troubleIn(text.replaceAll('\r\n', '\n')) ?? '',
        /control|turns|half/,
        where,
      );
      assert.deepEqual(
        beyond(htmlReader(html), htmlReader(decoded(reference.text)[1]!)),
        [],
        where,
      );
      assert.match(text, /10\.0\.0\.7[^]*93\.5 \(threshold 90\)/, where);
    }
  }
});
