import { listRoute, route, type RouteDeclaration } from 'svc/sdk';

import type { EdgePlugins } from './edge-plugins.ts';
import { EdgeId, EdgePluginId, EdgePluginItem, EdgePluginPut, PluginCounts } from '../schema.ts';

export const pluginRoutes = (plugins: EdgePlugins): readonly RouteDeclaration[] => [
  listRoute({
    path: '/api/v1/edges/{id}/plugins',
    access: 'any',
    summary: 'Plugins of an edge: what is wanted of each, and how it is',
    params: EdgeId,
    items: EdgePluginItem,
    errors: ['not_found'],
    handle: ({ params }) => plugins.list(params.id),
  }),
  route({
    method: 'PUT',
    path: '/api/v1/edges/{id}/plugins/{name}',
    access: 'edge:plugin',
    summary: 'Switch a plugin of an edge, or change its spec; an edge that is offline gets it when it connects',
    params: EdgePluginId,
    body: EdgePluginPut,
    response: EdgePluginItem,
    action: 'edge:plugin',
    errors: ['not_found'],
    handle: (call) => plugins.put(call, call.params.id, call.params.name, call.body),
  }),
  route({
    method: 'GET',
    path: '/api/v1/integrations/plugin-counts',
    access: 'any',
    summary: 'On how many edges each plugin is enabled and disabled',
    response: PluginCounts,
    handle: () => plugins.counts(),
  }),
];
