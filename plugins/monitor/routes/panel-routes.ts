import { listRoute, route, type RouteDeclaration } from 'svc/sdk';

import { type Panels, shownPanel } from '../store/panels.ts';
import { Panel, PanelDraft, PanelId, PanelPatch, PanelQuery } from '../model/schema.ts';

export const panelRoutes = (panels: Panels): readonly RouteDeclaration[] => [
  listRoute({
    path: '/api/v1/monitor/panels',
    access: 'any',
    devices: 'none',
    summary: 'List panels that users created',
    query: PanelQuery,
    items: Panel,
    async handle({ query, page }) {
      const { items, ...rest } = await panels.list(query.dashboard_uid, page);
      return { ...rest, items: items.map(shownPanel) };
    },
  }),
  route({
    method: 'POST',
    path: '/api/v1/monitor/panels',
    access: 'monitor:write',
    brief: ['id'],
    summary: 'Add a panel to a dashboard; the dashboard is created if needed',
    body: PanelDraft,
    response: Panel,
    action: 'panel:create',
    errors: ['conflict'],
    handle: async (call) => shownPanel(await panels.create(call, call.body)),
  }),
  route({
    method: 'PATCH',
    path: '/api/v1/monitor/panels/{id}',
    ifMatch: true,
    access: 'monitor:write',
    brief: ['id'],
    summary: 'Update a panel, or move it to another dashboard',
    params: PanelId,
    body: PanelPatch,
    response: Panel,
    action: 'panel:update',
    errors: ['not_found', 'conflict'],
    handle: async (call) => shownPanel(await panels.update(call, call.params.id, call.body)),
  }),
  route({
    method: 'DELETE',
    path: '/api/v1/monitor/panels/{id}',
    ifMatch: true,
    access: 'monitor:write',
    summary: 'Delete a panel; a user-created dashboard is deleted with its last panel',
    params: PanelId,
    action: 'panel:delete',
    errors: ['not_found', 'conflict'],
    handle: (call) => panels.remove(call, call.params.id),
  }),
];
