import type { Clock } from 'svc/sdk';

import { errors } from '../protocol/errors.ts';
import type { Authority } from '../rights/authority.ts';
import { type Ending, limits } from '../protocol/limits.ts';
import type { LiveShell } from './shell.ts';

const rightLost = 'you no longer have permission to use this shell';
const unseen = 'this device is not among those that you see any more';

/** All shells that are open in this process, and for a while those whose end their user has not received yet. */
export class Shells {
  readonly #clock: Clock;
  readonly #authority: Authority;
  readonly #open = new Map<number, LiveShell>();
  /** The oldest first. */
  readonly #awaited = new Map<number, LiveShell>();
  #checkedAt: number;

  constructor({ clock, authority }: { readonly clock: Clock; readonly authority: Authority }) {
    this.#clock = clock;
    this.#authority = authority;
    this.#checkedAt = clock.monotonic();
  }

  add(shell: LiveShell): void {
    this.#open.set(shell.id, shell);
  }

  /** Removes a shell whose end is recorded. */
  remove(id: number): void {
    const shell = this.#open.get(id);
    this.#open.delete(id);
    if (shell?.isAwaited === true) {
      this.#awaited.set(id, shell);
    }
    const [oldest] = this.#awaited.keys();
    if (this.#awaited.size > limits.awaited && oldest !== undefined) {
      this.#awaited.delete(oldest);
    }
  }

  get(id: number): LiveShell | undefined {
    return this.#open.get(id);
  }

  /** The same, or one that has ended and may still be attached to, to receive how. */
  attachable(id: number): LiveShell | undefined {
    const past = this.#awaited.get(id);
    return this.#open.get(id) ?? (past?.isAwaited === true ? past : undefined);
  }

  /** The same; throws not_found without one. */
  requireAttachable(id: number): LiveShell {
    const shell = this.attachable(id);
    if (!shell) {
      throw errors.shell_is_over({ id });
    }
    return shell;
  }

  list(): readonly LiveShell[] {
    return [...this.#open.values()];
  }

  /** Ends shells of users who have lost the permission, or no longer see the device. */
  recheck(): void {
    void this.endWhere(({ standing }) => !this.#authority.holds(standing), 'revoked', rightLost);
    void Promise.all(this.list().map((shell) => this.#endUnseen(shell)));
  }

  /** Ends a shell whose device is no longer visible, or if that cannot be determined. */
  async #endUnseen(shell: LiveShell): Promise<void> {
    if (!(await this.#authority.sees(shell.standing, shell.deviceId).catch(() => false))) {
      await shell.end('revoked', unseen);
    }
  }

  async endWhere(
    which: (shell: LiveShell) => boolean,
    ending: Ending,
    message: string,
  ): Promise<void> {
    await Promise.all(
      this.list()
        .filter(which)
        .map((shell) => shell.end(ending, message)),
    );
  }

  /** Every second. */
  tick(): void {
    this.#open.forEach((shell) => shell.tick());
    this.#awaited.forEach(({ isAwaited }, id) => isAwaited || this.#awaited.delete(id));
    if (this.#clock.monotonic() - this.#checkedAt >= limits.recheckMs) {
      this.#checkedAt = this.#clock.monotonic();
      this.recheck();
    }
  }
}
