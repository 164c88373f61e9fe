import type { Settings } from 'svc/sdk';

import { durationOf } from './duration.ts';

/** Durations among the alert settings, in milliseconds, read at each use. */
export class Pace {
  readonly #settings: Pick<Settings, 'get'>;

  constructor(settings: Pick<Settings, 'get'>) {
    this.#settings = settings;
  }

  /** Returns the interval of rules that set none. */
  readonly intervalMs = (): number => this.#of('alert.eval_interval');
  readonly cooldownMs = (): number => this.#of('alert.cooldown');
  readonly reminderMs = (): number => this.#of('alert.reminder');
  readonly retentionMs = (): number => this.#of('alert.retention');

  #of(setting: string): number {
    return durationOf(this.#settings.get<string>(setting), setting);
  }
}
