import type { Principal } from 'svc/sdk';

import { errors } from '../protocol/errors.ts';
import { limits } from '../protocol/limits.ts';

/** Limits of concurrent shells: of a person, on a device, and in total. */
export class ShellQuota {
  readonly #reserved = new Set<{ readonly user: string; readonly deviceId: number }>();

  /** Throws rate_limited when no further shell may be opened. */
  check(principal: Principal, deviceId: number): void {
    const user = userOf(principal);
    const own = [...this.#reserved].filter((shell) => shell.user === user).length;
    const here = [...this.#reserved].filter((shell) => shell.deviceId === deviceId).length;
    const reached =
      own >= limits.perUser
        ? `you have ${own} shells open, the limit for one user`
        : here >= limits.perDevice
          ? `there are ${here} shells open on this device, the limit for one device`
          : this.#reserved.size >= limits.total
            ? `there are ${this.#reserved.size} shells open, the limit for this service`
            : undefined;
    if (reached !== undefined) {
      throw errors.too_many_shells({ reached });
    }
  }

  /** Counts a shell; the returned function gives its place back. */
  reserve(principal: Principal, deviceId: number): () => void {
    this.check(principal, deviceId);
    const shell = { user: userOf(principal), deviceId };
    this.#reserved.add(shell);
    return () => void this.#reserved.delete(shell);
  }
}

/** A person and their API tokens are one. */
export const userOf = ({ kind, id }: Principal): string =>
  kind === 'token' ? `user:${id}` : `${kind}:${id}`;
