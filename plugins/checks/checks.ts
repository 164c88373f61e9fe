import { orderFault, type Step } from 'svc/check';
import {
  type Call,
  type Clock,
  isSvcError,
  type Page,
  pageOfList,
  type PageRequest,
  type Secrets,
  type Tables,
  timestamp,
} from 'svc/sdk';

import { errors } from './check/errors.ts';
import type { Places } from './rounds/places.ts';
import { runRound, type RoundParts } from './rounds/round.ts';
import { verdictOf } from './rounds/verdict.ts';
import type { Watch } from './rounds/watch.ts';
import { badgeOf } from './uptime/badge.ts';
import { GroupUptime } from './uptime/group-uptime.ts';
import { hoursOf, uptimeOf } from './uptime/uptime.ts';
import {
  type Check,
  type CheckSecrets,
  type Definition,
  definitionIn,
  hasSecrets,
  nameOf,
  orderOf,
  partsOf,
} from './check/check.ts';
import type {
  BadgeAsked,
  CheckChange,
  CheckDraft,
  CheckShown,
  CheckTrial,
  GroupShown,
  Tried,
  Uptime,
} from './check/check-schema.ts';
import { assertStands, paceFault, placeFault } from './faults.ts';
import { type CheckRow, checkStore, type CheckTables } from './check/check-store.ts';
import { readingOf, shownOf } from './shown.ts';

export interface ChecksParts extends RoundParts {
  readonly tables: Tables<CheckTables>;
  readonly secrets: Secrets;
  readonly clock: Clock;
  readonly watch: Watch;
  readonly places: Places;
}

type Actor = Pick<Call, 'note' | 'requireMatch' | 'signal'>;

const maxChecks = 5_000;
const maxShownChanges = 100;

/** Checks as people write and see them. */
export class Checks {
  readonly #parts: ChecksParts;
  readonly #groups: GroupUptime;

  constructor(parts: ChecksParts) {
    this.#parts = parts;
    this.#groups = new GroupUptime({ ...parts, flush: () => parts.watch.flushUptime() });
  }

