import { isSvcError, type PluginContext } from 'svc/sdk';

import { PersonChanged } from '../iam/contract.ts';
import { accessTokenMs } from './lifetimes.ts';
import type { Revocations } from './revocations.ts';
import type { Sessions } from './sessions.ts';
import type { SetupToken } from './setup-token.ts';
import type { SigningKeys } from './signing-keys.ts';
import type { Store } from './store.ts';
import type { Uses } from './uses.ts';

export interface Household {
  readonly store: Store;
  readonly sessions: Sessions;
  readonly revocations: Revocations;
  readonly signingKeys: SigningKeys;
  readonly setupToken: SetupToken;
  readonly uses: Uses;
}

const minute = 60_000;

/** What has to happen without anybody asking for it. */
export function keepHouse({ clock, events, log, scope }: PluginContext, { store, sessions, revocations, signingKeys, setupToken, uses }: Household): void {
  /** What storage cannot take now is done next time; it must not count against the room that lets people in. */
  const chore = (label: string, work: () => Promise<void>) => async (): Promise<void> => {
    try {
      await work();
    } catch (error) {
      if (!isSvcError(error)) {
        throw error;
      }
      log.warn({ cause: error.message }, `${label} must wait`);
    }
  };
  const flush = chore('writing down the last uses', () => uses.flush());

  events.on(PersonChanged, ({ id }) =>
    chore('ending outdated sessions', async () => {
      await sessions.endOutdated(id);
      await setupToken.settle();
    })(),
  );
  scope.defer('write down the last uses', flush);
  scope.interval('write down the last uses', minute, flush);
  const clearAway = chore('clearing away what is over', async () => {
    await store.write((rows) => rows.purge(clock.now(), clock.now() - accessTokenMs));
    await revocations.refresh();
    await signingKeys.rotate();
    await setupToken.settle();
  });
  // At once, too: the generation before this one may have ended sessions while this one was brought up.
  scope.task('clear away what is over', clearAway);
  scope.interval('clear away what is over', 60 * minute, clearAway);
}
