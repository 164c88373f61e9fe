import { DeviceNames } from 'svc/contracts/device';
import { Directory } from 'svc/contracts/iam';
import { LogQueries } from 'svc/contracts/logs';
import { Mentions } from 'svc/contracts/mention';
import { MetricsQueries } from 'svc/contracts/metricsdb';
import { TraceQueries } from 'svc/contracts/traces';
import { Dashboards, DashboardViews, type GrafanaSources } from 'svc/contracts/monitor';
import { askingOf, DeviceScopes, parseDuration } from 'svc/query';
import { covers, definePlugin, type ToolSkill, toolSkill } from 'svc/sdk';
import { Type } from 'typebox';

import { grafanaOf } from './grafana/write.ts';
import { errors } from './model/errors.ts';
import { PanelDraft } from './model/schema.ts';
import { DashboardService } from './store/dashboard-service.ts';
import { dashboardRoutes } from './routes/dashboard-routes.ts';
import { importRoutes } from './routes/import-routes.ts';
import { usersDashboardRoutes } from './routes/users-dashboard-routes.ts';
import { linkRoutes } from './routes/link-routes.ts';
import { dashboardMention } from './routes/mention.ts';
import { panelRoutes } from './routes/panel-routes.ts';
import { Links } from './store/links.ts';
import { History } from './store/history.ts';
import type { MonitorTables } from './store/panel-store.ts';
import { Panels, shownPanel } from './store/panels.ts';
import { UsersDashboards } from './store/users-dashboards.ts';
import { queryCheck } from './render/query-check.ts';

export default definePlugin({
  errors,
  activate(ctx) {
    const { clock, scope, log, settings } = ctx;
    const stores = {
      metrics: ctx.services.maybe(MetricsQueries),
      logs: ctx.services.maybe(LogQueries),
      traces: ctx.services.maybe(TraceQueries),
    };
    const names = ctx.services.maybe(DeviceNames);
    const tables = ctx.db<MonitorTables>();
    const dashboards = new DashboardService(ctx.extend.open(Dashboards), tables, ctx.id);
    dashboardSkills(dashboards).forEach((skill) => ctx.skills.add(skill));
    const check = queryCheck(stores);
    const history = new History({ clock, pluginOf: (uid) => dashboards.pluginOf(uid) });
    const common = { tables, dashboards, history, check, clock };
    const panels = new Panels(common);
    const users = new UsersDashboards(common);
    ctx.skills.add(panelSkill(panels));
    const sampleInterval = (): number =>
      parseDuration(settings.get<string>('monitor.sample_interval'));
    const deadlineMs = (): number => parseDuration(settings.get<string>('monitor.deadline'));

    const rendering = {
      stores,
      nameOf: (id: string) => (names.available ? names.get().nameOf(id) : undefined),
      clock,
      scope,
      log,
      sampleInterval,
      deadlineMs,
    };
    const asking = askingOf(ctx.services.maybe(DeviceScopes));
    const links = new Links({
      tables,
      dashboards,
      render: rendering,
      ids: ctx.ids,
      people: ctx.services.maybe(Directory),
      allowed: () => settings.get<boolean>('monitor.public_links'),
    });

    ctx.services.provide(DashboardViews, () => ({
      all: async () =>
        (await dashboards.whole()).map((dashboard) => ({
          ...dashboard,
          grafana: (sources: GrafanaSources) => grafanaOf(dashboard, sources),
        })),
    }));
    ctx.extend.contribute(Mentions, 'dashboard', dashboardMention(dashboards));
    ctx.http.routes([
      ...panelRoutes(panels),
      ...dashboardRoutes({ dashboards, ...rendering, askingOf: asking }),
      ...linkRoutes(links, asking),
      ...usersDashboardRoutes(users),
      ...importRoutes({ dashboards, users, check }),
    ]);
  },
});

/** The skill that draws a panel, once a person has signed what they see of it. */
const panelSkill = (panels: Panels): ToolSkill =>
  toolSkill({
    scope: 'manager',
    class: 'mutating',
    tier: 'specialty',
    key: 'panel_create',
    name: 'Add a panel',
    description:
      'Adds a panel with a query to a dashboard; the dashboard is created if it does not exist.',
    params: PanelDraft,
    run: async (draft, { principal }) => {
      if (!principal.grants.some((grant) => covers(grant, 'monitor:write'))) {
        throw errors.may_not_draw();
      }
      const call = { note: () => undefined, requireMatch: () => undefined, principal };
      return shownPanel(await panels.create(call, draft));
    },
  });

const ofSkills = { scope: 'manager', class: 'safe', tier: 'specialty', devices: 'none' } as const;

/** Skills by which agents and people query dashboards: what is drawn where, and by which query. */
const dashboardSkills = (dashboards: DashboardService): readonly ToolSkill[] => [
  toolSkill({
    ...ofSkills,
    key: 'dashboards_list',
    name: 'Dashboards',
    description: 'All dashboards, with the number of panels in each.',
    params: Type.Object({}),
    run: async () => ({ dashboards: await dashboards.list() }),
  }),
  toolSkill({
    ...ofSkills,
    key: 'dashboard_get',
    name: 'One dashboard',
    description:
      "A dashboard's panels with their queries, and its variables. These queries are known to work here.",
    params: Type.Object({ uid: Type.String({ minLength: 1, maxLength: 200 }) }),
    run: async ({ uid }) => {
      const { title, description, source, variables, panels } = await dashboards.get(uid);
      return {
        uid,
        title,
        description,
        source,
        variables,
        panels: panels.map(({ title: name, type, query, queries, unit }) => ({
          title: name,
          type,
          query,
          ...(queries && { queries: queries.map((one) => one.query) }),
          unit,
        })),
      };
    },
  }),
];
