import { idTexts, type SeenBy, type SeenDevices } from 'svc/query';
import {
  type Call,
  type Clock,
  type Page,
  type PageRequest,
  type Principal,
  timestamp,
} from 'svc/sdk';
import type { Static } from 'typebox';

import type { Mutable } from '../incident/gates/review.ts';
import { actorOf } from '../incident/ledger/actor.ts';
import { durationOf } from '../rule/duration.ts';
import { errors } from './errors.ts';
import { assertSelective, labelMatcher } from './label-matcher.ts';
import { isTimeZone, type Recurrence, type TimeSpan } from './recurrence.ts';
import type { CalendarShown, SilenceDraft, SilenceItem, SilencePreview } from './schema.ts';
import { isInForce, mutes, type Silence, type SilenceState, spansOf, stateOf } from './silence.ts';
import type { SilenceReach } from './silence-reach.ts';
import type { SilenceStore } from './silence-store.ts';

type Item = Static<typeof SilenceItem>;
type Draft = Static<typeof SilenceDraft>;
type Change = Pick<Call, 'principal' | 'note'>;

const maxAtOnce = 1_000;
const longestMs = 366 * 86_400_000;
const longestWindowMs = 7 * 86_400_000;
const longestCalendarMs = 45 * 86_400_000;
const maxCalendar = 2_000;
/** Windows of a preview, and how far ahead they are looked for. */
const maxWindows = 5;
const aheadMs = 60 * 86_400_000;
const keptMs = 90 * 86_400_000;

/** What is measured of something before any rule has looked at it. */
const ofNoRule = {
  rule_key: '',
  severity: '',
  scope_type: '',
  scope_id: '',
  device_id: null,
} as const;

export interface SilenceParts {
  readonly store: SilenceStore;
  readonly reach: SilenceReach;
  readonly clock: Clock;
  readonly seenBy: SeenBy;
}

/** Mutes by label: what is in force is in memory, since the gates ask about every incident. */
export class Silences {
  readonly #store: SilenceStore;
  readonly #clock: Clock;
  readonly #reach: SilenceReach;
  readonly #seenBy: SeenBy;
  #current: readonly Silence[] = [];
  /**
   * Silences in force at one moment, cached because the gates ask about every instance and time
   * zone arithmetic is slow.
   */
  #inForce: { readonly now: number; readonly silences: readonly Silence[] } | undefined;

  constructor({ store, reach, clock, seenBy }: SilenceParts) {
    this.#store = store;
    this.#seenBy = seenBy;
    this.#reach = reach;
    this.#clock = clock;
  }

  /** Reads what has not ended. */
  async refresh(): Promise<void> {
    this.#current = await this.#store.current(this.#clock.now());
    this.#inForce = undefined;
  }

  /** The first one in force that matches. */
  covering(one: Mutable, now: number): Silence | undefined {
    return this.#inForceAt(now).find((silence) => mutes(silence, one));
  }

  /** Returns when the first of the silences in force was created that select these labels whatever the rule. */
  announcedAt(labels: Readonly<Record<string, string>>): number | undefined {
    const created = this.#inForceAt(this.#clock.now())
      .filter((silence) => mutes(silence, { ...ofNoRule, labels }))
      .map(({ created_at: at }) => at);
    return created.length === 0 ? undefined : Math.min(...created);
  }

