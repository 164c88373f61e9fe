import type { IncidentView } from 'svc/contracts/alert';
import type { Change } from 'svc/contracts/changes';
import type { EdgeEntry } from 'svc/contracts/edge';
import { timestamp } from 'svc/sdk';

import type { About } from '../store/tables.ts';

/** Something that a run is started for, once. */
export interface Occurrence {
  /** Unique within a schedule, for good. */
  readonly slot: string;
  readonly at: number;
  /** Thing that starts at most one run within the minimum interval, such as one incident. */
  readonly subject: string;
  readonly about: About;
}

export const atTime = (at: number): Occurrence => ({
  slot: `time ${timestamp(at)}`,
  at,
  subject: 'time',
  about: {},
});

export const ofIncident = ({ id, fired_at: at, device_id: device }: IncidentView): Occurrence => ({
  slot: `incident ${id} ${at}`,
  at: Date.parse(at),
  subject: `incident ${id}`,
  about: { incident_id: id, ...(device !== undefined && { device_id: device }) },
});

export const ofChange = ({ id, at, service, device_id: device }: Change): Occurrence => ({
  slot: `change ${id}`,
  at,
  subject: `deploy ${service ?? ''}`,
  about: { change_id: id, ...(device !== undefined && { device_id: device }) },
});

export const ofEdge = (
  { id, device_id: device }: Pick<EdgeEntry, 'id' | 'device_id'>,
  lastSeenAt: number,
): Occurrence => ({
  slot: `edge ${id} ${lastSeenAt}`,
  at: lastSeenAt,
  subject: `edge ${id}`,
  about: { edge_id: id, ...(device !== null && { device_id: String(device) }) },
});

export const byHand = (id: string, at: number, about: About): Occurrence => ({
  slot: `hand ${id}`,
  at,
  subject: 'hand',
  about,
});
