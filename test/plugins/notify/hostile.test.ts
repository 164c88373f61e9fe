import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';

import type { ChannelType, DeclaredChannelType } from 'svc/contracts/notify';

import { shippedTypes } from '../../../plugins/notify/types/channel-types.ts';
import { declaredType } from '../../../plugins/notify/types/declared.ts';
import { feishuPath, startFeishu } from './fakes/feishu.ts';
import { isJson, json, type Platform, type Received, startPlatform } from './fakes/platform.ts';
import { startReceiver } from './fakes/receiver.ts';
import { dingtalkPath, startDingtalk, startWecom, wecomPath } from './fakes/robots.ts';
import { slackPath, startSlack } from './fakes/slack.ts';
import { startTelegram, telegramToken } from './fakes/telegram.ts';
import {
  genieKey,
  pagerdutyPath,
  routingKey,
  startOpsgenie,
  startPagerduty,
} from './fakes/trackers.ts';
import { hostileNotice, hostileWords, type Place, places } from './hostile-words.ts';
import mattermost from './mattermost/plugin.json' with { type: 'json' };
import { openOffice, testClock } from './office.ts';
import {
  beyond,
  htmlReader,
  markdownReader,
  plainReader,
  type Reader,
  slackReader,
  troubleIn,
} from './readers.ts';

type Start = Parameters<typeof startPlatform>[0];

interface Kind {
  readonly type: string;
  start(t: Start, clock: { now(): number }): Promise<Platform>;
  readonly path: string;
  readonly secret?: string;
  /** Texts that people see, and how the platform reads them. */
  texts(request: Received): readonly string[];
  readonly reader: Reader;
}

const slackTexts = ({ body }: Received): string[] => [
  body.text,
  // oxlint-disable-next-line typescript/no-explicit-any -- blocks as Slack has them
  ...body.attachments[0].blocks.flatMap(({ text }: any) => (text ? [text.text] : [])),
];
const feishuTexts = ({ body: { card } }: Received): string[] => [
  card.header.title.content,
  // oxlint-disable-next-line typescript/no-explicit-any -- a card as Feishu has it
  ...card.elements.flatMap(({ text }: any) => text?.content ?? []),
];
const leaves = (value: unknown): string[] =>
  typeof value === 'string'
    ? [value]
    : typeof value === 'object' && value !== null
      ? Object.values(value).flatMap(leaves)
      : [];
/** Returns the texts that a program's message may show; the incident next to it is unchanged. */
const forPeople = ({ body: { title, facts, steps, text } }: Received): string[] =>
  leaves([title, facts, steps, text]);

/** Reader without our links, which lead to the reported incident. */
const withoutNumbers: Reader = (text) =>
  markdownReader(text).map((found) => found.replace(/(svc\.example\/incidents\/)\d+/, '$1'));

const kinds: readonly Kind[] = [
  {
    type: 'webhook',
    start: (t) => startReceiver(t),
    path: '/hook',
    texts: forPeople,
    reader: plainReader,
  },
  {
    type: 'slack',
    start: (t) => startSlack(t),
    path: slackPath,
    texts: slackTexts,
    reader: slackReader,
  },
  { type: 'feishu', start: startFeishu, path: feishuPath, texts: feishuTexts, reader: plainReader },
  {
    type: 'dingtalk',
    start: startDingtalk,
    path: dingtalkPath,
    texts: ({ body }) => [body.actionCard.text],
    reader: markdownReader,
  },
  {
    type: 'wecom',
    start: startWecom,
    path: wecomPath,
    texts: ({ body }) => [body.markdown.content],
    reader: withoutNumbers,
  },
  {
    type: 'telegram',
    start: (t) => startTelegram(t),
    path: '?chat_id=-1001234567890',
    secret: telegramToken,
    texts: ({ body }) => [body.text],
    reader: htmlReader,
  },
  {
    type: 'pagerduty',
    start: startPagerduty,
    path: pagerdutyPath,
    secret: routingKey,
    texts: ({ body }) => leaves(body),
    reader: plainReader,
  },
  {
    type: 'opsgenie',
    start: startOpsgenie,
    path: '',
    secret: genieKey,
    texts: ({ body }) => leaves(body),
    reader: plainReader,
  },
  {
    type: 'mattermost',
    start: (t) =>
      startPlatform(t, (request) => ({
        ...json({ status: isJson(request) && request.text.length < 16_384 ? 'OK' : 'no' }),
        taken: true,
      })),
    path: '/hooks/x',
    texts: ({ body }) => [body.text],
    reader: markdownReader,
  },
];

