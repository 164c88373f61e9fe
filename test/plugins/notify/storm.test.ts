import assert from 'node:assert/strict';
import { test } from 'node:test';

import { startWecom, wecomPath } from './fakes/robots.ts';
import { json, type Quirk } from './fakes/platform.ts';
import { startReceiver } from './fakes/receiver.ts';
import { noticeOf, openOffice, testClock } from './office.ts';

/** Small, seeded and good enough: a failure is found again by its number. */
function seeded(seed: number): () => number {
  let state = seed * 2_654_435_761;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

const moods: readonly Quirk[] = [
  'hang up',
  'reset',
  'redirect',
  { status: 500 },
  { status: 429, headers: { 'retry-after': '11' } },
  { status: 400 },
];
const chatMoods: readonly Quirk[] = [...moods, json({ errcode: 45009 }), json({ errcode: 40058 })];
const grouped = { group_by: ['severity', 'scope_id'], group_wait: '10s', group_interval: '1m' };

interface Heard {
  readonly event: string;
  readonly incident: { readonly id: number; readonly event_count: number };
}

/** Returns the position of a notification of one incident: later ones are greater. */
const placeOf = (firing: number, event: string): number =>
  firing * 2 + (event === 'resolved' ? 1 : 0);
const inOrder = (places: ReadonlyMap<number, number>) => [...places].toSorted(([a], [b]) => a - b);

for (let seed = 1; seed <= 6; seed += 1) {
  test(`whatever happens in whatever order, each notice ends once for each channel that takes it (storm ${seed})`, async (t) => {
    const random = seeded(seed);
    const clock = testClock();
    const office = await openOffice(t, { clock, random });
    const pick = <T>(list: readonly T[]): T => list[Math.floor(random() * list.length)]!;
    const platforms = [await startReceiver(t), await startReceiver(t), await startWecom(t, clock)];
    const drafts = [
      { name: 'all', channel_type: 'webhook', endpoint: platforms[0]!.url },
      {
        name: 'some',
        channel_type: 'webhook',
        endpoint: platforms[1]!.url,
        match_severity_min: 'warning' as const,
        send_resolved: random() < 0.5,
        ...grouped,
      },
      {
        name: 'chat',
        channel_type: 'wecom',
        endpoint: platforms[2]!.url + wecomPath,
        ...grouped,
        group_by: [],
      },
    ];
    const ids: number[] = [];
    for (const draft of drafts) {
      ids.push((await office.channel(draft)).id);
    }
    const enabled = new Set(ids);
    /** Deliveries that must end: notice and channel. */
    const expected = new Set<string>();
    const incidents = new Map<
      number,
      { seq: number; open: boolean; severity: 'info' | 'warning' | 'critical' }
    >();

    const accept = async (id: number, kind: 'firing' | 'reminder' | 'resolved'): Promise<void> => {
      const { seq, severity } = incidents.get(id)!;
      const notice = noticeOf(id, kind, {
        fire_seq: seq,
        incident: { severity, event_count: seq },
      });
      for (const { channel_id: channel, sends } of await office.dispatcher.preview(notice)) {
        const open =
          enabled.has(channel) &&
          (kind === 'resolved' || channel !== ids[1] || severity !== 'info');
        assert.ok(open || !sends, 'a filter lets nothing through that it should not');
        if (sends) {
          expected.add(`${notice.id} ${channel}`);
        } else if (kind !== 'resolved') {
          assert.ok(!open, 'and keeps nothing back that it should not');
        }
      }
      await office.dispatcher.accept(notice);
    };

    for (let step = 0; step < 160; step += 1) {
      const dice = random();
      const id = Math.floor(random() * 12) + 1;
      const incident = incidents.get(id);
      if (dice < 0.35) {
        if (incident?.open === true) {
          incident.open = false;
          await accept(id, 'resolved');
        } else {
          incidents.set(id, {
            seq: (incident?.seq ?? 0) + 1,
            open: true,
            severity: pick(['info', 'warning', 'critical']),
          });
          await accept(id, 'firing');
        }
      } else if (dice < 0.42 && incident?.open === true) {
        await accept(id, 'reminder');
      } else if (dice < 0.52) {
        const platform = pick(platforms);
        platform.next(pick(platform === platforms[2] ? chatMoods : moods));
      } else if (dice < 0.55) {
        clock.jump(pick([-7_200_000, 7_200_000]));
      } else if (dice < 0.58) {
        const index = Math.floor(random() * ids.length);
        const on = random() < 0.6;
        await office.replace(ids[index]!, { ...drafts[index]!, enabled: on });
        // oxlint-disable-next-line no-unused-expressions -- either way, memory follows
        on ? enabled.add(ids[index]!) : enabled.delete(ids[index]!);
      } else if (dice < 0.62) {
        office.setSource(random() < 0.7);
      } else {
        clock.advance(Math.floor(random() ** 4 * 60_000));
        await office.turn();
      }
    }
    office.setSource(true);
    await office.drain(5_000);
    await office.turn();

    const ended = office.recorded.map(
      ({ notice_id: notice, channel_id: channel }) => `${notice} ${channel}`,
    );
    assert.deepEqual(ended.toSorted(), [...expected].toSorted());
    assert.deepEqual(
      office.announced.map(({ delivery_id: id }) => id).toSorted(),
      office.recorded.map(({ delivery_id: id }) => id).toSorted(),
    );

    for (const [index, platform] of platforms.slice(0, 2).entries()) {
      const heard: readonly Heard[] = platform.agreed.flatMap(({ body }) =>
        body.event === 'digest' ? body.notices : [body],
      );
      const told = office.recorded.filter(
        ({ channel_id: channel, result }) =>
          channel === ids[index] && (result === 'sent' || result === 'folded'),
      );
      const sent = told.filter(({ result }) => result === 'sent').length;
      assert.ok(heard.length >= sent, 'what is called sent was received, or agreed to by a head');
      assert.ok(heard.length <= told.length, 'nothing was received twice');
      const last = new Map<number, number>();
      for (const one of heard) {
        const [before, place] = [
          last.get(one.incident.id) ?? 0,
          placeOf(one.incident.event_count, one.event),
        ];
        assert.ok(
          place >= before,
          `channel ${ids[index]}: incident ${one.incident.id} went from ${before} to ${place}`,
        );
        last.set(one.incident.id, place);
      }
      const newest = new Map<number, number>();
      for (const { incident_id: id, notice_id: notice, kind } of told) {
        newest.set(id, Math.max(newest.get(id) ?? 0, placeOf(Number(notice.split('/')[1]), kind)));
      }
      assert.deepEqual(
        inOrder(last),
        inOrder(newest),
        'the last word about each incident is the newest that was sent',
      );
    }
  });
}
