import { listRoute, route, type RouteDeclaration } from 'svc/sdk';

import type { NodeTypes } from './node-types.ts';
import type { RelationTypes } from './relation-types.ts';
import {
  ByName,
  NodeTypeDraft,
  NodeTypeItem,
  NodeTypeQuery,
  RelationTypeDraft,
  RelationTypeItem,
} from './schema.ts';

const nodeTypePath = '/api/v1/topology/node-types';
const relationTypePath = '/api/v1/topology/relation-types';

export const nodeTypeRoutes = (types: NodeTypes): readonly RouteDeclaration[] => [
  listRoute({
    path: nodeTypePath,
    access: 'any',
    devices: 'none',
    summary: 'List node types with their schemas, by name',
    query: NodeTypeQuery,
    items: NodeTypeItem,
    handle: ({ query, page }) => types.list(query.tier, page),
  }),
  route({
    method: 'POST',
    path: nodeTypePath,
    access: 'topology:create',
    reads: 'none',
    summary: 'Create a node type',
    body: NodeTypeDraft,
    response: NodeTypeItem,
    errors: ['conflict'],
    handle: (call) => types.create(call, call.body),
  }),
  route({
    method: 'GET',
    path: `${nodeTypePath}/{name}`,
    access: 'any',
    devices: 'none',
    summary: 'Get a node type',
    params: ByName,
    response: NodeTypeItem,
    errors: ['not_found'],
    handle: ({ params }) => types.get(params.name),
  }),
  route({
    method: 'DELETE',
    path: `${nodeTypePath}/{name}`,
    access: 'topology:delete',
    summary: 'Delete a custom node type that no node uses',
    params: ByName,
    errors: ['not_found', 'conflict'],
    handle: (call) => types.remove(call, call.params.name),
  }),
];

export const relationTypeRoutes = (types: RelationTypes): readonly RouteDeclaration[] => [
  listRoute({
    path: relationTypePath,
    access: 'any',
    devices: 'none',
    summary: 'List relation types and how failure spreads along each, by name',
    items: RelationTypeItem,
    handle: ({ page }) => types.list(page),
  }),
  route({
    method: 'POST',
    path: relationTypePath,
    access: 'topology:create',
    reads: 'none',
    summary: 'Create a relation type',
    body: RelationTypeDraft,
    response: RelationTypeItem,
    errors: ['conflict'],
    handle: (call) => types.create(call, call.body),
  }),
  route({
    method: 'GET',
    path: `${relationTypePath}/{name}`,
    access: 'any',
    devices: 'none',
    summary: 'Get a relation type',
    params: ByName,
    response: RelationTypeItem,
    errors: ['not_found'],
    handle: ({ params }) => types.get(params.name),
  }),
  route({
    method: 'DELETE',
    path: `${relationTypePath}/{name}`,
    access: 'topology:delete',
    summary: 'Delete a custom relation type that no relation uses',
    params: ByName,
    errors: ['not_found', 'conflict'],
    handle: (call) => types.remove(call, call.params.name),
  }),
];
