import { Slots } from 'svc/cron';
import type { Incidents } from 'svc/contracts/alert';
import type { NoticeDispatcher } from 'svc/contracts/notify';
import type { PersonaDirectory } from 'svc/contracts/persona';
import { formatDuration, type SeenBy } from 'svc/query';
import {
  type Clock,
  covers,
  type Handle,
  type Ids,
  type Page,
  type PageRequest,
  type Principal,
  type Settings,
  type Tables,
} from 'svc/sdk';

import type { Authors } from './author/authors.ts';
import { errors } from './errors.ts';
import { byHand } from './run/occurrence.ts';
import type { Starts } from './run/starts.ts';
import { type NewSchedule, type SchedulePatch, shownSchedule } from './schema.ts';
import { type ScheduleChange, ScheduleStore } from './store/schedule-store.ts';
import type { RunRow, ScheduleRow, ScheduleTables } from './store/tables.ts';

export interface ScheduleParts {
  readonly tables: Tables<ScheduleTables>;
  readonly starts: Starts;
  readonly authors: Authors;
  readonly personas: Handle<PersonaDirectory>;
  readonly channels: Handle<NoticeDispatcher>;
  readonly incidents: Handle<Incidents>;
  readonly seenBy: SeenBy;
  readonly settings: Pick<Settings, 'get'>;
  readonly clock: Clock;
  readonly ids: Ids;
}

type Shown = ReturnType<typeof shownSchedule>;
/** Fields that determine when and what it runs and where its answer goes. */
type Plan = Pick<
  ScheduleRow,
  | 'agent'
  | 'starts_on'
  | 'cron'
  | 'time_zone'
  | 'severity_min'
  | 'service'
  | 'deliver_to'
  | 'channel_ids'
>;

const minuteMs = 60_000;
const dayMs = 86_400_000;

/** Schedules as people make and change them: their own, and for administrators those of all. */
export class Schedules {
  readonly #parts: ScheduleParts;
  readonly #store: ScheduleStore;

  constructor(parts: ScheduleParts) {
    this.#parts = parts;
    this.#store = new ScheduleStore(parts.tables.read);
  }

