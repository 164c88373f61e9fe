import { listRoute, type Page, route, type RouteDeclaration } from 'svc/sdk';
import type { Static } from 'typebox';

import type { IncidentStatus } from '../contract.ts';
import type { Instance } from '../evaluator/instance.ts';
import type { Incident } from './incident.ts';
import type { IncidentFilter, IncidentStore } from './incident-store.ts';
import type { InstanceReader } from './instance-reader.ts';
import { measured } from './members.ts';
import { EventItem, EventQuery, IncidentId, IncidentItem, IncidentQuery, InstanceItem, InstanceQuery } from './schema.ts';
import { type Why, WhyAnswer } from './why.ts';
import { shownEvent, shownIncident } from './incident-item.ts';

const path = '/api/v1/alerts/incidents';
const one = `${path}/{id}`;

export interface IncidentRouteParts {
  readonly store: IncidentStore;
  readonly instances: InstanceReader;
  readonly why: Why;
  /** In memory, with what was measured last. */
  readonly ledger: { instancesOf(group: string): ReadonlyMap<string, Instance> };
}

export const incidentRoutes = ({ store, instances, ledger, why }: IncidentRouteParts): readonly RouteDeclaration[] => [
  listRoute({
    path,
    access: 'any',
    summary: 'List incidents, those that fired last first',
    query: IncidentQuery,
    items: IncidentItem,
    async handle({ query, page }): Promise<Page<Static<typeof IncidentItem>>> {
      const { items, total, more } = await store.list(filterOf(query), page);
      const last = items.at(-1);
      return {
        items: items.map((incident) => shownIncident(measured(incident, ledger.instancesOf(incident.dedupe_key)), instances.staleSince(incident))),
        total,
        next: more ? [last!.last_fired_at, last!.id] : undefined,
      };
    },
  }),
  route({
    method: 'GET',
    path: one,
    access: 'any',
    summary: 'One incident',
    params: IncidentId,
    response: IncidentItem,
    errors: ['not_found'],
    async handle({ params }) {
      const incident = await store.get(params.id);
      return shownIncident(measured(incident, ledger.instancesOf(incident.dedupe_key)), instances.staleSince(incident));
    },
  }),
  route({
    method: 'GET',
    path: `${one}/why`,
    access: 'any',
    summary: 'Why channels were, or were not, sent the present firing of an incident',
    description: 'For each gate what it held back and by what, and for each channel what became of it.',
    params: IncidentId,
    response: WhyAnswer,
    errors: ['not_found'],
    handle: ({ params }) => why.of(params.id),
  }),
  listRoute({
    path: `${one}/instances`,
    access: 'any',
    summary: 'The instances of an incident: one for each label set, those that have left it for a day',
    params: IncidentId,
    query: InstanceQuery,
    items: InstanceItem,
    errors: ['not_found'],
    handle: async ({ params, query, page }) => instances.list(await store.get(params.id), query.state, page),
  }),
  listRoute({
    path: `${one}/events`,
    access: 'any',
    summary: 'The timeline of an incident: one row for each transition or delivery',
    params: IncidentId,
    query: EventQuery,
    items: EventItem,
    errors: ['not_found'],
    async handle({ params, query, page }): Promise<Page<Static<typeof EventItem>>> {
      await store.get(params.id);
      const { items, total, more } = await store.events(params.id, { order: query.order ?? 'desc', type: query.type }, page);
      return { items: items.map(shownEvent), total, next: more ? [items.at(-1)!.id] : undefined };
    },
  }),
];

const activeStatuses: readonly IncidentStatus[] = ['open', 'acknowledged', 'silenced'];

function filterOf({ status, severity, scope, rule, q }: Static<typeof IncidentQuery>): IncidentFilter {
  const colon = scope?.indexOf(':') ?? -1;
  return {
    ...(status !== undefined && { status: status.split(',').flatMap((name) => (name === 'active' ? activeStatuses : [name as IncidentStatus])) }),
    ...(severity !== undefined && { severity: severity.split(',') as Incident['severity'][] }),
    ...(scope !== undefined && { scopeType: (colon < 0 ? scope : scope.slice(0, colon)) as Incident['scope_type'] }),
    ...(scope !== undefined && colon >= 0 && { scopeId: scope.slice(colon + 1) }),
    ...(rule !== undefined && { rule }),
    ...(q !== undefined && { q }),
  };
}
