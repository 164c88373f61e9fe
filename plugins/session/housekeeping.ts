import { PersonChanged } from 'svc/contracts/iam';
import { isSvcError, type PluginContext } from 'svc/sdk';

import type { Sessions } from './sessions/sessions.ts';
import type { SetupToken } from './sign-in/setup-token.ts';
import { accessTokenMs } from './store/lifetimes.ts';
import type { Store } from './store/store.ts';
import type { Revocations } from './tokens/revocations.ts';
import type { SigningKeys } from './tokens/signing-keys.ts';
import type { Uses } from './tokens/uses.ts';

export interface HousekeepingParts {
  readonly store: Store;
  readonly sessions: Sessions;
  readonly revocations: Revocations;
  readonly signingKeys: SigningKeys;
  readonly setupToken: SetupToken;
  readonly uses: Uses;
}

const minute = 60_000;

/** Starts background work. */
export function startHousekeeping(
  { clock, events, log, scope }: PluginContext,
  { store, sessions, revocations, signingKeys, setupToken, uses }: HousekeepingParts,
): void {
  /**
   * Guards a task: a storage failure is retried at the next run, and does not count against the
   * plugin that authenticates people.
   */
  const chore = (label: string, work: () => Promise<void>) => async (): Promise<void> => {
    try {
      await work();
    } catch (error) {
      if (!isSvcError(error)) {
        throw error;
      }
      log.warn(
        { event: 'session.housekeeping_failed', cause: error.message },
        `${label} failed; retrying at its next run`,
      );
    }
  };
  const flush = chore('writing the last uses', () => uses.flush());

  events.on(PersonChanged, ({ id }) =>
    chore('ending outdated sessions', async () => {
      await sessions.endOutdated(id);
      await setupToken.settle();
    })(),
  );
  scope.defer('write the last uses', flush);
  scope.interval('write the last uses', minute, flush);
  const clearAway = chore('removing expired data', async () => {
    await store.write(async (rows) => {
      await rows.sessions.purge(clock.now(), clock.now() - accessTokenMs);
      await rows.apiTokens.purge(clock.now());
    });
    await revocations.refresh();
    await signingKeys.rotate();
    await setupToken.settle();
  });
  // At once, too: the generation before this one may have ended sessions while this one was brought up.
  scope.task('remove expired data', clearAway);
  scope.interval('remove expired data', 60 * minute, clearAway);
}
