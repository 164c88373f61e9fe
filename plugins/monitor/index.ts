import { definePlugin, defineService } from 'svc/sdk';
import { parseDuration } from 'svc/query';

import type { LogQueries } from '../logs/contract.ts';
import type { MetricsQueries } from '../metricsdb/contract.ts';
import { Dashboards } from './contract.ts';
import { DashboardBook } from './dashboard-book.ts';
import { dashboardRoutes } from './dashboard-routes.ts';
import { importRoutes } from './import-routes.ts';
import { dashboardMention, mentions } from './mention.ts';
import { panelRoutes } from './panel-routes.ts';
import type { MonitorTables } from './panel-store.ts';
import { Panels } from './panels.ts';
import { queryCheck } from './query-check.ts';
import { dashboardSkills } from './skills.ts';

export default definePlugin({
  activate(ctx) {
    const { clock, scope, log, settings } = ctx;
    // By their ids: the folder of a store may be taken away, and its values with it.
    const stores = {
      metrics: ctx.services.maybe(defineService<MetricsQueries>('metrics.queries')),
      logs: ctx.services.maybe(defineService<LogQueries>('logs.queries')),
    };
    const tables = ctx.db<MonitorTables>();
    const book = new DashboardBook(ctx.extend.open(Dashboards), tables, ctx.id);
    dashboardSkills(book).forEach((skill) => ctx.skills.add(skill));
    const check = queryCheck(stores);
    const panels = new Panels({ tables, book, check, clock });
    const sampleInterval = (): number => parseDuration(settings.get<string>('monitor.sample_interval'));
    const deadlineMs = (): number => parseDuration(settings.get<string>('monitor.deadline'));

    ctx.extend.contribute(mentions, 'dashboard', dashboardMention(book));
    ctx.http.routes([
      ...panelRoutes(panels),
      ...dashboardRoutes({ book, panels, stores, clock, scope, log, sampleInterval, deadlineMs }),
      ...importRoutes({ book, panels, check }),
    ]);
  },
});
