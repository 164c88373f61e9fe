import { listRoute, route, type RouteDeclaration } from 'svc/sdk';

import type { Nodes } from './nodes.ts';
import {
  Blast,
  BlastQuery,
  ById,
  NodeDraft,
  NodeItem,
  NodePatch,
  NodeQuery,
  RemovalQuery,
} from './schema.ts';

const path = '/api/v1/topology/nodes';
const usualDepth = 3;

export const nodeRoutes = (nodes: Nodes): readonly RouteDeclaration[] => [
  listRoute({
    path,
    access: 'any',
    devices: 'narrowed',
    quotes: ['device'],
    summary: 'List nodes, newest first',
    query: NodeQuery,
    items: NodeItem,
    handle: ({ query: { type, tag = [], q }, page, principal }) =>
      nodes.list(principal, { type, tags: tag.map(tagOf), q }, page),
  }),
  route({
    method: 'POST',
    path,
    access: 'topology:create',
    brief: ['id'],
    action: 'topology:create',
    summary: 'Create a node whose props match the schema of its type',
    description: 'Not needed for devices: each one already has a host node.',
    body: NodeDraft,
    response: NodeItem,
    errors: ['conflict'],
    handle: (call) => nodes.create(call, call.body),
  }),
  route({
    method: 'GET',
    path: `${path}/{id}`,
    access: 'any',
    devices: 'narrowed',
    quotes: ['device'],
    summary: 'Get a node',
    params: ById,
    response: NodeItem,
    errors: ['not_found'],
    handle: ({ params, principal }) => nodes.get(principal, params.id),
  }),
  route({
    method: 'PATCH',
    path: `${path}/{id}`,
    ifMatch: true,
    access: 'topology:update',
    devices: 'narrowed',
    brief: ['id'],
    summary: 'Update a node; its props and tags are each replaced as a whole',
    params: ById,
    body: NodePatch,
    response: NodeItem,
    errors: ['not_found', 'conflict'],
    handle: (call) => nodes.update(call, call.params.id, call.body),
  }),
  route({
    method: 'DELETE',
    path: `${path}/{id}`,
    ifMatch: true,
    access: 'topology:delete',
    devices: 'narrowed',
    summary:
      'Delete a node that has no relations; with cascade=true, its relations are deleted too',
    params: ById,
    query: RemovalQuery,
    errors: ['not_found', 'conflict'],
    handle: (call) => nodes.remove(call, call.params.id, call.query.cascade ?? false),
  }),
  route({
    method: 'GET',
    path: `${path}/{id}/blast-radius`,
    access: 'any',
    devices: 'narrowed',
    quotes: ['device'],
    summary: 'List what fails if a node fails, following relations that propagate failure',
    params: ById,
    query: BlastQuery,
    response: Blast,
    errors: ['not_found'],
    handle: ({ params, query, principal }) =>
      nodes.blast(principal, params.id, query.depth ?? usualDepth),
  }),
];

/** `env`, or `env=prod`. */
function tagOf(text: string): { key: string; value?: string } {
  const equals = text.indexOf('=');
  return equals < 0 ? { key: text } : { key: text.slice(0, equals), value: text.slice(equals + 1) };
}