/** One office with a channel to every kind of platform. */
async function open(t: Start) {
  const clock = testClock();
  const described = declaredType(
    (
      mattermost.contributes['notify.channel-types'] as unknown as Record<
        string,
        DeclaredChannelType
      >
    )['mattermost']!,
  );
  const find = (id: string): ChannelType | undefined =>
    id === 'mattermost' ? described : shippedTypes[id];
  const known = { find, named: (id: string) => ({ id, type: find(id)! }) };
  const office = await openOffice(t, { clock, timeoutMs: 5_000, types: known });
  const platforms = new Map<string, Platform>();
  for (const { type, start, path, secret } of kinds) {
    const platform = await start(t, clock);
    platforms.set(type, platform);
    await office.channel({
      channel_type: type,
      endpoint: platform.url + path,
      ...(secret !== undefined && { secret }),
    });
  }
  let id = 0;
  /** Sends one notice and returns what each platform got, all of which must have accepted it. */
  const told = async (place: Place, words: string): Promise<ReadonlyMap<string, Received>> => {
    office.hosts.splice(0, 1, {
      id: 7,
      display_name: place === 'the name of the host' ? words : 'db-3',
      hostname: 'db-3',
      ip_address: '10.0.0.7',
      roles: ['db'],
      tags: { rack: 'r1' },
    });
    id += 1;
    await office.dispatcher.accept(hostileNotice(id, place, words));
    clock.advance(60_000);
    await office.turn();
    return new Map(
      [...platforms].map(([type, platform]) => [type, platform.requests.splice(0).at(-1)!]),
    );
  };
  const refused = async (): Promise<readonly string[]> =>
    (await office.deliveries())
      .filter(({ state, incident_id: incident }) => incident === id && state !== 'sent')
      .map(({ channel_name, error }) => `${channel_name}: ${error}`);
  return { office, told, refused };
}

describe('words of strangers', () => {
  const undo: (() => unknown)[] = [];
  let opened: Awaited<ReturnType<typeof open>>;
  const harmless = new Map<Place, ReadonlyMap<string, Received>>();
  before(async () => {
    opened = await open({ after: (work: () => unknown) => void undo.unshift(work) });
    for (const place of places) {
      harmless.set(place, await opened.told(place, 'word'));
      assert.deepEqual(await opened.refused(), []);
    }
  });
  after(async () => {
    for (const work of undo) {
      await work();
    }
  });

  for (const [what, words] of Object.entries(hostileWords)) {
    test(`${what}: every platform takes them, and they call nobody, lead nowhere and format nothing`, async () => {
      for (const place of places) {
        const received = await opened.told(place, words);
        assert.deepEqual(await opened.refused(), [], place);
        for (const { type, texts, reader } of kinds) {
          const where = `${type}, ${place}`;
          const seen = texts(received.get(type)!);
          const whole = seen.join('\n');
          for (const text of type === 'pagerduty' || type === 'opsgenie' || type === 'webhook'
            ? []
            : seen) {
            assert.equal(troubleIn(text), undefined, where);
          }
          seen.forEach((text) =>
            assert.doesNotMatch(text, /(?!\n)\p{Cc}|[\u202a-\u202e\u2066-\u2069]|\p{Cs}/u, where),
          );
          assert.deepEqual(
            beyond(reader(whole), reader(texts(harmless.get(place)!.get(type)!).join('\n'))),
            [],
            where,
          );
          assert.match(whole, /10\.0\.0\.7/, `${where}: the address of the host`);
          assert.match(whole, /93\.5 \(threshold 90\)/, `${where}: the value`);
        }
      }
    });
  }

  test('a program gets what was written as it was written', async () => {
    const words = '<b>"bold"</b> @all [x](y) \u202e';
    const body = (await opened.told('a label', words)).get('webhook')!.body;
    assert.equal(body.incident.labels.evil, words);
  });
});
