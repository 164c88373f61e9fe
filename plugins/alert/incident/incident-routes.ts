import { listRoute, type Page, route, type RouteDeclaration, SvcError } from 'svc/sdk';
import type { Static } from 'typebox';

import type { IncidentStatus } from '../contract.ts';
import type { Incident } from './incident.ts';
import type { IncidentFilter, IncidentStore } from './incident-store.ts';
import type { Operations } from './operations.ts';
import { EventItem, EventQuery, IncidentId, IncidentItem, IncidentQuery, NoteDraft, SilenceFor, WithNote } from './schema.ts';
import { shownEvent, shownIncident } from './shown.ts';

const path = '/api/v1/alerts/incidents';
const one = `${path}/{id}`;

export const incidentRoutes = (store: IncidentStore, operations: Operations): readonly RouteDeclaration[] => [
  listRoute({
    path,
    access: 'any',
    summary: 'List incidents, those that fired last first',
    query: IncidentQuery,
    items: IncidentItem,
    async handle({ query, page }): Promise<Page<Static<typeof IncidentItem>>> {
      const { items, total, more } = await store.list(filterOf(query), page);
      const last = items.at(-1);
      return { items: items.map(shownIncident), total, next: more ? [last!.last_fired_at, last!.id] : undefined };
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
    handle: async ({ params }) => shownIncident(await found(store, params.id)),
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
      await found(store, params.id);
      const { items, total, more } = await store.events(params.id, { order: query.order ?? 'desc', type: query.type }, page);
      return { items: items.map(shownEvent), total, next: more ? [items.at(-1)!.id] : undefined };
    },
  }),
  route({
    method: 'POST',
    path: `${one}/ack`,
    access: 'any',
    summary: 'Take an incident in hand',
    params: IncidentId,
    body: WithNote,
    response: IncidentItem,
    status: 200,
    action: 'incident:ack',
    errors: ['not_found', 'conflict'],
    handle: (call) => operations.acknowledge(call.params.id, call.body.note, call),
  }),
  route({
    method: 'POST',
    path: `${one}/resolve`,
    access: 'any',
    summary: 'Mark an incident resolved',
    description: 'While its condition lasts it stays resolved until that has cleared, or until the cooldown is over: then it fires again.',
    params: IncidentId,
    body: WithNote,
    response: IncidentItem,
    status: 200,
    action: 'incident:resolve',
    errors: ['not_found', 'conflict'],
    handle: (call) => operations.resolve(call.params.id, call.body.note, call),
  }),
  route({
    method: 'POST',
    path: `${one}/silence`,
    access: 'any',
    summary: 'Mute this incident, and no other, for a time',
    description: 'The same end again, to the minute, changes nothing; another end for one that is silenced is a conflict, and takes DELETE before.',
    params: IncidentId,
    body: SilenceFor,
    response: IncidentItem,
    status: 200,
    action: 'incident:silence',
    errors: ['not_found', 'conflict'],
    handle: (call) => operations.silence(call.params.id, call.body, call),
  }),
  route({
    method: 'DELETE',
    path: `${one}/silence`,
    access: 'any',
    summary: 'End the silence of an incident, which is open again then',
    params: IncidentId,
    response: IncidentItem,
    status: 200,
    action: 'incident:unsilence',
    errors: ['not_found', 'conflict'],
    handle: (call) => operations.unsilence(call.params.id, call),
  }),
  route({
    method: 'POST',
    path: `${one}/notes`,
    access: 'any',
    summary: 'Add a note to the timeline of an incident',
    params: IncidentId,
    body: NoteDraft,
    response: IncidentItem,
    action: 'incident:note',
    errors: ['not_found'],
    handle: (call) => operations.note(call.params.id, call.body.text, call),
  }),
];

async function found(store: IncidentStore, id: number): Promise<Incident> {
  const incident = await store.find(id);
  if (incident === undefined) {
    throw new SvcError('not_found', `there is no incident ${id}`);
  }
  return incident;
}

const activeOnes: readonly IncidentStatus[] = ['open', 'acknowledged', 'silenced'];

function filterOf({ status, severity, scope, rule, q }: Static<typeof IncidentQuery>): IncidentFilter {
  const colon = scope?.indexOf(':') ?? -1;
  return {
    ...(status !== undefined && { status: status.split(',').flatMap((name) => (name === 'active' ? activeOnes : [name as IncidentStatus])) }),
    ...(severity !== undefined && { severity: severity.split(',') as Incident['severity'][] }),
    ...(scope !== undefined && { scopeType: (colon < 0 ? scope : scope.slice(0, colon)) as Incident['scope_type'] }),
    ...(scope !== undefined && colon >= 0 && { scopeId: scope.slice(colon + 1) }),
    ...(rule !== undefined && { rule }),
    ...(q !== undefined && { q }),
  };
}