  #inForceAt(now: number): readonly Silence[] {
    if (this.#inForce?.now !== now) {
      this.#inForce = { now, silences: this.#current.filter((silence) => isInForce(silence, now)) };
    }
    return this.#inForce.silences;
  }

  async list(
    asker: Principal,
    state: SilenceState | undefined,
    { limit, after }: PageRequest,
  ): Promise<Page<Item>> {
    const now = this.#clock.now();
    const { items, total, more } = await this.#store.list(
      { now, state, limit, below: after === undefined ? undefined : Number(after[0]) },
      await this.#seenBy(asker),
    );
    return {
      items: items.map((silence) => shown(silence, now)),
      total,
      next: more ? [items.at(-1)!.id] : undefined,
    };
  }

  async get(asker: Principal, id: number): Promise<Item> {
    return shown(await this.#find(id, await this.#seenBy(asker)), this.#clock.now());
  }

  async add(draft: Draft, change: Change): Promise<Item> {
    const now = this.#clock.now();
    const devices = devicesOf(await this.#seenBy(change.principal));
    const fields = fieldsOf(draft, now);
    this.#assertOwnName(fields.name, undefined, now);
    if ((await this.#store.count(now)) >= maxAtOnce) {
      throw errors.too_many_silences({ max: maxAtOnce });
    }
    const author = actorOf(change.principal).name;
    const made = await this.#store.add(
      {
        ...fields,
        name: fields.name ?? null,
        devices,
        created_by: author,
        updated_by: author,
        created_at: now,
        updated_at: now,
      },
      (id) => change.note({ resourceType: 'silence', resourceId: id, after: draft }),
    );
    await this.refresh();
    return shown(made, now);
  }

  /** Replaces all fields except the creator. An expired silence cannot be revived. */
  async replace(id: number, draft: Draft, change: Change): Promise<Item> {
    const seen = await this.#seenBy(change.principal);
    const before = await this.#find(id, seen);
    const now = this.#clock.now();
    if (before.ends_at <= now) {
      throw errors.silence_ended({ id });
    }
    // It goes on from where it began unless it is to begin later.
    const { name = before.name, ...fields } = fieldsOf(
      { starts_at: timestamp(before.starts_at), ...draft },
      now,
    );
    this.#assertOwnName(name, id, now);
    change.note({
      resourceType: 'silence',
      resourceId: id,
      before: shown(before, now),
      after: draft,
    });
    // Who sees all changes what it says, and not whose it is.
    const devices = seen === undefined ? before.devices : devicesOf(seen);
    await this.#store.replace(id, {
      ...fields,
      name,
      devices,
      updated_by: actorOf(change.principal).name,
      updated_at: now,
    });
    await this.refresh();
    return this.get(change.principal, id);
  }

  /** Returns what the draft would mute. */
  async preview(asker: Principal, draft: Draft): Promise<Static<typeof SilencePreview>> {
    const now = this.#clock.now();
    const { name: _name, ...fields } = fieldsOf(draft, now);
    const windows: TimeSpan[] = [];
    if (fields.recurrence !== null) {
      const ahead = { from: now, to: Math.min(fields.ends_at, now + aheadMs) };
      for (const span of spansOf(fields, ahead)) {
        windows.push(span);
        if (windows.length === maxWindows) {
          break;
        }
      }
    }
    return {
      ...(await this.#reach.preview({ ...fields, devices: null }, now, await this.#seenBy(asker))),
      windows: windows.map(shownSpan),
    };
  }

  /** Returns the labels of what fires or fired, which a silence could match. */
  async labels(asker: Principal): ReturnType<SilenceReach['labels']> {
    return await this.#reach.labels(this.#clock.now(), await this.#seenBy(asker));
  }

  /** Returns when silences mute between two times; those that have ended count, as long as they are kept. */
  async calendar(asker: Principal, { from, to }: TimeSpan): Promise<Static<typeof CalendarShown>> {
    if (!(from < to) || to - from > longestCalendarMs) {
      throw errors.calendar_span();
    }
    const silences = await this.#store.within({ from, to }, await this.#seenBy(asker));
    const items = silences
      .flatMap((silence) => [...spansOf(silence, { from, to })].map((span) => ({ silence, span })))
      .sort((a, b) => a.span.from - b.span.from || a.silence.id - b.silence.id);
    return {
      items: items.slice(0, maxCalendar).map(({ silence, span }) => ({
        silence_id: silence.id,
        name: shownName(silence),
        matchers: silence.matchers.map(({ name, op, value }) => ({ name, op, value })),
        reason: silence.reason,
        is_window: silence.recurrence !== null,
        ...shownSpan(span),
      })),
      left_out: Math.max(0, items.length - maxCalendar),
    };
  }

  /** Returns what the silence mutes now; nothing outside its hours. */
  async muted(
    asker: Principal,
    id: number,
    page: PageRequest,
  ): Promise<ReturnType<SilenceReach['muted']>> {
    const seen = await this.#seenBy(asker);
    const silence = await this.#find(id, seen);
    return isInForce(silence, this.#clock.now())
      ? this.#reach.muted(silence, page, seen)
      : { items: [], total: 0, next: undefined };
  }

  /** Expires the silence as of now. One that has already ended stays as it was. */
  async expire(id: number, change: Change): Promise<void> {
    const silence = await this.#find(id, await this.#seenBy(change.principal));
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

  #assertOwnName(name: string | null | undefined, id: number | undefined, now: number): void {
    if (
      this.#current.some((one) => one.id !== id && one.ends_at > now && shownName(one) === name)
    ) {
      // Without its number: it may be another customer's.
      throw errors.silence_taken({ name: String(name) });
    }
  }

  async #find(id: number, seen: SeenDevices): Promise<Silence> {
    const silence = await this.#store.find(id, seen);
    if (silence === undefined) {
      throw errors.no_silence({ id });
    }
    return silence;
  }
}