  /** Takes all stored checks in. */
  async load(): Promise<void> {
    for (const row of await checkStore(this.#parts.tables.read).all()) {
      this.#parts.watch.put(this.#checkOf(row));
    }
    await this.#parts.watch.pictures.load();
  }

  async list(page: PageRequest): Promise<Page<CheckShown>> {
    const { items, ...rest } = pageOfList(this.#parts.watch.list(), ({ name }) => name, page);
    return { ...rest, items: await this.#shownAll(items) };
  }

  async get(name: string): Promise<CheckShown> {
    return (await this.#shownAll([this.#check(name)]))[0]!;
  }

  async create(call: Actor, draft: CheckDraft): Promise<CheckShown> {
    const { name = nameOf(draft.target), paused = false } = draft;
    if (name === '') {
      throw errors.not_valid({ field: 'name', message: 'must be given for this target' });
    }
    const parts = this.#partsOf(draft);
    const { tables, clock, secrets, watch } = this.#parts;
    const check = await tables.write(async (tx) => {
      const store = checkStore(tx);
      if ((await store.find(name)) !== undefined) {
        throw errors.taken({ name }, { details: [{ path: '/name', message: 'is taken' }] });
      }
      if ((await store.count()) >= maxChecks) {
        throw errors.too_many({ max: maxChecks });
      }
      await assertStands(name, parts.definition, store);
      const now = Math.floor(clock.now());
      const made = await store.insert({
        name,
        definition: JSON.stringify(parts.definition),
        secrets: null,
        paused: paused ? 1 : 0,
        state_since: now,
        cause: null,
        created_at: now,
        updated_at: now,
      });
      const row = hasSecrets(parts.secrets)
        ? await store.update(made.id, {
            secrets: secrets.seal(placeOf(made.id), JSON.stringify(parts.secrets)),
          })
        : made;
      call.note({ resourceType: 'check', resourceId: name, after: settledOf(row) });
      return this.#checkOf(row);
    });
    watch.put(check);
    // The first answer is what its author waits for.
    void (!paused && void watch.run(check));
    return this.#shown(check);
  }

  /** Changes what is named; null takes a setting back to its default. */
  async change(call: Actor, name: string, change: CheckChange): Promise<CheckShown> {
    const { tables, clock, secrets, watch } = this.#parts;
    const check = await tables.write(async (tx) => {
      const store = checkStore(tx);
      const row = (await store.find(name)) ?? missing(name);
      const before = this.#checkOf(row);
      call.requireMatch(this.#shown(watch.get(name) ?? before));
      const { paused = before.paused, ...fields } = change;
      const parts = this.#partsOf({
        ...before.definition,
        ...before.secrets,
        ...fields,
        ...secretsAfter(before, change),
        target: targetAfter(before, change.target),
      });
      await assertStands(name, parts.definition, store);
      const after = await store.update(before.id, {
        definition: JSON.stringify(parts.definition),
        secrets: hasSecrets(parts.secrets)
          ? secrets.seal(placeOf(before.id), JSON.stringify(parts.secrets))
          : null,
        paused: paused ? 1 : 0,
        updated_at: Math.max(row.updated_at + 1, Math.floor(clock.now())),
      });
      call.note({
        resourceType: 'check',
        resourceId: name,
        before: settledOf(row),
        after: settledOf(after),
      });
      return this.#checkOf(after);
    });
    watch.put(check);
    if (check.paused) {
      await watch.rest(check);
    } else {
      void watch.run(check);
    }
    return this.#shown(check);
  }

  /** Returns what the browser showed when a step of a check last failed, as a JPEG. */
  async picture(name: string): Promise<Uint8Array> {
    const picture = await this.#parts.watch.pictures.get(this.#check(name));
    if (picture === undefined) {
      throw errors.no_picture({ name });
    }
    return picture;
  }

  async remove(call: Actor, name: string): Promise<void> {
    const { tables, watch } = this.#parts;
    const check = this.#check(name);
    await tables.write(async (tx) => {
      const row = (await checkStore(tx).find(name)) ?? missing(name);
      call.requireMatch(this.#shown(check));
      const others = (await checkStore(tx).all()).filter(({ definition }) =>
        definitionIn(definition).depends_on.includes(name),
      );
      if (others.length > 0) {
        const names = others.slice(0, 5).map((one) => one.name);
        throw errors.stood_on({ name, others: names.join(', ') });
      }
      await checkStore(tx).remove(row.id);
      call.note({ resourceType: 'check', resourceId: name, before: settledOf(row) });
    });
    await watch.remove(check);
  }

  /** Runs one round now, and returns what it found. */
  async run(name: string): Promise<CheckShown> {
    const check = this.#check(name);
    await this.#parts.watch.run(check);
    return this.get(name);
  }

  /** Probes once without storing anything. */
  async try(trial: CheckTrial, signal: AbortSignal): Promise<Tried> {
    const { places } = this.#parts;
    const { definition, secrets } = this.#partsOf(trial);
    const votes = await runRound(
      this.#parts,
      await places.sitesOf(definition.places),
      { order: orderOf(definition, secrets), retries: 0 },
      signal,
    );
    return {
      success: verdictOf(definition, votes).state === 'up',
      readings: votes.map(readingOf),
    };
  }

  /** Returns how long a check was up in the last so many days. */
  async uptime(name: string, days: number): Promise<Uptime> {
    const check = this.#check(name);
    const { tables, clock, watch } = this.#parts;
    await watch.flushUptime();
    const now = clock.now();
    const { from, ...uptime } = await uptimeOf(tables.read, check, days, now);
    const changes = await checkStore(tables.read).changesOf(check.id, from, maxShownChanges);
    return {
      ...uptime,
      changes: changes.map(({ at, state, cause, places }) => ({
        at: timestamp(at),
        state,
        cause,
        places: JSON.parse(places) as string[],
      })),
    };
  }

  /** Returns how the checks of each group are, and how long they were up. */
  async groups(page: PageRequest): Promise<Page<GroupShown>> {
    return pageOfList(await this.#groups.of(this.#parts.watch.list()), ({ group }) => group, page);
  }

  /** Returns the badge of a check as SVG, unless its author keeps it from strangers. */
  async badge(name: string, asked: BadgeAsked): Promise<string> {
    const check = this.#parts.watch.get(name);
    if (check === undefined || !check.definition.badge) {
      throw errors.no_badge({ name });
    }
    const label = asked.label ?? check.name;
    if (asked.show === 'state') {
      return badgeOf({ label, state: check.paused ? 'paused' : check.state });
    }
    const { tables, clock } = this.#parts;
    const { ratio } = await uptimeOf(tables.read, check, asked.days, clock.now());
    return badgeOf({ label, ratio, days: asked.days });
  }

  /** Returns the definition of a check as it would be; throws for one that cannot be. */
  definitionOf(draft: CheckDraft): Definition {
    return this.#partsOf(draft).definition;
  }

  #partsOf(draft: { readonly target: string }) {
    const parts = partsOf(draft);
    const { definition, secrets } = parts;
    const fault =
      orderFault(orderOf(definition, secrets)) ?? placeFault(definition) ?? paceFault(definition);
    if (fault !== undefined) {
      const { field, message } = fault;
      throw errors.not_valid(fault, { details: [{ path: `/${field}`, message }] });
    }
    return parts;
  }

  #check(name: string): Check {
    return this.#parts.watch.get(name) ?? missing(name);
  }

  #checkOf(row: CheckRow): Check {
    return {
      id: row.id,
      name: row.name,
      definition: definitionIn(row.definition),
      secrets: this.#opened(row),
      paused: row.paused === 1,
      state: row.state as Check['state'],
      since: row.state_since,
      cause: row.cause,
      createdAt: row.created_at,
      updatedAt: row.updated_at,
    };
  }

  #opened({ id, name, secrets }: CheckRow): CheckSecrets {
    if (secrets === null) {
      return {};
    }
    try {
      return JSON.parse(this.#parts.secrets.open(placeOf(id), secrets)) as CheckSecrets;
    } catch (error) {
      throw isSvcError(error) ? errors.sealed({ name }, { cause: error }) : error;
    }
  }

  async #shownAll(checks: readonly Check[]): Promise<CheckShown[]> {
    const { tables, clock } = this.#parts;
    const hours = await hoursOf(
      tables.read,
      checks.map(({ id }) => id),
      clock.now(),
    );
    return checks.map((check) => this.#shown(check, hours.get(check.id)));
  }

  #shown(check: Check, hours?: readonly (number | null)[]): CheckShown {
    const { watch } = this.#parts;
    return shownOf(
      check,
      watch.votesOf(check),
      watch.causeOf(check),
      watch.pictures.of(check),
      hours,
    );
  }
}

/** Returns what a person has set, which is what an auditor compares. */
const settledOf = ({ definition, paused, secrets }: CheckRow): object => ({
  ...definitionIn(definition),
  paused: paused === 1,
  has_secrets: secrets !== null,
});

/** A target that comes back as it was shown is the one that is sealed. */
const targetAfter = ({ definition, secrets }: Check, given: string | undefined): string =>
  given === undefined || given === definition.target
    ? (secrets.target ?? definition.target)
    : given;

/** Values of steps are kept by their names, as long as a step uses them; those that are given replace the others. */
function secretsAfter(
  { definition, secrets }: Check,
  { steps, secrets: given }: CheckChange,
): { readonly secrets?: Readonly<Record<string, string>> | null } {
  const now: readonly Step[] = (steps === undefined ? definition.steps : steps) ?? [];
  const used = new Set(now.map(({ secret }) => secret));
  const kept = Object.entries(secrets.secrets ?? {}).filter(([name]) => used.has(name));
  const all = given === null ? {} : { ...Object.fromEntries(kept), ...given };
  return { secrets: Object.keys(all).length === 0 ? null : all };
}

const placeOf = (id: number) => ({ table: 'checks_checks', row: String(id), column: 'secrets' });

const missing = (name: string): never => {
  throw errors.unknown({ name });
};
