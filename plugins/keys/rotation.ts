import { type Logger, type MasterKeys, messageOf } from 'svc/sdk';

import { errors } from './errors.ts';

/** Result of a master key rotation. */
export interface Rotated {
  readonly kid: string;
  readonly resealed: number;
  readonly unreadable: number;
  readonly unused: string[];
}

/** Rotation of every secret from one master key to the next, one pass at a time. */
export class Rotation {
  readonly #keys: MasterKeys;
  readonly #log: Logger;
  readonly #stop = new AbortController();
  #running: Promise<unknown> | undefined;

  constructor(keys: MasterKeys, log: Logger) {
    this.#keys = keys;
    this.#log = log;
  }

  async rotate(): Promise<Rotated> {
    if (this.#running !== undefined) {
      throw errors.rotation_running();
    }
    return await this.#alone(async () => {
      await this.#keys.renew();
      return await this.#sealAll();
    });
  }

  /** Resumes a rotation that an earlier process did not finish. */
  async resume(): Promise<void> {
    try {
      const done = await this.#alone(async () =>
        (await this.#keys.superseded()).length === 0 ? undefined : await this.#sealAll(),
      );
      if (done) {
        this.#log.info({ ...done }, 'all secrets are now encrypted with the newest key');
      }
    } catch (error) {
      this.#log.warn(
        { event: 'keys.rotation_unfinished', cause: messageOf(error) },
        'some secrets are not encrypted with the newest key yet; continuing at the next start',
      );
    }
  }

  /** Stops the rotation; its request learns how far it got. */
  async stop(): Promise<void> {
    this.#stop.abort(errors.rotation_stopped());
    await this.#running?.catch(() => undefined);
  }

  async #sealAll(): Promise<Rotated> {
    const { kid, resealed, unreadable } = await this.#keys.reseal(this.#stop.signal);
    return {
      kid,
      resealed,
      unreadable: unreadable.length,
      unused: this.#keys.older.filter((older) => !unreadable.includes(older)),
    };
  }

  async #alone<T>(work: () => Promise<T>): Promise<T> {
    const result = work();
    this.#running = result;
    try {
      return await result;
    } finally {
      this.#running = undefined;
    }
  }
}
