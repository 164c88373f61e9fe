import { type Clock, SvcError } from 'svc/sdk';

import type { Incidents } from '../contract.ts';
import type { IncidentStore } from './incident-store.ts';
import { eventViewOf, viewOf } from './shown.ts';

const mostListed = 200;
const mostEvents = 1_000;

/** Incidents for other plugins. */
export const readIncidents = (store: IncidentStore, clock: Clock): Incidents => ({
  async get(id) {
    const incident = await store.find(id);
    return incident && viewOf(incident);
  },
  async list({ status, rule_key: rule, device_id: deviceId, since, limit = 50 }) {
    const filter = {
      ...(status !== undefined && { status }),
      ...(rule !== undefined && { rule }),
      ...(deviceId !== undefined && { deviceId }),
      ...(since !== undefined && { since }),
    };
    return (await store.list(filter, { limit: Math.min(limit, mostListed) })).items.map(viewOf);
  },
  events: async (id) => (await store.events(id, { order: 'asc' }, { limit: mostEvents })).items.map(eventViewOf),
  async diagnose(id, diagnosis) {
    const incident = await store.find(id);
    if (incident === undefined) {
      throw new SvcError('not_found', `there is no incident ${id}`);
    }
    await store.diagnose(id, { ...diagnosis, seq: incident.event_count }, clock.now());
  },
});
