import type { Incidents } from 'svc/contracts/alert';
import type { NoticeDispatcher } from 'svc/contracts/notify';
import type { SeenBy, SeenDevices } from 'svc/query';
import {
  type Clock,
  covers,
  type Handle,
  type Ids,
  type Principal,
  type ToolSkill,
  toolSkill,
} from 'svc/sdk';
import { type Static, Type } from 'typebox';

import { durationOf } from '../rule/duration.ts';
import { errors } from './errors.ts';
import { assertOfOneDevice } from './ledger/seen-incidents.ts';
import type { Operations } from './operations.ts';

const reads = { scope: 'manager', class: 'safe', tier: 'core', devices: 'narrowed' } as const;
const changes = { scope: 'manager', class: 'mutating', tier: 'specialty' } as const;

export interface IncidentSkillParts {
  readonly incidents: Incidents;
  readonly operations: Pick<Operations, 'acknowledge' | 'note' | 'resolve'>;
  readonly seenBy: SeenBy;
  readonly dispatcher: Handle<NoticeDispatcher>;
  readonly clock: Clock;
  readonly ids: Pick<Ids, 'uuid'>;
}

const IncidentList = Type.Object({
  status: Type.Optional(
    Type.Array(Type.Enum(['open', 'acknowledged', 'silenced', 'resolved']), {
      minItems: 1,
      maxItems: 4,
      uniqueItems: true,
    }),
  ),
  rule_key: Type.Optional(Type.String({ maxLength: 200 })),
  device_id: Type.Optional(Type.Integer({ minimum: 1 })),
  last: Type.Optional(
    Type.String({
      maxLength: 20,
      description:
        'Only incidents that were firing at some point within this period, such as 2h or 7d.',
    }),
  ),
  limit: Type.Integer({ minimum: 1, maximum: 200, default: 30 }),
});
const IncidentOne = Type.Object({ incident_id: Type.Integer({ minimum: 1 }) });
const IncidentNotice = Type.Object({
  incident_id: Type.Integer({ minimum: 1 }),
  channel_ids: Type.Array(Type.Integer({ minimum: 1 }), {
    minItems: 1,
    maxItems: 20,
    uniqueItems: true,
  }),
});

const IncidentNote = Type.Object({
  incident_id: Type.Integer({ minimum: 1 }),
  text: Type.String({
    minLength: 1,
    maxLength: 4_000,
    description: 'What was found, and where it was seen.',
  }),
});
const IncidentChange = Type.Object({
  incident_id: Type.Integer({ minimum: 1 }),
  note: Type.Optional(
    Type.String({ maxLength: 4_000, description: 'Reason, shown in the timeline.' }),
  ),
});

/** Skills by which agents and people work with incidents. */
export const incidentSkills = (parts: IncidentSkillParts): readonly ToolSkill[] => [
  toolSkill({
    ...reads,
    key: 'incidents_list',
    name: 'Incidents',
    description:
      'Incidents, newest first; filter by status, rule or device, or by how recently they were firing.',
    params: IncidentList,
    run: async ({ device_id: device, last, ...filter }, { principal }) => {
      const since = last === undefined ? undefined : parts.clock.now() - durationOf(last, 'last');
      const asked = {
        ...filter,
        ...(device !== undefined && { device_id: String(device) }),
        ...(since !== undefined && { since }),
      };
      const found = await parts.incidents.list(asked, await parts.seenBy(principal));
      return { shown: found.length, incidents: found };
    },
  }),
  toolSkill({
    ...reads,
    key: 'incident_get',
    name: 'One incident',
    description: 'One incident with its timeline, oldest event first.',
    params: IncidentOne,
    run: async ({ incident_id: id }, { principal }) => {
      const seen = await parts.seenBy(principal);
      return {
        incident: await existing(parts.incidents, id, seen),
        timeline: await parts.incidents.events(id, seen),
      };
    },
  }),
  toolSkill({
    ...changes,
    key: 'incident_notify',
    name: 'Tell channels of an incident',
    description:
      'Sends an incident in its current state to notification channels, including channels that its rule does not specify.',
    params: IncidentNotice,
    run: async (params, { principal }) => notify(params, parts, await parts.seenBy(principal)),
  }),
  toolSkill({
    ...changes,
    key: 'incident_note',
    name: 'Note in an incident',
    description: 'Adds a note, such as a finding, to the timeline of an incident.',
    params: IncidentNote,
    run: ({ incident_id: id, text }, { principal }) =>
      parts.operations.note(id, text, changeOf(principal)),
  }),
  toolSkill({
    ...changes,
    key: 'incident_acknowledge',
    name: 'Acknowledge an incident',
    description: 'Records that someone is working on an incident, which stops its reminders.',
    params: IncidentChange,
    run: ({ incident_id: id, note }, { principal }) =>
      parts.operations.acknowledge(id, note, changeOf(principal)),
  }),
  toolSkill({
    ...changes,
    key: 'incident_resolve',
    name: 'Resolve an incident',
    description:
      'Resolves an incident and informs the channels that were notified of it. It can fire again only after its condition has cleared.',
    params: IncidentChange,
    run: ({ incident_id: id, note }, { principal }) =>
      parts.operations.resolve(id, note, changeOf(principal)),
  }),
];

/** The permission is that of the route; the call itself is in the trail with its approval. */
function changeOf(principal: Principal) {
  if (!principal.grants.some((grant) => covers(grant, 'alert:ack'))) {
    throw errors.may_not_acknowledge();
  }
  return { principal, note: () => undefined };
}

async function existing(incidents: Incidents, id: number, seen: SeenDevices) {
  const incident = await incidents.get(id, seen);
  if (incident === undefined) {
    throw errors.no_incident({ id });
  }
  return incident;
}

async function notify(
  { incident_id: id, channel_ids: channels }: Static<typeof IncidentNotice>,
  { incidents, dispatcher, ids }: IncidentSkillParts,
  seen: SeenDevices,
): Promise<object> {
  const incident = await existing(incidents, id, seen);
  assertOfOneDevice(incident, seen);
  if (!dispatcher.available) {
    throw errors.notify_away();
  }
  const unknown = await dispatcher.get().unknown(channels);
  if (unknown.length > 0) {
    throw errors.no_channel({ channels: unknown.join(', ') });
  }
  await dispatcher.get().accept({
    id: `incident-${id}-asked-${ids.uuid()}`,
    kind: 'firing',
    fire_seq: incident.event_count,
    incident,
    pins: channels,
  });
  return { accepted: true, channels };
}
