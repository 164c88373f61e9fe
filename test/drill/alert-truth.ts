import { setTimeout as pause } from 'node:timers/promises';

import type { Outcome } from '../exercise.ts';
import { counted } from '../counted.ts';
import { findPeer, peers } from '../peers.ts';
import { numbers } from '../plugins/alert/random.ts';
import { edgeAway, storeAway } from './alert-truth-away.ts';
import { FakedHouse } from './alert-truth-house.ts';
import { World } from './alert-truth-world.ts';

/** Longest until the receiver knows of a change, on a machine that is busy. */
const toldMs = 90_000;
const hour = 3_600;

interface Options {
  readonly kills?: number;
  readonly hold?: number;
  readonly away?: number;
  readonly only?: string;
}

export interface Stage {
  readonly t: { after(end: () => unknown): void };
  readonly world: World;
  readonly faked: FakedHouse;
  readonly faketime: string;
  /** Time that a wrong clock lasts, and that senders come back late. */
  readonly holdMs: number;
}

/**
 * Tests the real server with a stepping wall clock, kills, and an hour of downtime, with senders,
 * an edge and a store that disappear: no RESOLVED is sent for what fires, and no firing is lost.
 * `away`: seconds for which an edge and a store are gone, 0 tries neither; `only`: part of the
 * names of scenarios to play besides the first.
 */
export async function run({
  kills = 50,
  hold = 60,
  away = 420,
  only = '',
}: Options = {}): Promise<Outcome> {
  const faketime = findPeer('libfaketimeMT.so.1');
  if (faketime === undefined) {
    return {
      ok: false,
      why: `libfaketime is not installed (Debian: apt-get install ${peers['libfaketimeMT.so.1']})`,
    };
  }
  const ends: (() => unknown)[] = [];
  const t = { after: (end: () => unknown) => void ends.push(end) };
  const passed: { scenario: string; seconds: number; faults: number }[] = [];
  try {
    const world = await new World().listen(t);
    const faked = new FakedHouse(t, world, faketime);
    const stage: Stage = { t, world, faked, faketime, holdMs: hold * 1_000 };
    const chosen = scenes({ kills, away }).filter(
      ([name], at) => at === 0 || new RegExp(only).test(name),
    );
    for (const [scenario, play] of chosen) {
      const began = performance.now();
      const before = world.faults.length;
      await play(stage);
      await world.isTold(scenario, toldMs);
      passed.push({
        scenario,
        seconds: Math.round((performance.now() - began) / 1_000),
        faults: world.faults.length - before,
      });
    }
    return {
      ok: world.faults.length === 0,
      ...world.counts,
      passed,
      ...(world.faults.length > 0 && { faults: world.faults.slice(0, 10).join('; ') }),
    };
  } finally {
    for (const end of ends.toReversed()) {
      await end();
    }
  }
}

type Scene = readonly [name: string, play: (stage: Stage) => Promise<unknown>];

const scenes = ({
  kills,
  away,
}: {
  readonly kills: number;
  readonly away: number;
}): readonly Scene[] => [
  [
    'first firings',
    async ({ world, faked }) => {
      await faked.furnish(world.hook);
      [0, 0, 0].forEach(() => world.flip(0));
    },
  ],
  ['restart', (stage) => outage(stage, 0, 'SIGTERM')],
  [`kill -9, ${kills} times`, (stage) => killed(stage, kills)],
  ['outage of 10 minutes', (stage) => outage(stage, 600, 'SIGTERM')],
  ['outage of an hour', (stage) => outage(stage, hour, 'SIGKILL')],
  ...[hour, -hour, 24 * hour, -24 * hour].map((step): Scene => [
    `clock ${step > 0 ? '+' : '-'}${Math.abs(step) / hour} h and back`,
    (stage) => wrongClock(stage, step),
  ]),
  ['everybody’s clock +1 h', resumed],
  ...(away === 0
    ? []
    : [
        [
          `edge away, and store away, for ${away} s`,
          (stage) => Promise.all([edgeAway(stage, away), storeAway(stage, away)]),
        ] satisfies Scene,
      ]),
];

/**
 * Stops svc while time passes, one unit recovers and another begins to fire; its senders are back
 * later than it.
 */
async function outage(
  { world, faked, holdMs }: Stage,
  seconds: number,
  signal: 'SIGTERM' | 'SIGKILL',
): Promise<void> {
  await world.isTold('before the outage', toldMs);
  await faked.stop(signal);
  faked.stepClock(seconds);
  world.offsetMs += seconds * 1_000;
  world.flip(0);
  world.flip(3);
  world.isMuted = true;
  await faked.start();
  await faked.isClock(world.offsetMs);
  await pause(holdMs);
  world.isMuted = false;
}

async function killed({ world, faked }: Stage, kills: number): Promise<void> {
  const random = numbers(12);
  for (const _kill of counted(kills, 'kills')) {
    world.flip(random(9));
    await pause(random(2_500));
    await faked.stop('SIGKILL');
    await faked.start();
  }
}

/** Sets the clock of svc wrong, and corrects it; its senders keep their time. */
async function wrongClock({ world, faked, holdMs }: Stage, step: number): Promise<void> {
  faked.stepClock(step);
  await faked.isClock(world.offsetMs + step * 1_000);
  await pause(holdMs);
  faked.stepClock(-step);
  await faked.isClock(world.offsetMs);
  await world.isTold('after a wrong clock', toldMs);
  world.flip(1);
}

/** A virtual machine that was asleep, and senders whose clocks are set a moment later. */
async function resumed({ world, faked, holdMs }: Stage): Promise<void> {
  faked.stepClock(hour);
  await pause(Math.min(holdMs, 5_000));
  world.offsetMs += hour * 1_000;
  await pause(holdMs);
  await world.isTold('after the clocks of all were set', toldMs);
  world.flip(2);
}
