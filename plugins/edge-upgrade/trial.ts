import { mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';

import { move, readSmall, writeWhole } from './durable.ts';

/** A new version that the launcher runs until it is healthy or has had its time. */
export interface Trial {
  readonly job: string;
  /** Folders of `<data>/versions`; `-` is the installed program. */
  readonly next: string;
  readonly previous: string;
  readonly seconds: number;
}

/** What the launcher took back, and why. */
export interface TurnedBack {
  readonly job: string;
  readonly folder: string;
  readonly reason: string;
}

/** `<data>/upgrade`: what agent and launcher have to tell each other; lines, since a shell reads them. */
export interface Trials {
  current(): Trial | undefined;
  /** From now on the launcher runs the new version. */
  begin(trial: Trial): void;
  /** The new version stays. */
  pass(): void;
  turnedBack(): TurnedBack | undefined;
  forgetTurnedBack(): void;
}

export function openTrials(dataDir: string): Trials {
  const folder = join(dataDir, 'upgrade');
  const trialFile = join(folder, 'trial');
  const backFile = join(folder, 'back');
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  return {
    current() {
      const [job = '', next = '', previous = '', seconds = ''] = readSmall(trialFile)?.split('\n') ?? [];
      return next === '' ? undefined : { job, next, previous, seconds: Number(seconds) };
    },
    begin({ job, next, previous, seconds }) {
      rmSync(backFile, { force: true });
      rmSync(join(folder, 'starts'), { force: true });
      writeWhole(trialFile, `${job}\n${next}\n${previous}\n${seconds}\n`);
    },
    pass: () => move(trialFile, join(folder, 'healthy')),
    turnedBack() {
      const [job = '', at = '', reason = ''] = readSmall(backFile)?.split('\n') ?? [];
      return job === '' ? undefined : { job, folder: at, reason };
    },
    forgetTurnedBack: () => rmSync(backFile, { force: true }),
  };
}
