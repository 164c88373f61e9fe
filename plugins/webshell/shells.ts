import type { Clock } from 'svc/sdk';

import type { Authority, Standing } from './authority.ts';
import type { Ending } from './limits.ts';
import { limits } from './limits.ts';
import type { LiveShell } from './shell.ts';

/** All shells that are open in this process. */
export interface Shells {
  add(shell: LiveShell): void;
  /** It has ended, and that is written down. */
  remove(id: number): void;
  get(id: number): LiveShell | undefined;
  /** The same, or one that has ended and may still be come back to, to hear how. */
  toShow(id: number): LiveShell | undefined;
  list(): readonly LiveShell[];
  /** Ends those of everybody whose right has ended. */
  recheck(): void;
  endWhere(which: (shell: LiveShell) => boolean, ending: Ending, message: string): Promise<void>;
  /** Every second. */
  tick(): void;
}

const hasLost = 'your right to this shell has ended';

export function createShells({ clock, authority }: { readonly clock: Clock; readonly authority: Authority }): Shells {
  const open = new Map<number, LiveShell>();
  /** The oldest first. */
  const awaited = new Map<number, LiveShell>();
  let checkedAt = clock.monotonic();

  async function endWhere(which: (shell: LiveShell) => boolean, ending: Ending, message: string): Promise<void> {
    await Promise.all([...open.values()].filter(which).map((shell) => shell.end(ending, message)));
  }

  const lost = (standing: Standing): boolean => !authority.holds(standing);
  const recheck = (): void => void endWhere(({ standing }) => lost(standing), 'revoked', hasLost);

  return {
    add: (shell) => void open.set(shell.id, shell),
    remove(id) {
      const shell = open.get(id);
      open.delete(id);
      if (shell?.isAwaited === true) {
        awaited.set(id, shell);
      }
      const [oldest] = awaited.keys();
      if (awaited.size > limits.awaited && oldest !== undefined) {
        awaited.delete(oldest);
      }
    },
    get: (id) => open.get(id),
    toShow(id) {
      const past = awaited.get(id);
      return open.get(id) ?? (past?.isAwaited === true ? past : undefined);
    },
    list: () => [...open.values()],
    recheck,
    endWhere,
    tick() {
      open.forEach((shell) => shell.tick());
      awaited.forEach(({ isAwaited }, id) => isAwaited || awaited.delete(id));
      if (clock.monotonic() - checkedAt >= limits.recheckMs) {
        checkedAt = clock.monotonic();
        recheck();
      }
    },
  };
}
