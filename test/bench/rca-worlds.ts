import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync, gzipSync } from 'node:zlib';

import type { Snapshot } from 'svc/rca';

import { type MadeWorld, makeWorld } from '../../plugins/investigate/cli/bench/worlds/make.ts';
import {
  type Outcome as Judged,
  outcomeOf,
  shownWorlds,
  worldTableOf,
} from '../../plugins/investigate/cli/bench/worlds/score.ts';
import {
  type WorldKind,
  worldKinds,
} from '../../plugins/investigate/cli/bench/worlds/world/world-kind.ts';
import type { Outcome } from '../exercise.ts';
import { answerTo, snapshotOfWorld } from '../rca-worlds/snapshot-of-world.ts';

interface Options {
  readonly seed?: number;
  readonly worlds?: number;
  readonly kind?: string;
  readonly keep?: string;
  readonly failures?: boolean;
}

/** End of every world: a Wednesday noon. */
const end = Date.UTC(2026, 10, 25, 12);

type Truth = Pick<MadeWorld, 'seed' | 'kind' | 'sees' | 'truth' | 'alert'>;

/**
 * The worlds of `svc bench rca --worlds` in one process, without a server: made, put into stores, asked about and judged in a second or
 * two. With `--keep` a folder holds what was fetched, so that the engine alone is measured again in milliseconds.
 */
export async function run({
  seed = 1_000,
  worlds = 20,
  kind = 'mixed',
  keep = '',
  failures = false,
}: Options): Promise<Outcome> {
  const chosen = worldKinds.filter((one) => kind === 'all' || kind === one);
  const outcomes: Judged[] = [];
  const notFired: number[] = [];
  const begun = process.cpuUsage();
  for (const one of chosen) {
    for (let at = seed; at < seed + worlds; at += 1) {
      const { world, snapshot } = await played(at, one, keep);
      if (snapshot === null) {
        notFired.push(at);
      } else {
        outcomes.push(outcomeOf(world as MadeWorld, answerTo(snapshot)));
      }
    }
  }
  const { user, system } = process.cpuUsage(begun);
  const table = worldTableOf(outcomes, notFired);
  console.log(shownWorlds(table).join('\n'));
  if (failures) {
    outcomes
      .filter(({ rank, fault, decoy }) => rank !== 0 || fault === 'calm' || decoy)
      .forEach((one) => console.log(JSON.stringify(one)));
  }
  return {
    worlds: outcomes.length + notFired.length,
    'CPU seconds a world': (user + system) / 1e6 / Math.max(1, outcomes.length + notFired.length),
  };
}

interface Played {
  readonly world: Truth;
  /** Null: its rule does not fire. */
  readonly snapshot: Snapshot | null;
}

async function played(seed: number, kind: WorldKind, keep: string): Promise<Played> {
  const file = join(keep, `${kind}-${seed}.json.gz`);
  if (keep !== '' && existsSync(file)) {
    const { world, snapshot } = JSON.parse(gunzipSync(readFileSync(file)).toString()) as Played;
    return { world: revived(world), snapshot };
  }
  const made = makeWorld(seed, kind, end);
  const { sees, truth, alert } = made;
  const world = { seed, kind, sees, truth, alert };
  const snapshot = (await snapshotOfWorld(made)) ?? null;
  if (keep !== '') {
    mkdirSync(keep, { recursive: true });
    writeFileSync(file, gzipSync(JSON.stringify({ world: plain(world), snapshot }), { level: 1 }));
  }
  return { world, snapshot };
}

const plain = ({ truth, ...world }: Truth): object => ({
  ...world,
  truth: { ...truth, causes: truth.causes.map((one) => ({ ...one, said: one.said.source })) },
});

const revived = ({ truth, ...world }: Truth): Truth => ({
  ...world,
  truth: {
    ...truth,
    causes: truth.causes.map((one) => ({ ...one, said: new RegExp(one.said, 'i') })),
  },
});