  async list(
    principal: Principal,
    { q, all }: { readonly q?: string | undefined; readonly all?: boolean | undefined },
    page: PageRequest,
  ): Promise<Page<Shown>> {
    const owner = all === true && isAdmin(principal) ? undefined : ownerOf(principal);
    const { items, ...rest } = await this.#store.page(owner, q, page);
    return { ...rest, items: await this.#shown(items) };
  }

  async get(principal: Principal, id: number): Promise<Shown> {
    return (await this.#shown([await this.#visible(principal, id)]))[0]!;
  }

  async runs(principal: Principal, id: number, page: PageRequest): Promise<Page<RunRow>> {
    await this.#visible(principal, id);
    return await this.#store.runs(id, page);
  }

  async create(principal: Principal, asked: NewSchedule): Promise<Shown> {
    const owner = personOf(principal);
    const trigger = asked.trigger ?? 'cron';
    const plan: Plan = {
      agent: asked.agent ?? null,
      starts_on: trigger,
      cron: asked.cron ?? null,
      time_zone: asked.time_zone ?? (trigger === 'cron' ? 'UTC' : null),
      severity_min: asked.severity_min ?? (trigger === 'incident' ? 'critical' : null),
      service: asked.service ?? null,
      deliver_to: asked.deliver_to,
      channel_ids: JSON.stringify(asked.channel_ids ?? []),
    };
    await this.#check(principal, plan);
    const now = Math.floor(this.#parts.clock.now());
    const row = await this.#parts.tables.write(async (tx) => {
      const store = new ScheduleStore(tx);
      if ((await store.named(owner, asked.name)) !== undefined) {
        throw errors.name_taken({ name: asked.name });
      }
      await this.#requireRoom(store);
      return await store.insert({
        ...plan,
        owner,
        name: asked.name,
        question: asked.question,
        tokens_per_day: asked.tokens_per_day ?? null,
        state: 'active',
        because: null,
        failures: 0,
        skipped: 0,
        skipped_because: null,
        active_since: now,
        next_at: nextOf(plan, now),
        created_at: now,
        updated_at: now,
      });
    });
    return (await this.#shown([row]))[0]!;
  }

  async change(principal: Principal, id: number, patch: SchedulePatch): Promise<Shown> {
    const before = await this.#own(principal, id);
    const { channel_ids: channels, ...fields } = patch;
    const change: ScheduleChange = {
      ...fields,
      ...(channels !== undefined && { channel_ids: JSON.stringify(channels) }),
    };
    const plan = { ...before, ...change } as ScheduleRow;
    await this.#check(principal, plan);
    const now = Math.floor(this.#parts.clock.now());
    return await this.#update(
      id,
      { ...change, next_at: nextOf(plan, now), updated_at: now },
      async (store) => {
        const other = await store.named(before.owner, plan.name);
        if (other !== undefined && other.id !== id) {
          throw errors.name_taken({ name: plan.name });
        }
      },
    );
  }

  async pause(principal: Principal, id: number): Promise<Shown> {
    const { state } = await this.#visible(principal, id);
    const because = `paused by ${principal.email ?? principal.name ?? principal.id}`;
    const now = Math.floor(this.#parts.clock.now());
    return state === 'active'
      ? await this.#update(id, { state: 'paused', because, updated_at: now })
      : await this.get(principal, id);
  }

  /** Makes a paused or stopped schedule active again, from now on. */
  async resume(principal: Principal, id: number): Promise<Shown> {
    const row = await this.#own(principal, id);
    if (row.state === 'active') {
      return await this.get(principal, id);
    }
    await this.#check(principal, row);
    const now = Math.floor(this.#parts.clock.now());
    const next = nextOf(row, now);
    return await this.#update(
      id,
      {
        state: 'active',
        because: null,
        failures: 0,
        active_since: now,
        next_at: next,
        updated_at: now,
      },
      (store) => this.#requireRoom(store),
    );
  }

  async remove(principal: Principal, id: number): Promise<void> {
    await this.#visible(principal, id);
    await this.#parts.tables.write((tx) => new ScheduleStore(tx).remove(id));
  }

  /** Runs a schedule once, now. */
  async run(principal: Principal, id: number, incident: number | undefined): Promise<RunRow> {
    const { starts, seenBy, incidents, clock, ids } = this.#parts;
    const row = await this.#own(principal, id);
    if (row.state === 'stopped') {
      throw errors.stopped({ id, because: row.because ?? '' });
    }
    if (row.deliver_to === 'timeline' && incident === undefined) {
      throw errors.which_incident();
    }
    const found =
      incident === undefined
        ? undefined
        : await incidents.get().get(incident, await seenBy(principal));
    if (incident !== undefined && found === undefined) {
      throw errors.no_incident({ id: incident });
    }
    const open = await this.#store.openRuns(id);
    if (open.some(({ state }) => state !== 'approval')) {
      throw errors.busy({ id });
    }
    const about = incident === undefined ? {} : { incident_id: incident };
    return await starts.byHand(row, byHand(ids.uuid(), clock.now(), about), principal);
  }

  async #update(
    id: number,
    change: ScheduleChange,
    check?: (store: ScheduleStore) => Promise<void>,
  ): Promise<Shown> {
    const row = await this.#parts.tables.write(async (tx) => {
      const store = new ScheduleStore(tx);
      await check?.(store);
      return await store.update(id, change);
    });
    if (row === undefined) {
      throw errors.no_schedule({ id });
    }
    return (await this.#shown([row]))[0]!;
  }

  /** Throws unless the plan makes sense and its author may have it. */
  async #check(principal: Principal, plan: Plan): Promise<void> {
    const { personas, settings, clock } = this.#parts;
    requireFields(plan);
    if (plan.starts_on === 'cron') {
      const gap = new Slots(plan.cron!, plan.time_zone!).shortestGap(clock.now());
      const least = settings.get<number>('schedules.min_interval_minutes') * minuteMs;
      if (gap < least) {
        throw errors.too_often({ gap: formatDuration(gap), least: formatDuration(least) });
      }
    }
    if (plan.agent !== null && personas.available && !personas.get().find(plan.agent)) {
      throw errors.no_agent({ agent: plan.agent });
    }
    await this.#checkPlace(principal, plan);
  }

