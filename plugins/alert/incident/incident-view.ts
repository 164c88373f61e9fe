import type {
  IncidentEventView,
  IncidentMeasure,
  Incidents,
  IncidentView,
  InstanceView,
} from 'svc/contracts/alert';
import type { SeenDevices } from 'svc/query';
import { type Clock, timestamp } from 'svc/sdk';

import { directionIn } from '../rule/expression.ts';
import type { Plan, Rule } from '../rule/rule.ts';
import { shownEvent } from './incident-item.ts';
import type { IncidentStore } from './incident-store.ts';
import type { InstanceReader } from './instance-reader.ts';
import type { Incident } from './ledger/incident.ts';
import { noticeIncidentOf } from './ledger/notice.ts';
import type { EventRow } from './ledger/tables.ts';

const maxListed = 200;
const maxEvents = 1_000;

export const viewOf = (incident: Incident): IncidentView => ({
  ...noticeIncidentOf(incident),
  status: incident.status,
  first_fired_at: timestamp(incident.fired_at),
});

export const eventViewOf = (row: EventRow): IncidentEventView => {
  const { incident_id: _incident, severity: _severity, ...event } = shownEvent(row);
  return event;
};

/** Rule fields that readers need. */
export interface RulesOf {
  get(id: number): Rule | undefined;
  planOf(rule: Rule): Plan;
}

/** Incidents for other plugins. */
export class IncidentReader implements Incidents {
  readonly #store: IncidentStore;
  readonly #instances: InstanceReader;
  readonly #clock: Clock;
  readonly #rules: RulesOf;

  constructor(store: IncidentStore, instances: InstanceReader, clock: Clock, rules: RulesOf) {
    this.#store = store;
    this.#instances = instances;
    this.#clock = clock;
    this.#rules = rules;
  }

  async get(id: number, seen: SeenDevices): Promise<IncidentView | undefined> {
    const incident = await this.#store.find(id, seen);
    return incident && viewOf(incident);
  }

  async list(
    {
      status,
      rule_key: rule,
      device_id: deviceId,
      since,
      limit = 50,
    }: Parameters<Incidents['list']>[0],
    seen: SeenDevices,
  ): Promise<readonly IncidentView[]> {
    const filter = {
      ...(status !== undefined && { status }),
      ...(rule !== undefined && { rule }),
      ...(deviceId !== undefined && { deviceId }),
      ...(since !== undefined && { since }),
    };
    return (await this.#store.list(filter, { limit: Math.min(limit, maxListed) }, seen)).items.map(
      viewOf,
    );
  }

  async instances(id: number, seen: SeenDevices): Promise<readonly InstanceView[]> {
    const { items } = await this.#instances.list(
      await this.#store.get(id, seen),
      undefined,
      { limit: maxListed },
      seen,
    );
    return items;
  }

  async events(id: number, seen: SeenDevices): Promise<readonly IncidentEventView[]> {
    const incident = await this.#store.find(id, seen);
    return incident === undefined
      ? []
      : (
          await this.#store.events(incident, { order: 'asc' }, { limit: maxEvents }, seen)
        ).items.map(eventViewOf);
  }

  async measured(id: number): Promise<IncidentMeasure | undefined> {
    const incident = await this.#store.get(id, undefined);
    const rule = this.#rules.get(incident.rule_id);
    const leg = rule && this.#rules.planOf(rule).legs.find(({ measure }) => measure !== undefined);
    return leg && measureOf(leg, rule, incident);
  }

  async diagnose(id: number, diagnosis: Parameters<Incidents['diagnose']>[1]): Promise<void> {
    const incident = await this.#store.get(id, undefined);
    await this.#store.diagnose(id, { ...diagnosis, seq: incident.event_count }, this.#clock.now());
  }
}

function measureOf(
  { store, query, measure, threshold }: Plan['legs'][number],
  { kind }: Rule,
  { labels }: Incident,
): IncidentMeasure {
  const direction = directionIn(query, measure!, threshold);
  return {
    store,
    query: measure!,
    labels,
    kind,
    ...(threshold !== undefined && { threshold }),
    ...(direction !== undefined && { direction }),
  };
}
