import assert from 'node:assert/strict';
import { test } from 'node:test';

import { NoticeDispatcher } from 'svc/contracts/notify';

import { hostileNotice, hostileWords, places } from '../notify/hostile-words.ts';
import {
  beyond,
  markdownReader,
  plainReader,
  type Reader,
  slackReader,
  troubleIn,
} from '../notify/readers.ts';
import type { Standing } from './fakes.ts';
import { type ImApp, imOffice, type Provider, providers, settled } from './office.ts';

/** Buttons of DingTalk are links, whose addresses have a token of one message only: its underscores are no marks. */
const withoutTokens: Reader = (text) =>
  markdownReader(text.replaceAll(/(%2Fdo%20|\/incident-pages\/)[\w.-]+/g, '$1token'));
const readers: Readonly<Record<Provider, Reader>> = {
  slack: slackReader,
  telegram: plainReader,
  feishu: markdownReader,
  dingtalk: withoutTokens,
  wecom: plainReader,
};
/** Returns the shown text, including Slack's blocks. */
const shown = ({ text, raw }: Standing): string => {
  const [block] = (raw['blocks'] ?? []) as { text?: { text: string } }[];
  return [text, block?.text?.text ?? ''].join('\n');
};

test('words of strangers in a conversation of a chat app call nobody, lead nowhere and format nothing', async (t) => {
  const office = await imOffice(t, [], { plugins: ['notify'] });
  const apps: ImApp[] = [];
  for (const provider of providers) {
    const app = await office.connect(provider);
    const draft = {
      name: provider,
      channel_type: 'im',
      endpoint: `im:${app.id}/C1`,
      group_wait: '0s',
      group_interval: '0s',
      group_by: ['...'],
    };
    assert.equal((await office.ask('bob', 'POST', '/notification-channels', draft)).status, 201);
    apps.push(app);
  }
  // A host that nobody knows has no name: what is written there is tried by the other kinds of channels.
  const written = places.filter((place) => place !== 'the name of the host');
  let incident = 0;
  const told = async (words: string): Promise<ReadonlyMap<Provider, readonly string[]>> => {
    const before = new Map(apps.map(({ provider, fake }) => [provider, fake.standing.length]));
    const since = ({ provider, fake }: ImApp): readonly Standing[] =>
      fake.standing.slice(before.get(provider));
    await office.house
      .service(NoticeDispatcher)
      .accept(...written.map((place) => hostileNotice((incident += 1), place, words)));
    office.clock.ahead += 61_000;
    const isTold = (): boolean => apps.every((app) => since(app).length === written.length);
    await settled(isTold, () => [
      words.slice(0, 60),
      apps.map((app) => [app.provider, since(app).length]),
    ]);
    // The clock must not step while an answer is still to be recorded: that notice would be told again.
    const waiting = async (state: string): Promise<number> =>
      (await office.ask('bob', 'GET', `/notification-deliveries?state=${state}`)).body.total;
    await settled(async () => (await waiting('queued')) + (await waiting('delayed')) === 0);
    return new Map(apps.map((app) => [app.provider, since(app).map(shown)]));
  };
  const reference = await told('word');
  for (const [what, words] of Object.entries(hostileWords)) {
    const received = await told(words);
    for (const provider of providers) {
      for (const text of received.get(provider)!) {
        const where = `${provider}, ${what}: ${text.slice(0, 200)}`;
        assert.equal(troubleIn(text), undefined, where);
        assert.deepEqual(
          beyond(readers[provider](text), reference.get(provider)!.flatMap(readers[provider])),
          [],
          where,
        );
        assert.match(text, /93\.5 \(threshold 90\)/, `${where}: the value`);
        assert.match(text, /device 7/, `${where}: the host`);
      }
    }
  }
});
