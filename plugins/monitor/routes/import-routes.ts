import { isSvcError, messageOf, route, type RouteDeclaration } from 'svc/sdk';
import type { Static } from 'typebox';

import type { DashboardService } from '../store/dashboard-service.ts';
import type { LeftOut, TakenPanel } from '../grafana/report.ts';
import { translate } from '../grafana/translate.ts';
import { grafanaOf } from '../grafana/write.ts';
import { errors } from '../model/errors.ts';
import { assertPanel } from '../model/panel.ts';
import type { ChangeCall } from '../store/history.ts';
import type { UsersDashboards } from '../store/users-dashboards.ts';
import type { QueryCheck } from '../render/query-check.ts';
import { DashboardUid, GrafanaJson, ImportQuery, ImportReport } from '../model/schema.ts';

export interface ImportParts {
  readonly dashboards: DashboardService;
  readonly users: UsersDashboards;
  readonly check: QueryCheck;
}

const mostBytes = 16 * 1_048_576;

export const importRoutes = (parts: ImportParts): readonly RouteDeclaration[] => [
  route({
    method: 'POST',
    path: '/api/v1/monitor/dashboards/import',
    access: 'monitor:write',
    brief: ['uid', 'dry_run'],
    summary: 'Import the panels of a Grafana dashboard, and report what was left out',
    query: ImportQuery,
    body: GrafanaJson,
    response: ImportReport,
    maxBodyBytes: mostBytes,
    action: 'dashboard:import',
    errors: ['conflict', 200],
    async handle(call) {
      const report = await importDashboard(call, call.body, call.query, parts);
      call.setStatus(report.dry_run ? 200 : 201);
      return report;
    },
  }),
  route({
    method: 'GET',
    path: '/api/v1/monitor/dashboards/{uid}/export',
    access: 'any',
    devices: 'none',
    summary: 'Export a dashboard in the format that Grafana imports',
    description:
      'An imported dashboard is returned as it was imported, apart from later changes in svc.',
    params: DashboardUid,
    response: GrafanaJson,
    errors: ['not_found', 'conflict'],
    handle: async ({ params }) => grafanaOf(await parts.dashboards.get(params.uid)),
  }),
];

async function importDashboard(
  call: ChangeCall,
  body: Readonly<Record<string, unknown>>,
  { uid: wanted, overwrite = false, dry_run: dryRun = false }: Static<typeof ImportQuery>,
  { dashboards, users, check }: ImportParts,
): Promise<Static<typeof ImportReport>> {
  const translation = translate(body);
  const { uid: own, title, variables, panels: translated, leftOut: untranslated } = translation;
  const uid = wanted ?? own;
  const taken: TakenPanel[] = [];
  const leftOut: LeftOut[] = [...untranslated];
  const gone = [...translation.gone];
  for (const found of translated) {
    const reason = await refusal(async () => {
      assertPanel(found.panel);
      await check(
        found.panel,
        variables.map(({ variable }) => variable),
      );
    });
    if (reason === undefined) {
      taken.push(found);
    } else {
      leftOut.push({ kind: 'panel', title: found.panel.title, reason });
      gone.push(found.place);
    }
  }
  if (taken.every(({ panel }) => panel.type === 'row')) {
    throw errors.nothing_to_import({
      details: leftOut
        .slice(0, 20)
        .map(({ kind, title: what, reason }) => ({ path: `/${kind}/${what}`, message: reason })),
    });
  }
  const dashboard = {
    uid,
    title,
    variables: variables.map(({ variable }) => variable),
    origin: { dashboard: translation.dashboard, leftOut: gone },
  };
  const bodies = taken.map(({ panel, place }) => ({ ...panel, origin: place }));
  if (dryRun) {
    await assertImportable(uid, overwrite, dashboards);
  }
  const made = dryRun ? [] : await users.take(call, dashboard, bodies, overwrite);
  return {
    uid,
    title,
    dry_run: dryRun,
    taken: [
      ...variables.map(({ variable, notes }) => ({
        kind: 'variable' as const,
        title: variable.name,
        notes: [...notes],
      })),
      ...taken.map(({ panel, notes }, index) => ({
        kind: 'panel' as const,
        title: panel.title,
        ...(made[index] !== undefined && { id: made[index].id }),
        notes: [...notes],
      })),
    ],
    left_out: leftOut.map((left) => ({ ...left })),
  };
}

/** Throws the conflict that the import itself would run into. */
async function assertImportable(
  uid: string,
  overwrite: boolean,
  dashboards: DashboardService,
): Promise<void> {
  const found = await dashboards.find(uid);
  if (found !== undefined && (dashboards.pluginOf(uid) !== undefined || !overwrite)) {
    throw errors.dashboard_exists({
      uid,
      detail: dashboards.pluginOf(uid) === undefined ? ', or overwrite it' : '',
    });
  }
}

async function refusal(work: () => Promise<void>): Promise<string | undefined> {
  try {
    await work();
    return undefined;
  } catch (error) {
    if (isSvcError(error) && error.code === 'invalid_argument') {
      return messageOf(error);
    }
    throw error;
  }
}
