import { HostPolicy, Processes } from 'svc/edge-protocol';
import { covers, listRoute, type Principal, route, type RouteDeclaration } from 'svc/sdk';

import { readsArguments } from './arguments.ts';
import { errors } from './errors.ts';
import type { Conflicts } from './identity/conflicts.ts';
import type { EdgeSecrets } from './identity/edge-secrets.ts';
import type { Edges } from './identity/edges.ts';
import type { LiveAnswers } from './live-answers.ts';
import {
  EdgeDraft,
  EdgeId,
  EdgeItem,
  EdgeQuery,
  NewEdge,
  ProcessHistory,
  ProcessHistoryQuery,
  ProcessQuery,
  ResolveRequest,
  RotateRequest,
  Snapshot,
} from './record/schema.ts';

const path = '/api/v1/edges';

const tellsMachinesApart = ({ grants }: Principal): boolean =>
  grants.some((grant) => covers(grant, 'edge:resolve'));

export const edgeRoutes = (edges: Edges): readonly RouteDeclaration[] => [
  route({
    method: 'POST',
    path,
    access: 'edge:create',
    reads: 'none',
    summary: 'Create an edge; the secret key is shown once',
    body: EdgeDraft,
    response: NewEdge,
    action: 'edge:create',
    errors: ['conflict'],
    handle: (call) => edges.create(call, call.body),
  }),
  listRoute({
    path,
    access: 'any',
    devices: 'narrowed',
    summary: 'List edges, newest first',
    query: EdgeQuery,
    items: EdgeItem,
    handle: ({ query, page, principal }) =>
      edges.list(principal, query, page, tellsMachinesApart(principal)),
  }),
  route({
    method: 'GET',
    path: `${path}/{id}`,
    access: 'any',
    devices: 'narrowed',
    summary: 'Get an edge',
    params: EdgeId,
    response: EdgeItem,
    errors: ['not_found'],
    handle: ({ params, principal }) =>
      edges.get(principal, params.id, tellsMachinesApart(principal)),
  }),
  route({
    method: 'DELETE',
    path: `${path}/{id}`,
    ifMatch: true,
    access: 'edge:delete',
    devices: 'narrowed',
    summary: 'Delete an edge, revoke its keys and close its tunnel; its device is kept',
    params: EdgeId,
    errors: ['not_found', 'conflict'],
    handle: (call) => edges.remove(call, call.params.id),
  }),
];

/** Which machine an edge is: its secret, and the conflict of two that have it. */
export const identityRoutes = (
  secrets: EdgeSecrets,
  conflicts: Conflicts,
): readonly RouteDeclaration[] => [
  route({
    method: 'POST',
    path: `${path}/{id}/rotate-secret`,
    access: 'edge:rotate',
    devices: 'narrowed',
    brief: ['id', 'access_key', 'secret_key', 'secret_generation', 'previous_secret_until'],
    summary: 'Rotate the secret key of an edge; the new one is shown once',
    description:
      'An online edge receives the new secret over its tunnel and proves on a second connection that it has it; the old secret is revoked then, or after 24 h at the latest. Otherwise, the old secret is revoked at the end of the grace period or, with "immediate", at once. Also ends a conflict.',
    params: EdgeId,
    body: RotateRequest,
    response: NewEdge,
    status: 200,
    action: 'edge:rotate',
    errors: ['not_found', 'conflict'],
    handle: (call) => secrets.rotate(call, call.params.id, call.body),
  }),
  route({
    method: 'POST',
    path: `${path}/{id}/resolve`,
    access: 'edge:resolve',
    devices: 'narrowed',
    brief: ['id'],
    summary:
      'Resolve a conflict between two machines with the same keys, or accept a machine that lost its key',
    params: EdgeId,
    body: ResolveRequest,
    response: EdgeItem,
    status: 200,
    action: 'edge:resolve',
    errors: ['not_found', 'conflict'],
    handle: (call) => conflicts.resolve(call, call.params.id, call.body.machine_uuid),
  }),
];

/** Routes that the host answers live. */
export const liveRoutes = (live: LiveAnswers): readonly RouteDeclaration[] => [
  route({
    method: 'GET',
    path: `${path}/{id}/processes`,
    access: 'any',
    devices: 'narrowed',
    summary: 'List the current processes of the machine; returns 503 while the edge is offline',
    params: EdgeId,
    query: ProcessQuery,
    response: Processes,
    errors: ['not_found', 'unavailable', 'upstream_error'],
    description:
      'Command lines are shown to holders of edge:arguments; others see only program names.',
    handle: ({ params, query, signal, principal }) =>
      live.processes(principal, params.id, query, signal, readsArguments(principal)),
  }),
  route({
    method: 'GET',
    path: `${path}/{id}/process-history`,
    access: 'any',
    devices: 'narrowed',
    summary:
      'List the processes that used the most of the machine within a time; agents remember six hours',
    params: EdgeId,
    query: ProcessHistoryQuery,
    response: ProcessHistory,
    errors: ['not_found', 'invalid_argument', 'unavailable', 'upstream_error'],
    async handle({ params, query: { from, to }, signal, principal }) {
      if (from > to) {
        throw errors.history_window();
      }
      return await live.processHistory(principal, params.id, { from, to }, signal);
    },
  }),
  route({
    method: 'GET',
    path: `${path}/{id}/metrics`,
    access: 'any',
    devices: 'narrowed',
    summary: 'Get the current metrics of the machine; returns 503 while the edge is offline',
    params: EdgeId,
    response: Snapshot,
    errors: ['not_found', 'unavailable', 'upstream_error'],
    handle: ({ params, signal, principal }) => live.snapshot(principal, params.id, signal),
  }),
  route({
    method: 'GET',
    path: `${path}/{id}/policy`,
    access: 'any',
    devices: 'narrowed',
    summary: 'Get what the owner of the machine allows; returns 503 while the edge is offline',
    params: EdgeId,
    response: HostPolicy,
    errors: ['not_found', 'unavailable', 'upstream_error'],
    description:
      'The policy in force: that of policy.yaml in the data folder of the agent, or the defaults. Passwords of databases are left out.',
    handle: ({ params, signal, principal }) => live.policy(principal, params.id, signal),
  }),
];
