import { type Call, type Clock, type Page, type PageRequest, SvcError, timestamp } from 'svc/sdk';
import type { Static } from 'typebox';

import { actorOf } from '../incident/actor.ts';
import { durationOf } from '../incident/duration.ts';
import type { Mutable } from '../gates/review.ts';
import { assertSelective, labelMatcher } from './label-matcher.ts';
import type { SilenceDraft, SilenceItem } from './schema.ts';
import { isInForce, mutes, type Recurrence, type Silence, type SilenceState, stateOf } from './silence.ts';
import type { SilenceStore } from './silence-store.ts';

type Item = Static<typeof SilenceItem>;
type Change = Pick<Call, 'principal' | 'note'>;

const mostAtOnce = 1_000;
const longestMs = 366 * 86_400_000;
const longestWindowMs = 7 * 86_400_000;
const keptMs = 90 * 86_400_000;

/** Mutes by label: what is in force is in memory, since the gates ask about every incident. */
export class Silences {
  readonly #store: SilenceStore;
  readonly #clock: Clock;
  #current: readonly Silence[] = [];

  constructor(store: SilenceStore, clock: Clock) {
    this.#store = store;
    this.#clock = clock;
  }

  /** Reads what has not ended. */
  async refresh(): Promise<void> {
    this.#current = await this.#store.current(this.#clock.now());
  }

  /** The first one in force that matches. */
  covering(one: Mutable, now: number): Silence | undefined {
    return this.#current.find((silence) => isInForce(silence, now) && mutes(silence, one));
  }

  async list(state: SilenceState | undefined, { limit, after }: PageRequest): Promise<Page<Item>> {
    const now = this.#clock.now();
    const { items, total, more } = await this.#store.list({ now, state, limit, below: after === undefined ? undefined : Number(after[0]) });
    return { items: items.map((silence) => shown(silence, now)), total, next: more ? [items.at(-1)!.id] : undefined };
  }

  async get(id: number): Promise<Item> {
    return shown(await this.#find(id), this.#clock.now());
  }

  async add(draft: Static<typeof SilenceDraft>, change: Change): Promise<Item> {
    const now = this.#clock.now();
    const starts = draft.starts_at === undefined ? now : Date.parse(draft.starts_at);
    const ends = endOf(draft, starts);
    if (ends <= now || ends <= starts || ends - starts > longestMs) {
      throw new SvcError('invalid_argument', 'a silence ends after it starts, in the future, and within 366 days of its start');
    }
    const matchers = draft.matchers.map(labelMatcher);
    assertSelective(matchers);
    if ((await this.#store.count(now)) >= mostAtOnce) {
      throw new SvcError('conflict', `the limit of ${mostAtOnce} active and pending silences is reached; end some of them first`);
    }
    const made = await this.#store.add(
      {
        matchers,
        starts_at: starts,
        ends_at: ends,
        recurrence: draft.recurrence === undefined ? null : recurrenceOf(draft.recurrence),
        reason: draft.reason,
        created_by: actorOf(change.principal).name,
        created_at: now,
        updated_at: now,
      },
      (id) => change.note({ resourceType: 'silence', resourceId: id, after: draft }),
    );
    await this.refresh();
    return shown(made, now);
  }

  /** From now on it mutes nothing. One that is over stays as it was. */
  async expire(id: number, change: Change): Promise<void> {
    const silence = await this.#find(id);
    const now = this.#clock.now();
    change.note({ resourceType: 'silence', resourceId: id, before: shown(silence, now) });
    if (silence.ends_at > now) {
      await this.#store.end(id, now);
      await this.refresh();
    }
  }

  async removeExpired(): Promise<void> {
    await this.#store.removeEnded(this.#clock.now() - keptMs);
    await this.refresh();
  }

  async #find(id: number): Promise<Silence> {
    const silence = await this.#store.find(id);
    if (silence === undefined) {
      throw new SvcError('not_found', `there is no silence ${id}`);
    }
    return silence;
  }
}

function endOf({ ends_at: end, duration }: Static<typeof SilenceDraft>, starts: number): number {
  if ((end === undefined) === (duration === undefined)) {
    throw new SvcError('invalid_argument', 'a silence has either ends_at or duration');
  }
  return end === undefined ? starts + durationOf(duration!, 'duration') : Date.parse(end);
}

function recurrenceOf({ days, start, duration }: NonNullable<Static<typeof SilenceDraft>['recurrence']>): Recurrence {
  const ms = durationOf(duration, 'recurrence.duration');
  if (ms === 0 || ms > longestWindowMs) {
    throw new SvcError('invalid_argument', 'the duration of a recurrence is above zero and at most 7d');
  }
  const [hours, minutes] = start.split(':').map(Number);
  return { days, start_minute: hours! * 60 + minutes!, duration_ms: ms };
}

const two = (part: number): string => String(part).padStart(2, '0');

function shown(silence: Silence, now: number): Item {
  const { recurrence } = silence;
  return {
    id: silence.id,
    matchers: silence.matchers.map(({ name, op, value }) => ({ name, op, value })),
    starts_at: timestamp(silence.starts_at),
    ends_at: timestamp(silence.ends_at),
    ...(recurrence && {
      recurrence: {
        days: [...recurrence.days],
        start: `${two(Math.floor(recurrence.start_minute / 60))}:${two(recurrence.start_minute % 60)}`,
        duration: `${recurrence.duration_ms / 1_000}s`,
      },
    }),
    reason: silence.reason,
    state: stateOf(silence, now),
    in_force: isInForce(silence, now),
    created_by: silence.created_by,
    created_at: timestamp(silence.created_at),
    updated_at: timestamp(silence.updated_at),
  };
}
