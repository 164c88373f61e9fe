import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';

import type { Outcome } from '../exercise.ts';
import { counted } from '../counted.ts';
import type { Platform, Quirk } from '../plugins/notify/fakes/platform.ts';
import { startReceiver } from '../plugins/notify/fakes/receiver.ts';
import { openOffice } from '../plugins/notify/office.ts';
import { openIn } from '../storage/folder.ts';
import { type LedgerTables, prepare } from './notify-crash-model.ts';
import { programOf } from '../program-of.ts';

const child = fileURLToPath(new URL('./notify-crash-child.ts', import.meta.url));
const quirks: readonly Quirk[] = [
  'reset',
  'hang up',
  { status: 500 },
  { status: 429, headers: { 'retry-after': '4' } },
  { status: 503 },
  { status: 400, body: 'no' },
];
const channelCount = 2;

/**
 * Kills a process that tells two platforms, which have their moods, of a storm of incidents, again and again: every
 * accepted notice ends in exactly one outcome for each channel, in order, and a kill repeats at most what it interrupted.
 */
export async function run({ rounds = 50 }: { readonly rounds?: number } = {}): Promise<Outcome> {
  const folder = mkdtempSync(join(tmpdir(), 'svc-notify-crash-'));
  const ends: (() => unknown)[] = [() => rmSync(folder, { recursive: true, force: true })];
  const scope = { after: (end: () => unknown) => void ends.unshift(end) } as Parameters<
    typeof startReceiver
  >[0];
  const origin = String(Date.now());
  const accepted = new Set<string>();
  const progress = { next: 1 };
  try {
    const platforms = await Promise.all(
      Array.from({ length: channelCount }, () => startReceiver(scope)),
    );
    const office = await openOffice(scope, { dataDir: folder });
    await prepare(office.storage);
    for (const platform of platforms) {
      const grouped =
        channelCount > 1 && platform === platforms[1]
          ? { group_by: [], group_wait: '200ms', group_interval: '500ms' }
          : {};
      await office.channel({ channel_type: 'webhook', endpoint: platform.url, ...grouped });
    }
    await office.close();
    for (const _kill of counted(rounds, 'kills')) {
      platforms.forEach((platform) => platform.next(...quirks.filter(() => Math.random() < 0.2)));
      const running = start(folder, origin, progress.next, 'storm');
      await listen(running, accepted, progress, 80 + Math.random() * 900);
      progress.next += 100;
    }
    const last = start(folder, origin, 0, 'drain');
    assert.equal((await once(last, 'exit'))[0], 0, 'the last process finishes what is left');

    return { ok: true, kills: rounds, ...(await judge(folder, platforms, accepted, rounds)) };
  } finally {
    for (const end of ends) {
      await end();
    }
  }
}

const start = (...args: readonly (string | number)[]): ChildProcess =>
  spawn(process.execPath, [...programOf(child), ...args.map(String)], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });

async function listen(
  running: ChildProcess,
  accepted: Set<string>,
  progress: { next: number },
  afterMs: number,
): Promise<void> {
  const told = createInterface({ input: running.stdout! });
  let first!: () => void;
  const begun = new Promise<void>((resolve, reject) => {
    first = resolve;
    running.once('exit', (code) => reject(new Error(`the process ended by itself (${code})`)));
  });
  told.on('line', (line) => {
    const [notice, incident] = line.split(' ') as [string, string];
    accepted.add(notice);
    progress.next = Math.max(progress.next, Number(incident) + 1);
    first();
  });
  const read = once(told, 'close');
  await begun;
  await pause(afterMs);
  running.removeAllListeners('exit');
  running.kill('SIGKILL');
  await read;
}

interface Heard {
  readonly incident: number;
  readonly event: string;
}

const ranks: Readonly<Record<string, number>> = { firing: 0, reminder: 1, resolved: 2 };

async function judge(
  folder: string,
  platforms: readonly Platform[],
  accepted: ReadonlySet<string>,
  kills: number,
): Promise<Record<string, number>> {
  const storage = await openIn(folder);
  const outcomes = await storage
    .tables<LedgerTables>('ledger')
    .read.selectFrom('ledger_outcomes')
    .selectAll()
    .execute();
  await storage.close();
  const byPlace = new Map<string, string[]>();
  for (const { notice, channel, result } of outcomes.filter(
    (outcome) => outcome.result !== 'delayed',
  )) {
    byPlace.set(`${notice} ${channel}`, [...(byPlace.get(`${notice} ${channel}`) ?? []), result]);
  }
  byPlace.forEach((found, place) =>
    assert.equal(found.length, 1, `${place} ended as ${found.join(' and ')}`),
  );

  let repeated = 0;
  for (const [index, platform] of platforms.entries()) {
    const channel = index + 1;
    for (const notice of accepted) {
      // Reminders and resolves concern only those who heard of the firing.
      assert.ok(
        !notice.includes('firing') || byPlace.has(`${notice} ${channel}`),
        `${notice} was accepted and has no end on channel ${channel}`,
      );
    }
    const heard = new Map<number, number>();
    let again = 0;
    for (const { body } of platform.agreed) {
      const notices: Heard[] = (body.event === 'digest' ? body.notices : [body]).map(
        ({ event, incident }: { event: string; incident: { id: number } }) => ({
          event,
          incident: incident.id,
        }),
      );
      let isRepeat = false;
      for (const { incident, event } of notices) {
        const before = heard.get(incident) ?? -1;
        assert.ok(
          ranks[event]! >= before,
          `channel ${channel} heard ${event} of incident ${incident} after a later notice of it`,
        );
        isRepeat ||= ranks[event]! === before && event !== 'reminder';
        heard.set(incident, ranks[event]!);
      }
      again += isRepeat ? 1 : 0;
    }
    assert.ok(again <= kills, `channel ${channel} heard ${again} things twice in ${kills} kills`);
    repeated += again;
    for (const [place, [result]] of byPlace) {
      const [notice, at] = place.split(' ') as [string, string];
      const [incident, , kind] = notice.split('/') as [string, string, string];
      if (Number(at) !== channel) {
        continue;
      }
      // Who gets a firing and its reminder in one message is told that it fires.
      const least = result === 'folded' && kind === 'reminder' ? ranks['firing']! : ranks[kind]!;
      assert.ok(
        !['sent', 'folded'].includes(result!) || (heard.get(Number(incident)) ?? -1) >= least,
        `${place} is called ${result}, and nobody heard of it`,
      );
      // Nothing stays open on a screen for ever: who heard of the firing hears of its end, unless that failed.
      const stuck =
        kind === 'resolved' &&
        result === 'overtaken' &&
        heard.has(Number(incident)) &&
        heard.get(Number(incident))! < ranks['resolved']!;
      assert.ok(!stuck, `${place} was overtaken although the channel had heard of the firing`);
    }
  }
  const count = (result: string): number =>
    outcomes.filter((outcome) => outcome.result === result).length;
  return {
    accepted: accepted.size,
    sent: count('sent'),
    folded: count('folded'),
    overtaken: count('overtaken'),
    failed: count('failed'),
    'told twice': repeated,
  };
}
