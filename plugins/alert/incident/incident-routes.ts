import type { IncidentStatus } from 'svc/contracts/alert';
import type { SeenBy, SeenDevices } from 'svc/query';
import { listRoute, type Page, route, type RouteDeclaration } from 'svc/sdk';
import type { Static } from 'typebox';

import type { Instance } from '../instance/instance.ts';
import type { NameOfDevice } from '../template/rendering.ts';
import { shownEvent, shownIncident } from './incident-item.ts';
import type { IncidentFilter, IncidentStore } from './incident-store.ts';
import type { InstanceReader } from './instance-reader.ts';
import type { Incident } from './ledger/incident.ts';
import { measured } from './ledger/members.ts';
import { membersSeen } from './ledger/seen-incidents.ts';
import {
  EventItem,
  EventQuery,
  IncidentId,
  IncidentItem,
  IncidentQuery,
  InstanceItem,
  InstanceQuery,
} from './schema.ts';
import { type Why, WhyAnswer } from './why.ts';

const path = '/api/v1/alerts/incidents';
const one = `${path}/{id}`;

export interface IncidentRouteParts {
  readonly store: IncidentStore;
  readonly instances: InstanceReader;
  readonly why: Why;
  /** Ledger with the instances in memory and their latest readings. */
  readonly ledger: { instancesOf(group: string): ReadonlyMap<string, Instance> };
  readonly seenBy: SeenBy;
  readonly nameOf: NameOfDevice;
}

/** Returns the incident with its latest readings. */
export const shownNow = (
  {
    instances,
    ledger,
    nameOf,
  }: Pick<IncidentRouteParts, 'ledger' | 'nameOf'> & {
    readonly instances: Pick<InstanceReader, 'staleSince'>;
  },
  incident: Incident,
  seen: SeenDevices,
): Static<typeof IncidentItem> =>
  shownIncident(
    measured(incident, membersSeen(ledger.instancesOf(incident.dedupe_key), seen)),
    instances.staleSince(incident, seen),
    nameOf,
  );

export const incidentRoutes = (parts: IncidentRouteParts): readonly RouteDeclaration[] => [
  ...readingRoutes(parts),
  ...storyRoutes(parts),
];

const readingRoutes = ({
  store,
  instances,
  ledger,
  seenBy,
  nameOf,
}: IncidentRouteParts): readonly RouteDeclaration[] => [
  listRoute({
    path,
    access: 'any',
    devices: 'narrowed',
    // The name of the device that it is about.
    quotes: ['device'],
    summary: 'List incidents, most recently fired first',
    query: IncidentQuery,
    items: IncidentItem,
    async handle({ query, page, principal }): Promise<Page<Static<typeof IncidentItem>>> {
      const seen = await seenBy(principal);
      const { items, total, more } = await store.list(filterOf(query), page, seen);
      const last = items.at(-1);
      return {
        items: items.map((incident) => shownNow({ instances, ledger, nameOf }, incident, seen)),
        total,
        next: more ? [last!.last_fired_at, last!.id] : undefined,
      };
    },
  }),
  route({
    method: 'GET',
    path: one,
    access: 'any',
    devices: 'narrowed',
    quotes: ['device'],
    summary: 'Get an incident',
    params: IncidentId,
    response: IncidentItem,
    errors: ['not_found'],
    async handle({ params, principal }) {
      const seen = await seenBy(principal);
      return shownNow({ instances, ledger, nameOf }, await store.get(params.id, seen), seen);
    },
  }),
];

/**
 * Routes that explain how one incident got where it is: gates and channels, instances, timeline.
 */
const storyRoutes = ({
  store,
  instances,
  why,
  seenBy,
}: IncidentRouteParts): readonly RouteDeclaration[] => [
  route({
    method: 'GET',
    path: `${one}/why`,
    access: 'any',
    devices: 'narrowed',
    quotes: ['notify'],
    summary: 'Explain why channels were or were not notified of the current firing',
    description: 'Lists what each gate held back and why, and the result for each channel.',
    params: IncidentId,
    response: WhyAnswer,
    errors: ['not_found'],
    handle: async ({ params, principal }) => why.of(params.id, await seenBy(principal)),
  }),
  listRoute({
    path: `${one}/instances`,
    access: 'any',
    devices: 'narrowed',
    summary:
      'List the instances of an incident, one per label set, including those resolved within the last day',
    params: IncidentId,
    query: InstanceQuery,
    items: InstanceItem,
    errors: ['not_found'],
    async handle({ params, query, page, principal }) {
      const seen = await seenBy(principal);
      return await instances.list(await store.get(params.id, seen), query.state, page, seen);
    },
  }),
  listRoute({
    path: `${one}/events`,
    access: 'any',
    devices: 'narrowed',
    summary: 'List the timeline of an incident, one entry per transition or delivery',
    params: IncidentId,
    query: EventQuery,
    items: EventItem,
    errors: ['not_found'],
    async handle({ params, query, page, principal }): Promise<Page<Static<typeof EventItem>>> {
      const seen = await seenBy(principal);
      const incident = await store.get(params.id, seen);
      const { items, total, more } = await store.events(
        incident,
        { order: query.order ?? 'desc', type: query.type },
        page,
        seen,
      );
      return { items: items.map(shownEvent), total, next: more ? [items.at(-1)!.id] : undefined };
    },
  }),
];

const activeStatuses: readonly IncidentStatus[] = ['open', 'acknowledged', 'silenced'];

function filterOf({
  status,
  severity,
  scope,
  rule,
  q,
}: Static<typeof IncidentQuery>): IncidentFilter {
  const colon = scope?.indexOf(':') ?? -1;
  return {
    ...(status !== undefined && {
      status: status
        .split(',')
        .flatMap((name) => (name === 'active' ? activeStatuses : [name as IncidentStatus])),
    }),
    ...(severity !== undefined && { severity: severity.split(',') as Incident['severity'][] }),
    ...(scope !== undefined && {
      scopeType: (colon < 0 ? scope : scope.slice(0, colon)) as Incident['scope_type'],
    }),
    ...(scope !== undefined && colon >= 0 && { scopeId: scope.slice(colon + 1) }),
    ...(rule !== undefined && { rule }),
    ...(q !== undefined && { q }),
  };
}
