import { listRoute, route, type RouteDeclaration } from 'svc/sdk';

import {
  CalendarQuery,
  CalendarShown,
  MutedItem,
  SilenceDraft,
  SilenceId,
  SilenceItem,
  SilenceLabels,
  SilencePreview,
  SilenceQuery,
} from './schema.ts';
import type { Silences } from './silences.ts';

const path = '/api/v1/alerts/silences';
const read = { access: 'any', devices: 'narrowed' } as const;
const deleting = { access: 'alert:silence', devices: 'narrowed' } as const;
const writing = { ...deleting, brief: ['id'] } as const;

export const silenceRoutes = (silences: Silences): readonly RouteDeclaration[] => [
  ...readRoutes(silences),
  ...writeRoutes(silences),
];

const readRoutes = (silences: Silences): readonly RouteDeclaration[] => [
  listRoute({
    path,
    ...read,
    summary: 'List silences and maintenance windows, newest first',
    query: SilenceQuery,
    items: SilenceItem,
    handle: ({ query, page, principal }) => silences.list(principal, query.state, page),
  }),
  route({
    method: 'GET',
    path: `${path}/labels`,
    ...read,
    summary: 'List the labels that a silence could match, with how much has them',
    response: SilenceLabels,
    handle: ({ principal }) => silences.labels(principal),
  }),
  route({
    method: 'GET',
    path: `${path}/calendar`,
    ...read,
    summary: 'List the times at which silences mute, with every recurrence of a window',
    query: CalendarQuery,
    response: CalendarShown,
    handle: ({ query, principal }) =>
      silences.calendar(principal, { from: Date.parse(query.from), to: Date.parse(query.to) }),
  }),
  route({
    method: 'GET',
    path: `${path}/{id}`,
    ...read,
    summary: 'Get a silence',
    params: SilenceId,
    response: SilenceItem,
    errors: ['not_found'],
    handle: ({ params, principal }) => silences.get(principal, params.id),
  }),
  route({
    method: 'POST',
    path: `${path}/preview`,
    ...read,
    summary: 'Preview what a silence would mute, now and in the last 24 hours',
    body: SilenceDraft,
    response: SilencePreview,
    status: 200,
    audited: false,
    handle: (call) => silences.preview(call.principal, call.body),
  }),
  listRoute({
    path: `${path}/{id}/muted`,
    ...read,
    summary: 'List the instances that a silence mutes now',
    params: SilenceId,
    items: MutedItem,
    errors: ['not_found'],
    handle: ({ params, page, principal }) => silences.muted(principal, params.id, page),
  }),
];

const writeRoutes = (silences: Silences): readonly RouteDeclaration[] => [
  route({
    method: 'POST',
    path,
    ...writing,
    summary: 'Silence incidents by label, for a limited time or in a recurring window',
    description:
      'Silenced incidents still fire and are recorded, but no notifications are sent. If an incident is still firing when the silence ends, its notification is sent then.',
    body: SilenceDraft,
    response: SilenceItem,
    action: 'silence:create',
    errors: ['conflict'],
    handle: (call) => silences.add(call.body, call),
  }),
  route({
    method: 'PUT',
    path: `${path}/{id}`,
    ...writing,
    summary: 'Replace a silence that has not ended',
    description: 'If starts_at is omitted, the original start time is kept.',
    params: SilenceId,
    body: SilenceDraft,
    response: SilenceItem,
    action: 'silence:update',
    errors: ['not_found', 'conflict'],
    handle: (call) => silences.replace(call.params.id, call.body, call),
  }),
  route({
    method: 'DELETE',
    path: `${path}/{id}`,
    ...deleting,
    summary: 'End a silence now; it remains in the list as expired',
    params: SilenceId,
    action: 'silence:expire',
    errors: ['not_found'],
    handle: (call) => silences.expire(call.params.id, call),
  }),
];
