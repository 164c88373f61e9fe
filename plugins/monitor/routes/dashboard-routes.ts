import { listRoute, route, type RouteDeclaration } from 'svc/sdk';
import type { AskingOf } from 'svc/query';
import { type Static, Type } from 'typebox';

import type { DashboardService } from '../store/dashboard-service.ts';
import { render, type RenderParts } from '../render/render.ts';
import { DashboardItem, DashboardQuery, DashboardUid, PreviewBody, Uid } from '../model/schema.ts';
import { type Dashboard, userSource } from '../model/dashboard.ts';
import { complete } from '../model/panel.ts';
import { placeBelow, type Position } from '../model/position.ts';
import { RenderedDashboard } from '../model/rendered-schema.ts';
import { assertVariables } from '../variables/variable-rules.ts';

export interface DashboardRouteParts extends RenderParts {
  readonly dashboards: DashboardService;
  readonly askingOf: AskingOf;
}

const variablePrefix = 'var-';

export const dashboardRoutes = ({
  dashboards,
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
    readsAsked: ['metricsdb', 'logs', 'traces'],
    summary:
      'Get a dashboard with its data: panels with their series, and variables with their values',
    description:
      'A panel without data states the reason: error if a query failed, missing if all succeeded. An API token also needs read:metricsdb, read:logs and read:traces, depending on what the panels query.',
    params: DashboardUid,
    query: DashboardQuery,
    response: RenderedDashboard,
    errors: ['not_found', 'conflict'],
    async handle({ params, query, principal, signal, requireRead }) {
      return await render(
        await dashboards.get(params.uid),
        { ...asked(query), asking: await askingOf(principal), requireRead, signal },
        parts,
      );
    },
  }),
  route({
    method: 'POST',
    path: '/api/v1/observability/dashboards/{uid}/preview',
    access: 'monitor:write',
    reads: 'none',
    readsAsked: ['metricsdb', 'logs', 'traces'],
    audited: false,
    summary: 'Get a dashboard with its data as it would be with other panels of users',
    description:
      'Nothing is saved. The id of a user panel in the response is its place in the request, starting at 1. Panels are not repeated for the values of a variable.',
    params: Type.Object({ uid: Uid }),
    query: DashboardQuery,
    body: PreviewBody,
    response: RenderedDashboard,
    status: 200,
    maxBodyBytes: 4 * 1_048_576,
    errors: ['conflict'],
    async handle({ params: { uid }, query, body, principal, signal, requireRead }) {
      return await render(
        previewOf(uid, await dashboards.find(uid), body),
        { ...asked(query), asking: await askingOf(principal), requireRead, signal },
        parts,
      );
    },
  }),
];

/** Returns window, rows and variables of a request. */
function asked({ from, to, step, rows, ...others }: Static<typeof DashboardQuery>) {
  const given = new Map(
    Object.entries(others as Record<string, string[]>).map(([name, value]) => [
      name.slice(variablePrefix.length),
      value,
    ]),
  );
  return { window: { from, to, step }, given, rows };
}

/** Returns a dashboard with other panels of users; one that does not exist yet has these alone. */
function previewOf(
  uid: string,
  saved: Dashboard | undefined,
  { variables, panels }: Static<typeof PreviewBody>,
): Dashboard {
  assertVariables(variables);
  const isUsers = (saved?.source ?? userSource) === userSource;
  const brought = isUsers ? [] : (saved?.panels ?? []).filter(({ id }) => id === null);
  const places: Position[] = brought.map(({ position }) => position);
  return {
    uid,
    title: saved?.title ?? uid,
    description: saved?.description ?? '',
    source: saved?.source ?? userSource,
    variables: isUsers ? variables : (saved?.variables ?? []),
    sources: saved?.sources ?? [],
    panels: [
      ...brought,
      ...panels.map(({ id: _, repeat: __, ...sketch }, at) => {
        const panel = complete(sketch, placeBelow(places));
        places.push(panel.position);
        return { ...panel, id: at + 1, source: userSource };
      }),
    ],
  };
}
