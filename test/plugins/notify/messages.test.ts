import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { inflateSync } from 'node:zlib';

import { chartPicture } from 'svc/chart-picture';
import type { Mail } from 'svc/contracts/mail';
import type { Background, ChannelMessage } from 'svc/contracts/notify';

import { emailChannel } from '../../../plugins/mail/email-channel.ts';
import { shippedTypes } from '../../../plugins/notify/types/channel-types.ts';
import { digestMessage, incidentMessage } from '../../../plugins/notify/message/message.ts';
import { silent } from '../../storage/folder.ts';
import { noticeOf } from './office.ts';

const now = Date.parse('2026-11-20T10:11:00Z');
const host = {
  id: 7,
  display_name: 'db-3',
  hostname: 'db-3',
  ip_address: '10.0.0.7',
  roles: ['db'],
  tags: { rack: 'r1' },
};
const about = {
  rule_key: 'disk_high',
  rule_name: 'A disk is nearly full',
  severity: 'critical' as const,
  summary: '/var of device 7 is 97 % full',
  value: 97,
  threshold: 90,
  device_id: '7',
  scope_id: '7',
  labels: { device_id: '7', mountpoint: '/var' },
  annotations: { description: 'Above 90 % for five minutes.' },
} as const;
const firing = noticeOf(7, 'firing', { incident: about });
const resolved = noticeOf(7, 'resolved', { incident: about });
const background = (incident = firing.incident): Background => ({
  incident,
  acknowledged_by: 'ann@example.org',
  acknowledged_at: '2026-11-20T10:05:00.000Z',
  hour: Array.from(
    { length: 60 },
    (_, minute) => [now - (59 - minute) * 60_000, 60 + minute * 0.6] as const,
  ),
  week: { average: 41.25, lowest: 40, highest: 55 },
  diagnosis: 'db-3 ran out of disk: /var grew from 40 to 97 %',
  steps: [
    'Find what grew: du -xhd1 on the mount point.',
    'Make room at once: old logs, packages, dumps.',
  ],
  beside: ['warning: load of db-3 at 31'],
});
const messageOf = (kind: 'firing' | 'resolved'): ChannelMessage => {
  const { incident } = kind === 'firing' ? firing : resolved;
  return incidentMessage(
    'd-1',
    { kind, incident },
    {
      link: 'https://svc.example.org/p/1',
      act: 'https://svc.example.org/ui/incidents/7',
      chart: 'https://svc.example.org/p/1/chart.png',
      template: undefined,
      around: {
        now,
        host,
        background: background({ ...incident, value: kind === 'firing' ? 97 : 61 }),
      },
    },
  );
};
const many = Array.from({ length: 40 }, (_, index) =>
  noticeOf(index + 1, index < 38 ? 'firing' : 'resolved', { incident: { severity: 'critical' } }),
);
const group = digestMessage(
  'd-2',
  {
    entries: many,
    counts: { firing: 9_998, reminder: 0, resolved: 2 },
    group: '{"rule_key":"cpu_high"}',
    hosts: new Map([['1', { ...host, display_name: 'web-1' }]]),
    now,
  },
  'https://svc.example.org/p/2',
);

const addresses: Readonly<Record<string, { endpoint: string; secret: string }>> = {
  webhook: { endpoint: 'https://example.org/hook', secret: 'k3y' },
  slack: { endpoint: 'https://hooks.slack.com/services/T/B/x', secret: '' },
  feishu: { endpoint: 'https://open.feishu.cn/open-apis/bot/v2/hook/x', secret: '' },
  dingtalk: { endpoint: 'https://oapi.dingtalk.com/robot/send?access_token=x', secret: '' },
  wecom: { endpoint: 'https://qyapi.weixin.qq.com/cgi-bin/webhook/send?key=x', secret: '' },
  telegram: { endpoint: '-1001234567890', secret: '123456:AAtokenTokenToken' },
  pagerduty: {
    endpoint: 'https://events.pagerduty.com/v2/enqueue',
    secret: 'R0uting0123456789abcdefABCDEF012',
  },
  opsgenie: {
    endpoint: 'https://api.opsgenie.com',
    secret: 'eb243592-faa2-4ba2-a551q-1afdf565c889',
  },
};
async function bodyOf(type: string, message: ChannelMessage): Promise<unknown> {
  if (type !== 'email') {
    return JSON.parse(
      shippedTypes[type]!.render(message, addresses[type]!, { now, plain: false }).body,
    );
  }
  const mails: Mail[] = [];
  const sender = { isSet: true, send: async (mail: Mail) => (mails.push(mail), { refused: [] }) };
  await emailChannel(sender, silent).deliver(
    message,
    { endpoint: 'ops@example.org', secret: '' },
    { now, timeoutMs: 1_000 },
  );
  const { picture, ...mail } = mails[0]!;
  return { ...mail, ...(picture && { picture: 'docs/messages/chart.png' }) };
}

