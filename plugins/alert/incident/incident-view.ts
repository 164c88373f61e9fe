import { type Clock, timestamp } from 'svc/sdk';

import type { IncidentEventView, Incidents, IncidentView, InstanceView } from '../contract.ts';
import type { Incident } from './incident.ts';
import { shownEvent } from './incident-item.ts';
import type { IncidentStore } from './incident-store.ts';
import type { InstanceReader } from './instance-reader.ts';
import { noticeIncidentOf } from './notices.ts';
import type { EventRow } from './tables.ts';

const mostListed = 200;
const mostEvents = 1_000;

export const viewOf = (incident: Incident): IncidentView => ({
  ...noticeIncidentOf(incident),
  status: incident.status,
  first_fired_at: timestamp(incident.fired_at),
});

export const eventViewOf = (row: EventRow): IncidentEventView => {
  const { incident_id: _incident, severity: _severity, ...event } = shownEvent(row);
  return event;
};

/** Incidents for other plugins. */
export class IncidentReader implements Incidents {
  readonly #store: IncidentStore;
  readonly #instances: InstanceReader;
  readonly #clock: Clock;

  constructor(store: IncidentStore, instances: InstanceReader, clock: Clock) {
    this.#store = store;
    this.#instances = instances;
    this.#clock = clock;
  }

  async get(id: number): Promise<IncidentView | undefined> {
    const incident = await this.#store.find(id);
    return incident && viewOf(incident);
  }

  async list({ status, rule_key: rule, device_id: deviceId, since, limit = 50 }: Parameters<Incidents['list']>[0]): Promise<readonly IncidentView[]> {
    const filter = {
      ...(status !== undefined && { status }),
      ...(rule !== undefined && { rule }),
      ...(deviceId !== undefined && { deviceId }),
      ...(since !== undefined && { since }),
    };
    return (await this.#store.list(filter, { limit: Math.min(limit, mostListed) })).items.map(viewOf);
  }

  async instances(id: number): Promise<readonly InstanceView[]> {
    const { items } = await this.#instances.list(await this.#store.get(id), undefined, { limit: mostListed });
    return items;
  }

  async events(id: number): Promise<readonly IncidentEventView[]> {
    return (await this.#store.events(id, { order: 'asc' }, { limit: mostEvents })).items.map(eventViewOf);
  }

  async diagnose(id: number, diagnosis: Parameters<Incidents['diagnose']>[1]): Promise<void> {
    const incident = await this.#store.get(id);
    await this.#store.diagnose(id, { ...diagnosis, seq: incident.event_count }, this.#clock.now());
  }
}
