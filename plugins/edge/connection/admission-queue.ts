import { type Clock, SvcError } from 'svc/sdk';

/** Where edges wait before they prove themselves: a fleet that comes back in one moment must leave this process time for everybody else. */
export interface Lobby {
  /** Undefined when it may go on at once; throws or rejects with unavailable when there is no room, or no end of the waiting. */
  enter(): Promise<void> | undefined;
  /** Call it every `sweepMs`: lets the next ones in. A process that is busy comes to it later, and so has fewer of them. */
  turn(): void;
  readonly waiting: number;
}

/** What they cost together is as long as anybody else has to wait for a turn of the loop. */
const perTurn = 50;
const mostWaiting = 4_096;
/** Shorter than edges wait for the answer to their dial. */
const longestMs = 10_000;

interface Guest {
  readonly since: number;
  readonly enter: () => void;
  readonly leave: (error: SvcError) => void;
}

export function createLobby(clock: Pick<Clock, 'monotonic'>, random: () => number): Lobby {
  const guests: Guest[] = [];
  let left = perTurn;

  const tooMany = (): SvcError => {
    const retryAfterSeconds = 1 + Math.floor(random() * 5);
    return new SvcError('unavailable', `too many edges connect at this moment; come back in ${retryAfterSeconds} s`, { retryAfterSeconds });
  };

  return {
    get waiting() {
      return guests.length;
    },
    enter() {
      if (guests.length === 0 && left > 0) {
        left -= 1;
        return undefined;
      }
      if (guests.length >= mostWaiting) {
        throw tooMany();
      }
      return new Promise((enter, leave) => void guests.push({ since: clock.monotonic(), enter, leave }));
    },
    turn() {
      const now = clock.monotonic();
      const entering = guests.splice(0, perTurn);
      left = perTurn - entering.length;
      for (const { since, enter, leave } of entering) {
        if (now - since > longestMs) {
          leave(tooMany());
        } else {
          enter();
        }
      }
    },
  };
}