/**
 * Returns the devices to limit a silence to: a user with access to some devices mutes those alone,
 * as of the time of creation.
 */
function devicesOf(seen: SeenDevices): Silence['devices'] {
  if (seen?.ids.size === 0) {
    throw errors.no_devices();
  }
  return seen === undefined ? null : new Set(JSON.parse(idTexts(seen)) as string[]);
}

function endOf({ ends_at: end, duration }: Draft, starts: number): number {
  if ((end === undefined) === (duration === undefined)) {
    throw errors.ends_twice();
  }
  return end === undefined ? starts + durationOf(duration!, 'duration') : Date.parse(end);
}

/** Returns the fields to store for a draft. */
function fieldsOf(
  draft: Draft,
  now: number,
): Pick<Silence, 'matchers' | 'starts_at' | 'ends_at' | 'recurrence' | 'reason'> & {
  readonly name: string | undefined;
} {
  const starts = draft.starts_at === undefined ? now : Date.parse(draft.starts_at);
  const ends = endOf(draft, starts);
  if (ends <= now || ends <= starts || ends - starts > longestMs) {
    throw errors.silence_span();
  }
  const matchers = draft.matchers.map(labelMatcher);
  assertSelective(matchers);
  const recurrence = draft.recurrence === undefined ? null : recurrenceOf(draft.recurrence);
  return {
    name: draft.name,
    matchers,
    starts_at: starts,
    ends_at: ends,
    recurrence,
    reason: draft.reason,
  };
}

function recurrenceOf({
  days,
  start,
  duration,
  time_zone: zone,
}: NonNullable<Draft['recurrence']>): Recurrence {
  const ms = durationOf(duration, 'recurrence.duration');
  if (ms === 0 || ms > longestWindowMs) {
    throw errors.recurrence_duration();
  }
  if (!isTimeZone(zone)) {
    throw errors.recurrence_zone({ zone });
  }
  const [hours, minutes] = start.split(':').map(Number);
  return { days, start_minute: hours! * 60 + minutes!, duration_ms: ms, time_zone: zone };
}

/**
 * Returns the name, or a stable generated one if nobody gave it any, which stays the same in every
 * svc that imports the file.
 */
const shownName = ({
  id,
  name,
  created_at: at,
}: Pick<Silence, 'id' | 'name' | 'created_at'>): string =>
  name ?? `silence-${id}-${at.toString(36)}`;

const shownSpan = ({ from, to }: TimeSpan) => ({
  starts_at: timestamp(from),
  ends_at: timestamp(to),
});

const two = (part: number): string => String(part).padStart(2, '0');

function shown(silence: Silence, now: number): Item {
  const { recurrence } = silence;
  return {
    id: silence.id,
    name: shownName(silence),
    matchers: silence.matchers.map(({ name, op, value }) => ({ name, op, value })),
    ...(silence.devices && { device_ids: [...silence.devices].map(Number) }),
    starts_at: timestamp(silence.starts_at),
    ends_at: timestamp(silence.ends_at),
    ...(recurrence && {
      recurrence: {
        days: [...recurrence.days],
        start: `${two(Math.floor(recurrence.start_minute / 60))}:${two(recurrence.start_minute % 60)}`,
        duration: `${recurrence.duration_ms / 1_000}s`,
        time_zone: recurrence.time_zone,
      },
    }),
    reason: silence.reason,
    state: stateOf(silence, now),
    in_force: isInForce(silence, now),
    created_by: silence.created_by,
    updated_by: silence.updated_by,
    created_at: timestamp(silence.created_at),
    updated_at: timestamp(silence.updated_at),
  };
}
