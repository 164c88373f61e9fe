import { route, type RouteDeclaration } from 'svc/sdk';

import type { Operations } from './operations.ts';
import { IncidentId, IncidentItem, NoteDraft, SilenceFor, WithNote } from './schema.ts';

const one = '/api/v1/alerts/incidents/{id}';

/**
 * Whoever is signed in may act on incidents; a token that leaks out of a dashboard must not silence
 * the pager, nor one that only acknowledges show what is wrong.
 */
const acting = {
  access: { action: 'alert:ack', people: true },
  devices: 'narrowed',
  brief: ['id', 'status', 'silenced_until'],
} as const;

/** Routes for user actions on one incident. */
export const operationRoutes = (operations: Operations): readonly RouteDeclaration[] => [
  route({
    method: 'POST',
    path: `${one}/ack`,
    ...acting,
    summary: 'Acknowledge an incident',
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
    ...acting,
    summary: 'Resolve an incident',
    description:
      'Even if its condition still holds, the incident stays resolved until the condition has cleared or the cooldown is over; then it can fire again.',
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
    ...acting,
    summary: 'Silence an incident for a limited time',
    description:
      'Repeating the request with the same end time, to the minute, changes nothing. A different end time causes a conflict: DELETE the silence first.',
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
    ...acting,
    summary: 'Unsilence an incident, which reopens it',
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
    ...acting,
    summary: 'Add a note to the timeline of an incident',
    params: IncidentId,
    body: NoteDraft,
    response: IncidentItem,
    action: 'incident:note',
    errors: ['not_found'],
    handle: (call) => operations.note(call.params.id, call.body.text, call),
  }),
];
