import { listRoute, pageOfList, route, type RouteDeclaration } from 'svc/sdk';
import type { AskingOf } from 'svc/query';
import { Type } from 'typebox';

import type { DashboardService } from '../store/dashboard-service.ts';
import type { Panels, UsersDashboard } from '../store/panels.ts';
import { render, type RenderParts } from '../render/render.ts';
import {
  DashboardItem,
  DashboardQuery,
  DashboardUid,
  Uid,
  UsersDashboardBody,
  UsersDashboardItem,
} from '../model/schema.ts';
import { RenderedDashboard } from '../model/rendered-schema.ts';

export interface DashboardRouteParts extends RenderParts {
  readonly dashboards: DashboardService;
  readonly panels: Panels;
  readonly askingOf: AskingOf;
}

const shownWhole = ({ uid, title, variables, panels }: UsersDashboard) => ({
  uid,
  title,
  variables: [...variables],
  panels: panels.map((panel) => ({ ...panel, thresholds: [...panel.thresholds] })),
});

const variablePrefix = 'var-';

export const dashboardRoutes = ({
  dashboards,
  panels,
  askingOf,
  ...parts
}: DashboardRouteParts): readonly RouteDeclaration[] => [
  listRoute({
    path: '/api/v1/observability/dashboards',
    access: 'any',
    devices: 'none',
    summary: 'List dashboards from plugins and users',
    items: DashboardItem,
    async handle({ page: { limit, after } }) {
      const every = await dashboards.list();
      const rest = after === undefined ? every : every.filter(({ uid }) => uid > String(after[0]));
      const items = rest
        .slice(0, limit)
        .map(({ variables, ...entry }) => ({ ...entry, variables: [...variables] }));
      return {
        items,
        total: every.length,
        next: rest.length > items.length ? [items.at(-1)!.uid] : undefined,
      };
    },
  }),
  route({
    method: 'GET',
    path: '/api/v1/observability/dashboards/{uid}',
    access: 'any',
    devices: 'narrowed',
    readsAsked: ['metricsdb', 'logs'],
    summary:
      'Get a dashboard with its data: panels with their series, and variables with their values',
    description:
      'A panel without data states the reason: error if a query failed, missing if all succeeded. An API token also needs read:metricsdb and read:logs, depending on what the panels query.',
    params: DashboardUid,
    query: DashboardQuery,
    response: RenderedDashboard,
    errors: ['not_found', 'conflict'],
    async handle({ params, query, principal, signal, requireRead }) {
      const { from, to, step, rows, ...others } = query;
      const given = new Map(
        Object.entries(others as Record<string, string[]>).map(([name, value]) => [
          name.slice(variablePrefix.length),
          value,
        ]),
      );
      return await render(
        await dashboards.get(params.uid),
        {
          window: { from, to, step },
          given,
          rows,
          asking: await askingOf(principal),
          requireRead,
          signal,
        },
        parts,
      );
    },
  }),
  ...usersDashboardRoutes(panels),
];

/** Routes for everything that users have put on dashboards: files to carry to another svc. */
const usersDashboardRoutes = (panels: Panels): readonly RouteDeclaration[] => [
  listRoute({
    path: '/api/v1/monitor/dashboards',
    access: 'any',
    devices: 'none',
    summary: 'List the panels and settings that users added to dashboards, for configuration files',
    items: UsersDashboardItem,
    handle: async ({ page }) =>
      pageOfList((await panels.whole()).map(shownWhole), ({ uid }) => uid, page),
  }),
  route({
    method: 'PUT',
    path: '/api/v1/monitor/dashboards/{uid}',
    access: 'monitor:write',
    brief: ['uid'],
    summary: 'Replace the panels, title and variables that users added to a dashboard',
    params: Type.Object({ uid: Uid }),
    body: UsersDashboardBody,
    response: UsersDashboardItem,
    maxBodyBytes: 4 * 1_048_576,
    action: 'dashboard:put',
    errors: ['conflict'],
    handle: async (call) => shownWhole(await panels.put(call, call.params.uid, call.body)),
  }),
  route({
    method: 'DELETE',
    path: '/api/v1/monitor/dashboards/{uid}',
    access: 'monitor:write',
    summary:
      'Delete all panels that users added to a dashboard; a user-created dashboard is deleted with them',
    params: DashboardUid,
    action: 'dashboard:delete',
    errors: ['not_found'],
    handle: (call) => panels.removeDashboard(call, call.params.uid),
  }),
];
