import { type Clock, SvcError } from 'svc/sdk';

/** Slows down whoever sits at somebody's session and guesses the password behind it. */
export interface Guesses {
  /** Whether a guess at the password of this account is right; throws rate_limited, without asking, after too many that were not. */
  check(id: number, isRight: () => Promise<boolean>): Promise<boolean>;
}

interface Guess {
  readonly at: number;
}

const windowMs = 10 * 60_000;
const mostWrong = 10;

/** Accounts that are watched at once are `mostAccounts`; the one guessed at longest ago makes room. */
export function createGuesses(clock: Clock, mostAccounts = 10_000): Guesses {
  const byAccount = new Map<number, readonly Guess[]>();

  function recent(id: number): readonly Guess[] {
    const since = clock.monotonic() - windowMs;
    return byAccount.get(id)?.filter(({ at }) => at > since) ?? [];
  }

  function keep(id: number, guesses: readonly Guess[]): void {
    byAccount.delete(id);
    if (guesses.length === 0) {
      return;
    }
    if (byAccount.size >= mostAccounts) {
      byAccount.delete(byAccount.keys().next().value!);
    }
    byAccount.set(id, guesses);
  }

  return {
    async check(id, isRight) {
      const before = recent(id);
      if (before.length >= mostWrong) {
        const retryAfterSeconds = Math.ceil((before[0]!.at + windowMs - clock.monotonic()) / 1000);
        throw new SvcError('rate_limited', `current_password was wrong too often; try again in ${retryAfterSeconds} s`, { retryAfterSeconds });
      }
      // Wrong until it is known to be right, so that guesses at the same time cannot outrun the limit.
      const guess: Guess = { at: clock.monotonic() };
      keep(id, [...before, guess]);
      try {
        const right = await isRight();
        if (right) {
          keep(id, []);
        }
        return right;
      } catch (error) {
        // It was never decided.
        keep(
          id,
          recent(id).filter((other) => other !== guess),
        );
        throw error;
      }
    },
  };
}
