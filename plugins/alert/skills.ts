import type { Incidents } from 'svc/contracts/alert';
import type { NoticeDispatcher } from 'svc/contracts/notify';
import { type AskingOf, type SeenBy, type SeenDevices } from 'svc/query';
import {
  type Clock,
  covers,
  type Handle,
  type Ids,
  type SkillRun,
  SvcError,
  type ToolSkill,
  toolSkill,
} from 'svc/sdk';
import { type Static, Type } from 'typebox';

import { PreviewDraft } from './authoring/rule-schema.ts';
import type { Rules } from './authoring/rules.ts';
import { assertOfOneDevice } from './incident/ledger/seen-incidents.ts';
import type { Preview } from './preview/preview.ts';
import { durationOf } from './rule/duration.ts';
import { SilenceDraft } from './silence/schema.ts';
import type { Silences } from './silence/silences.ts';

const reads = { scope: 'manager', class: 'safe', tier: 'core', devices: 'narrowed' } as const;
const changes = { scope: 'manager', class: 'mutating', tier: 'specialty' } as const;
const RuleList = Type.Object({
  q: Type.Optional(
    Type.String({ maxLength: 200, description: 'A part of the name or of the key.' }),
  ),
  enabled: Type.Optional(Type.Boolean()),
  limit: Type.Integer({ minimum: 1, maximum: 200, default: 50 }),
});

/** What agents and people do with rules. */
export const ruleSkills = (
  rules: Rules,
  preview: Preview,
  askingOf: AskingOf,
): readonly ToolSkill[] => [
  toolSkill({
    ...reads,
    key: 'rules_list',
    name: 'Alert rules',
    description: 'Alert rules with their conditions, newest first.',
    params: RuleList,
    run: async ({ q, enabled, limit }) => {
      const { items, total } = await rules.list(
        { ...(q !== undefined && { q }), ...(enabled !== undefined && { enabled }) },
        { limit },
      );
      return { total, rules: items };
    },
  }),
  toolSkill({
    ...reads,
    tier: 'specialty',
    key: 'rule_preview',
    name: 'Draft and preview a rule',
    description:
      'Checks the draft of an alert rule, runs it over past data, and says when it would have fired. Nothing is stored: a person creates the rule.',
    params: PreviewDraft,
    run: async (draft, { principal, signal }) => {
      if (!principal.grants.some((grant) => covers(grant, 'alert:preview'))) {
        throw new SvcError('forbidden', 'your role does not hold alert:preview');
      }
      const { series: _series, ...result } = await preview.run(draft, {
        ...(await askingOf(principal)),
        signal,
      });
      return { draft, ...result };
    },
  }),
];

export interface IncidentSkillParts {
  readonly incidents: Incidents;
  readonly seenBy: SeenBy;
  readonly silences: Silences;
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
    Type.String({ maxLength: 20, description: 'Firing at some time within the last 2h, 7d, …' }),
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

/** What agents and people do with incidents. */
export const incidentSkills = (parts: IncidentSkillParts): readonly ToolSkill[] => [
  toolSkill({
    ...reads,
    key: 'incidents_list',
    name: 'Incidents',
    description: 'Incidents, newest first: by status, rule, device, or that were firing lately.',
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
      'Sends an incident, as it stands, to notification channels that its rule may not pin.',
    params: IncidentNotice,
    run: async (params, { principal }) => notify(params, parts, await parts.seenBy(principal)),
  }),
  toolSkill({
    ...changes,
    key: 'silence_create',
    name: 'Silence incidents',
    description:
      'Mutes the notifications of incidents whose labels match, until a time or for a duration.',
    params: SilenceDraft,
    run: (draft, { principal }: SkillRun) =>
      parts.silences.add(draft, { principal, note: () => undefined }),
  }),
];

async function existing(incidents: Incidents, id: number, seen: SeenDevices) {
  const incident = await incidents.get(id, seen);
  if (incident === undefined) {
    throw new SvcError('not_found', `there is no incident ${id}`);
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
    throw new SvcError(
      'unavailable',
      'the plugin notify is not running; enable it to send notifications',
    );
  }
  const unknown = await dispatcher.get().unknown(channels);
  if (unknown.length > 0) {
    throw new SvcError('not_found', `there is no channel ${unknown.join(', ')}`);
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