/** Returns the second request of a message; the bytes are those of the adjacent picture. */
function enclosureOf(type: string, message: ChannelMessage): object | undefined {
  const { body } = shippedTypes[type]?.enclosure?.(message, addresses[type]!) ?? {};
  const bytes = Buffer.from(message.chart?.png() ?? []);
  const known = body
    ?.replace(bytes.toString('base64'), 'of docs/messages/chart.png')
    .replace(createHash('md5').update(bytes).digest('hex'), 'of its bytes');
  return known === undefined ? undefined : JSON.parse(known);
}

/** Questions of a person who is woken, with where the text answers them. */
const questions: Readonly<Record<string, RegExp>> = {
  what: /\[FIRING\] critical: \/var of db-3 is 97 % full/,
  'which host': /db-3 \(10\.0\.0\.7\)/,
  where: /role db, rack=r1/,
  'since when and how long': /2026-11-20 09:59:00 UTC, for 12m/,
  'how bad': /97 \(threshold 90\)[^]*41\.25 on average, 40 to 55/,
  'is it getting worse':
    /getting worse: 8\d(?:\.\d+)? a quarter of an hour before, 9\d(?:\.\d+)? now/,
  'who has it': /acknowledged by ann@\S*example\.org at 2026-11-20 10:05:00 UTC/,
  'what else changed': /load of db-3 at 31/,
  'what to do': /Find what grew: du -xhd1/,
  'where to look': /https:\/\/svc\.example\.org\/p\/1/,
};

test('instances are told apart by the labels that one has and another lacks', () => {
  const since = firing.incident.fired_at;
  const instances = [
    { labels: { instance: '127.0.0.1:18420', job: 'web' }, value: 9, since },
    { labels: { instance: '10.0.0.3:80', job: 'web', host: 'h3', zone: 'eu' }, value: 9, since },
    { labels: { job: 'web' }, since },
  ];
  const { facts } = incidentMessage(
    'd-1',
    { kind: 'firing', incident: { ...firing.incident, firing_instances: 3, instances } },
    { link: '', template: undefined, around: { now } },
  );
  assert.equal(
    facts.find(({ name }) => name === 'Instances')?.text,
    '3 firing: instance=127.0.0.1:18420 (no host, no zone) 9, instance=10.0.0.3:80 host=h3 zone=eu 9, (no instance, no host, no zone)',
  );
});

/** Compares with a snapshot; `SVC_WRITE_SNAPSHOTS=1` writes it. */
function shown(name: string, said: string | Uint8Array): Buffer {
  const file = fileURLToPath(new URL(`../../../docs/messages/${name}`, import.meta.url));
  if (process.env['SVC_WRITE_SNAPSHOTS'] === '1') {
    writeFileSync(file, said);
  }
  return readFileSync(file);
}

for (const type of [...Object.keys(shippedTypes), 'email']) {
  test(`${type} answers the ten questions of who is woken, and looks as docs/messages shows it`, async () => {
    const bodies = {
      firing: await bodyOf(type, messageOf('firing')),
      resolved: await bodyOf(type, messageOf('resolved')),
      group: await bodyOf(type, group),
    };
    const said = JSON.stringify(bodies.firing).replaceAll('*', '').replaceAll('\u200b', '');
    for (const [question, answer] of Object.entries(questions)) {
      assert.match(said, answer, `${type}: ${question}`);
    }
    // The incident itself keeps its fields for programs.
    const { incident: _, ...told } = bodies.resolved as Record<string, unknown>;
    assert.doesNotMatch(
      JSON.stringify(told),
      /97 % full|What to do/,
      'what is over is not told as if it burnt',
    );
    // It knows the incident, and is told that it is over: nothing else.
    assert.match(
      type === 'pagerduty'
        ? 'no longer on db-3: A disk is nearly full (after 11m)'
        : JSON.stringify(told),
      /no longer on db-3: A disk is nearly full \(after 11m\)/,
    );
    assert.match(
      JSON.stringify(bodies.group).replaceAll('\u200b', ''),
      /9998 FIRING, 2 RESOLVED\] CPU is busy \(web-1, device 2, device 3 …\)/,
    );
    // Of a burning incident, there is where it is acted on; of one that is over there is nothing to do.
    assert.match(said, /https:\/\/svc\.example\.org\/ui\/incidents\/7/);
    assert.doesNotMatch(JSON.stringify(told), /ui\/incidents\/7/);
    const picture = enclosureOf(type, messageOf('firing'));
    const text = Object.entries({ ...bodies, ...(picture && { picture }) }).map(
      ([what, body]) => `${what}\n${JSON.stringify(body, undefined, 2)}\n`,
    );
    assert.equal(
      text.join('\n'),
      shown(`${type}.txt`, text.join('\n')).toString('utf8'),
      `docs/messages/${type}.txt shows another message`,
    );
  });
}

