import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';

import {
  genieKey,
  pagerdutyPath,
  routingKey,
  startOpsgenie,
  startPagerduty,
  type Tracker,
} from './fakes/trackers.ts';
import { noticeOf, openOffice, testClock } from './office.ts';

interface Kind {
  readonly type: string;
  start(t: TestContext): Promise<Tracker>;
  readonly path: string;
  readonly secret: string;
}

const kinds: readonly Kind[] = [
  { type: 'pagerduty', start: startPagerduty, path: pagerdutyPath, secret: routingKey },
  { type: 'opsgenie', start: startOpsgenie, path: '', secret: genieKey },
];

async function meet(t: TestContext, { type, start, path, secret }: Kind) {
  const office = await openOffice(t, { clock: testClock(), timeoutMs: 300 });
  const platform = await start(t);
  // Grouped on purpose: a platform that keeps incidents is told of each by itself all the same.
  const { id } = await office.channel({
    channel_type: type,
    endpoint: platform.url + path,
    secret,
    group_by: [],
    group_wait: '30s',
  });
  return { office, platform, id };
}

const hostile = {
  summary: `"quotes" \\ \u0007 🚨 </script> ${'x'.repeat(3_000)}`,
  labels: { evil: '<@U123>', __proto: 'x', long: '漢字🚨'.repeat(3_000) },
  annotations: { description: 'line\nbreak' },
  runbook_url: 'javascript:alert(1)',
};

for (const kind of kinds) {
  test(`${kind.type} opens, acknowledges and closes one incident of its own for each of ours`, async (t) => {
    const { office, platform } = await meet(t, kind);
    await office.dispatcher.accept(
      ...Array.from({ length: 12 }, (_, index) =>
        noticeOf(index + 1, 'firing', { incident: index === 0 ? hostile : {} }),
      ),
    );
    await office.turn();
    assert.ok(platform.taken.length > 0, 'the first goes at once, whatever the grouping');
    await office.drain();
    assert.deepEqual(
      [platform.requests.length, platform.taken.length, platform.incidents.size],
      [12, 12, 12],
      platform.requests.at(-1)?.text.slice(0, 200),
    );

    await office.dispatcher.accept(
      noticeOf(3, 'reminder', { incident: { status: 'acknowledged' } }),
    );
    await office.drain();
    assert.deepEqual(
      [...platform.incidents.values()].filter((state) => state !== 'triggered'),
      ['acknowledged'],
    );
    // A second firing of the same incident joins it, and takes nothing back.
    await office.dispatcher.accept(noticeOf(3, 'reminder'));
    await office.drain();
    assert.deepEqual(
      [...platform.incidents.values()].filter((state) => state !== 'triggered'),
      ['acknowledged'],
    );
    for (let incident = 1; incident <= 12; incident += 1) {
      await office.dispatcher.accept(noticeOf(incident, 'resolved'));
    }
    await office.drain();
    assert.deepEqual(new Set(platform.incidents.values()), new Set(['resolved']));
    assert.deepEqual(office.recorded.map(({ error }) => error).filter(Boolean), []);
  });

  test(`${kind.type} is not told of acknowledgements of what it was never told, nor are those that keep no incidents`, async (t) => {
    const { office, platform } = await meet(t, kind);
    await office.dispatcher.accept(
      noticeOf(1, 'reminder', { incident: { status: 'acknowledged' } }),
    );
    await office.drain();
    assert.equal(platform.requests.length, 0);
    const { id } = await office.channel({
      channel_type: 'webhook',
      endpoint: `${platform.url}/hook`,
    });
    const preview = await office.dispatcher.preview(
      noticeOf(1, 'reminder', { incident: { status: 'acknowledged' } }),
    );
    assert.deepEqual(
      preview.map(({ channel_id: channel, sends, reason }) => [channel === id, sends, reason]),
      [
        [false, false, 'the channel did not get the firing notification'],
        [true, false, 'the channel has no incidents'],
      ],
    );
  });

  test(`${kind.type} that is busy is told again with the same key; a key that it does not know degrades the channel`, async (t) => {
    const { office, platform, id } = await meet(t, kind);
    platform.next({ status: 429, headers: { 'retry-after': '2' } }, 'hang up', {
      status: 202,
      body: '<html>proxy</html>',
    });
    await office.dispatcher.accept(noticeOf(1));
    await office.drain();
    const keys = platform.requests.map(({ body }) => body.dedup_key ?? body.alias);
    assert.equal(keys.length, 4);
    assert.equal(new Set(keys).size, 1);
    assert.equal(platform.incidents.size, 1);
    assert.equal((await office.shown(id)).degraded, false);

    const other = await office.channel({
      channel_type: kind.type,
      endpoint: platform.url + kind.path,
      secret: 'wrong0wrong0wrong0wrong0wrong012',
    });
    await office.dispatcher.accept(noticeOf(2, 'firing', { pins: [other.id] }));
    await office.turn();
    const shown = await office.shown(other.id);
    assert.equal(shown.degraded, true);
    assert.ok(!JSON.stringify(shown).includes('wrong0wrong0'), 'no key is shown');
  });
}

test('addresses and keys of another form are refused before anything is sent', async (t) => {
  const office = await openOffice(t);
  const make = (channel_type: string, endpoint: string, secret?: string) =>
    office.channel({ channel_type, endpoint, ...(secret !== undefined && { secret }) });
  await assert.rejects(
    make('pagerduty', 'https://events.pagerduty.com/v2/enqueue', 'short'),
    /secret must be the integration key of the service/,
  );
  await assert.rejects(
    make('pagerduty', 'events.pagerduty.com', routingKey),
    /endpoint must be an address such as https:\/\/events\.pagerduty\.com/,
  );
  await assert.rejects(
    make('opsgenie', 'https://api.opsgenie.com/v2/alerts', genieKey),
    /without \/v2\/alerts/,
  );
  await assert.rejects(
    make('opsgenie', 'https://api.opsgenie.com', 'x'),
    /secret must be the key of an API integration/,
  );
  await assert.rejects(make('opsgenie', 'https://api.opsgenie.com'), /secret/);
});
