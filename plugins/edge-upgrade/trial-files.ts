import { mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';

import { writeText } from 'svc/tunnel';

import { move, readSmall } from './durable.ts';

/** A new version that the launcher runs until it is healthy or has had its time. */
export interface Trial {
  readonly job: string;
  /** Folders of `<data>/versions`; `-` is the installed program. */
  readonly next: string;
  readonly previous: string;
  readonly seconds: number;
}

/** Upgrade that the launcher rolled back, and why. */
export interface TurnedBack {
  readonly job: string;
  readonly folder: string;
  readonly reason: string;
}

/** `<data>/upgrade`: what agent and launcher pass on to each other; lines, since a shell reads them. */
export class TrialFiles {
  readonly #folder: string;
  readonly #trial: string;
  readonly #back: string;

  constructor(dataDir: string) {
    this.#folder = join(dataDir, 'upgrade');
    this.#trial = join(this.#folder, 'trial');
    this.#back = join(this.#folder, 'back');
    mkdirSync(this.#folder, { recursive: true, mode: 0o700 });
  }

  current(): Trial | undefined {
    const [job = '', next = '', previous = '', seconds = ''] =
      readSmall(this.#trial)?.split('\n') ?? [];
    return next === '' ? undefined : { job, next, previous, seconds: Number(seconds) };
  }

  /** Makes the launcher run the new version from now on. */
  begin({ job, next, previous, seconds }: Trial): void {
    rmSync(this.#back, { force: true });
    rmSync(join(this.#folder, 'starts'), { force: true });
    writeText(this.#trial, `${job}\n${next}\n${previous}\n${seconds}\n`);
  }

  /** The new version stays. */
  pass(): void {
    move(this.#trial, join(this.#folder, 'healthy'));
  }

  turnedBack(): TurnedBack | undefined {
    const [job = '', folder = '', reason = ''] = readSmall(this.#back)?.split('\n') ?? [];
    return job === '' ? undefined : { job, folder, reason };
  }

  forgetTurnedBack(): void {
    rmSync(this.#back, { force: true });
  }
}