test('the picture of the last hour is a PNG that says what was measured, also of a flat line and of no threshold', () => {
  const { chart } = messageOf('firing');
  const bytes = Buffer.from(chart!.png()!);
  assert.equal(bytes.subarray(1, 4).toString('latin1'), 'PNG');
  assert.deepEqual([bytes.readUInt32BE(16), bytes.readUInt32BE(20)], [480, 160]);
  const pixelsOf = (png: Buffer): Buffer => {
    const data = png.indexOf('IDAT');
    return inflateSync(png.subarray(data + 4, data + 4 + png.readUInt32BE(data - 4)));
  };
  const pixels = pixelsOf(bytes);
  const colours = new Map<number, number>();
  pixels.forEach(
    (colour, at) => at % 481 !== 0 && colours.set(colour, (colours.get(colour) ?? 0) + 1),
  );
  // Paper, the line, the threshold, digits and the lines of the lowest and highest.
  assert.deepEqual(
    [...colours.keys()].toSorted((a, b) => a - b),
    [0, 1, 2, 3, 4],
  );
  assert.ok(colours.get(1)! > 1_000 && colours.get(2)! > 200, JSON.stringify([...colours]));
  assert.equal(pixels.length, 160 * 481);
  // An odd value draws no row of another length.
  for (const value of [0, -1e300, 5e-324]) {
    assert.equal(
      Buffer.from(
        chartPicture({
          lines: [
            [
              [0, value],
              [1, value],
            ],
          ],
        })!,
      )
        .subarray(1, 4)
        .toString('latin1'),
      'PNG',
    );
  }
  // Not its bytes: another release of node may press them otherwise.
  assert.ok(
    pixelsOf(shown('chart.png', bytes)).equals(pixels),
    'docs/messages/chart.png shows another picture',
  );
});

test('a platform that cannot fetch the picture gets the message without it; one that is on no public name is not given it', () => {
  const slack = shippedTypes['slack']!;
  const send = (message: ChannelMessage, plain: boolean): string =>
    slack.render(message, addresses['slack']!, { now, plain }).body;
  const message = messageOf('firing');
  assert.match(
    send(message, false),
    /"type":"image","image_url":"https:\/\/svc\.example\.org\/p\/1\/chart\.png"/,
  );
  assert.deepEqual(slack.judge({ status: 400, headers: {}, body: 'invalid_blocks' }, now), {
    result: 'plain',
  });
  assert.doesNotMatch(send(message, true), /"image"/);
  const inside = {
    ...message,
    chart: { ...message.chart!, link: 'http://10.0.0.1:8090/p/1/chart.png' },
  };
  assert.doesNotMatch(send(inside, false), /"image"/);
});

test('an end that is no all-clear is not told as one', () => {
  const incident = { ...resolved.incident, ended_because: 'its rule was deleted' };
  const { title, facts } = incidentMessage(
    'd-3',
    { kind: 'resolved', incident },
    { link: 'https://svc.example.org/p/1', template: undefined, around: { now, host } },
  );
  assert.equal(
    title,
    '[OVER] critical: A disk is nearly full on db-3: its rule was deleted (after 11m)',
  );
  assert.ok(
    facts.some(({ name, text }) => name === 'Over because' && text === 'its rule was deleted'),
  );
});

test('a digest never loses how many it is about', () => {
  const shown = group.lines.length - 1;
  assert.equal(group.lines.at(-1), `… and ${10_000 - shown} more`);
});
