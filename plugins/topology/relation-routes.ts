import { listRoute, route, type RouteDeclaration } from 'svc/sdk';

import type { Relations } from './relations.ts';
import { ById, RelationDraft, RelationItem, RelationPatch, RelationQuery } from './schema.ts';

const path = '/api/v1/topology/relations';

export const relationRoutes = (relations: Relations): readonly RouteDeclaration[] => [
  listRoute({
    path,
    access: 'any',
    devices: 'narrowed',
    summary: 'List relations, newest first',
    query: RelationQuery,
    items: RelationItem,
    handle: ({ query, page, principal }) => relations.list(principal, query, page),
  }),
  route({
    method: 'POST',
    path,
    access: 'topology:create',
    brief: ['id'],
    action: 'topology:create',
    devices: 'narrowed',
    summary: 'Create a relation between two nodes',
    body: RelationDraft,
    response: RelationItem,
    errors: ['conflict'],
    handle: (call) => relations.create(call, call.body),
  }),
  route({
    method: 'GET',
    path: `${path}/{id}`,
    access: 'any',
    devices: 'narrowed',
    summary: 'Get a relation',
    params: ById,
    response: RelationItem,
    errors: ['not_found'],
    handle: ({ params, principal }) => relations.get(principal, params.id),
  }),
  route({
    method: 'PATCH',
    path: `${path}/{id}`,
    access: 'topology:update',
    devices: 'narrowed',
    brief: ['id'],
    summary: 'Change the type of a relation, or replace its props; its end nodes stay the same',
    params: ById,
    body: RelationPatch,
    response: RelationItem,
    errors: ['not_found', 'conflict'],
    handle: (call) => relations.update(call, call.params.id, call.body),
  }),
  route({
    method: 'DELETE',
    path: `${path}/{id}`,
    access: 'topology:delete',
    devices: 'narrowed',
    summary: 'Delete a relation',
    params: ById,
    errors: ['not_found'],
    handle: (call) => relations.remove(call, call.params.id),
  }),
];
