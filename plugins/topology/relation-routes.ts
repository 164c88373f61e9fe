import { listRoute, route, type RouteDeclaration } from 'svc/sdk';

import type { Relations } from './relations.ts';
import { ById, RelationDraft, RelationItem, RelationPatch, RelationQuery } from './schema.ts';

const path = '/api/v1/topology/relations';

export const relationRoutes = (relations: Relations): readonly RouteDeclaration[] => [
  listRoute({
    path,
    access: 'any',
    summary: 'List relations, newest first',
    query: RelationQuery,
    items: RelationItem,
    handle: ({ query, page }) => relations.list(query, page),
  }),
  route({
    method: 'POST',
    path,
    access: 'topology:create',
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
    summary: 'One relation',
    params: ById,
    response: RelationItem,
    errors: ['not_found'],
    handle: ({ params }) => relations.get(params.id),
  }),
  route({
    method: 'PATCH',
    path: `${path}/{id}`,
    access: 'topology:update',
    summary: 'Change the type of a relation, or replace its props; its ends stay',
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
    summary: 'Delete a relation',
    params: ById,
    errors: ['not_found'],
    handle: (call) => relations.remove(call, call.params.id),
  }),
];
