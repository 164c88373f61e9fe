import type { Reading } from 'svc/check';

import type { CheckState, Definition } from '../check/check.ts';

/** Result of one place after its retries. */
export interface Vote {
  readonly place: string;
  /** Milliseconds since the epoch. */
  readonly at: number;
  /** Absent: the place could not probe, so it says nothing about the target. */
  readonly reading?: Reading;
  /** Why it could not probe. */
  readonly offline?: string;
}

export interface Verdict {
  readonly state: Exclude<CheckState, 'waiting'>;
  readonly cause: string | null;
  /** Places that failed. */
  readonly failing: readonly string[];
}

/** Number of places that must fail for a check to be down. */
export const neededOf = (
  { down_at: downAt }: Pick<Definition, 'down_at'>,
  places: number,
): number => (downAt > 0 ? downAt : places > 1 ? 2 : 1);

/**
 * Decides over all places of one round. A place that could not probe never counts against the
 * target; too few that could make the check stale.
 */
export function verdictOf(
  definition: Pick<Definition, 'down_at'>,
  votes: readonly Vote[],
): Verdict {
  const answered = votes.filter((vote) => vote.reading !== undefined);
  const failing = answered.filter(({ reading }) => !reading!.success);
  const needed = neededOf(definition, votes.length);
  const places = failing.map(({ place }) => place);
  if (failing.length >= needed) {
    return { state: 'down', cause: causeOf(failing, answered.length), failing: places };
  }
  if (answered.length === 0 || (answered.length < needed && failing.length > 0)) {
    return { state: 'stale', cause: doubtOf(votes, failing), failing: places };
  }
  return {
    state: 'up',
    cause:
      failing.length === 0 ? null : `fails from ${list(places)}: ${failing[0]!.reading!.cause}`,
    failing: places,
  };
}

function causeOf(failing: readonly Vote[], answered: number): string {
  const causes = [...new Set(failing.map(({ reading }) => reading!.cause ?? 'failed'))];
  const where = answered > 1 ? `from ${list(failing.map(({ place }) => place))}: ` : '';
  return `${where}${causes.slice(0, 3).join('; ')}`;
}

function doubtOf(votes: readonly Vote[], failing: readonly Vote[]): string {
  const offline = votes.find((vote) => vote.offline !== undefined);
  const silent =
    offline === undefined ? 'there is no place' : `${offline.place}: ${offline.offline}`;
  return failing.length === 0
    ? silent
    : `fails from ${list(failing.map(({ place }) => place))}, but no second place could confirm it; ${silent}`;
}

const list = (names: readonly string[]): string =>
  names.length > 3
    ? `${names.slice(0, 3).join(', ')} and ${names.length - 3} more`
    : names.join(', ');
