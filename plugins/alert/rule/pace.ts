import type { Settings } from 'svc/sdk';

import { durationOf } from './duration.ts';

/** Settings of alerts that are durations, in milliseconds, each as it stands when it is asked for. */
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