  async #checkPlace(
    { grants, selectors }: Principal,
    { deliver_to: place, starts_on: trigger, channel_ids: channels }: Plan,
  ): Promise<void> {
    const may = (right: string): boolean => grants.some((grant) => covers(grant, right));
    if (place === 'timeline' && trigger !== 'incident') {
      throw errors.no_timeline();
    }
    if (place !== 'timeline' && selectors !== undefined) {
      throw errors.narrow_place();
    }
    if (place === 'document' && !may('knowledge:create')) {
      throw errors.document_right();
    }
    if (place !== 'channel') {
      return;
    }
    const asked = JSON.parse(channels) as number[];
    if (asked.length === 0) {
      throw errors.channel_needed();
    }
    if (!may('channel:test')) {
      throw errors.channel_right();
    }
    const unknown = await this.#parts.channels.get().unknown(asked);
    if (unknown.length > 0) {
      throw errors.no_channel({ ids: unknown.join(', ') });
    }
  }

  async #requireRoom(store: ScheduleStore): Promise<void> {
    const most = this.#parts.settings.get<number>('schedules.max_active');
    if ((await store.countActive()) >= most) {
      throw errors.too_many({ most });
    }
  }

  async #shown(rows: readonly ScheduleRow[]): Promise<Shown[]> {
    const { authors, settings, clock } = this.#parts;
    const today = Math.floor(clock.now() / dayMs) * dayMs;
    const totals = await this.#store.totals(
      rows.map(({ id }) => id),
      today,
    );
    const usual = settings.get<number>('schedules.tokens_per_day');
    return await Promise.all(
      rows.map(async (row) =>
        shownSchedule(row, await authors.nameOf(row.owner), usual, totals.get(row.id)),
      ),
    );
  }

  /** Another person's schedule is not found, for all but administrators. */
  async #visible(principal: Principal, id: number): Promise<ScheduleRow> {
    const row = await this.#store.find(id);
    if (row === undefined || (row.owner !== ownerOf(principal) && !isAdmin(principal))) {
      throw errors.no_schedule({ id });
    }
    return row;
  }

  /** Returns a schedule to change or run, which its author alone may do. */
  async #own(principal: Principal, id: number): Promise<ScheduleRow> {
    const row = await this.#visible(principal, id);
    if (row.owner !== personOf(principal)) {
      throw errors.not_yours({ id });
    }
    return row;
  }
}

function requireFields(plan: Plan): void {
  const { starts_on: trigger } = plan;
  const takes = {
    cron: trigger === 'cron',
    time_zone: trigger === 'cron',
    severity_min: trigger === 'incident',
    service: trigger === 'deploy',
  };
  for (const field of ['cron', 'time_zone', 'severity_min', 'service'] as const) {
    if (plan[field] !== null && !takes[field]) {
      throw errors.does_not_take({ trigger, field });
    }
  }
  if (trigger === 'cron' && plan.cron === null) {
    throw errors.needs({ trigger, field: 'cron' });
  }
}

const nextOf = ({ cron, time_zone: zone }: Plan, now: number): number | null =>
  cron === null ? null : (new Slots(cron, zone ?? 'UTC').next(now) ?? null);

const isAdmin = ({ grants }: Principal): boolean => grants.includes('*');

/** A person and their API tokens are the same owner; nobody else has schedules. */
const ownerOf = ({ kind, id }: Principal): number =>
  kind === 'user' || kind === 'token' ? Number(id) : -1;

function personOf({ kind, id }: Principal): number {
  if (kind !== 'user') {
    throw errors.people_only();
  }
  return Number(id);
}
