import {
  addressOf,
  type ConnectionParts,
  productTestRoute,
  testConnection,
  type Trial,
} from 'svc/connection';
import { LogQueries } from 'svc/contracts/logs';
import { MetricsQueries } from 'svc/contracts/metricsdb';
import { DashboardViews } from 'svc/contracts/monitor';
import { TraceQueries } from 'svc/contracts/traces';
import {
  BuildInfo,
  definePlugin,
  type Handle,
  type PluginContext,
  route,
  type RouteDeclaration,
  type Settings,
} from 'svc/sdk';
import { Type } from 'typebox';

import { dataSources } from './data-sources.ts';
import { errors } from './errors.ts';
import { Grafana, grafanaProduct } from './grafana.ts';
import { type DashTables, SyncStore } from './sync-store.ts';
import { results, Sync, type Wish } from './sync.ts';

const stores = {
  metrics: MetricsQueries,
  logs: LogQueries,
  traces: TraceQueries,
};

const Order = Type.Object({
  overwrite: Type.Optional(
    Type.Boolean({ description: 'Also replace dashboards that were changed in Grafana' }),
  ),
  dry_run: Type.Optional(Type.Boolean({ description: 'Only report what would change' })),
});

const Report = Type.Object({
  ok: Type.Boolean({ description: 'Whether everything succeeded' }),
  version: Type.String({ description: 'Grafana version' }),
  changed: Type.Integer({
    minimum: 0,
    description: 'Number of objects created, updated or removed',
  }),
  dry_run: Type.Boolean(),
  items: Type.Array(
    Type.Object({
      kind: Type.Enum(['folder', 'data_source', 'dashboard']),
      uid: Type.String(),
      title: Type.String(),
      result: Type.Enum([...results]),
      detail: Type.String({
        description:
          'Why the object was kept or failed; for a data source, whether Grafana can query svc through it',
      }),
    }),
  ),
});

export default definePlugin({
  errors,
  activate(ctx) {
    const { settings, clock, fetch } = ctx;
    const parts: ConnectionParts = { clock, fetch: (url, request) => fetch(url, request) };
    const wishOf = wishes(ctx);
    const target = {
      ...parts,
      product: grafanaProduct,
      setting: 'dash.url',
      set: () => trialOf(settings),
    };
    ctx.http.routes([
      productTestRoute({
        path: '/api/v1/integrations/dash/test',
        summary: 'Test the connection to Grafana, with the saved or the given settings',
        action: 'dash:test',
        ...target,
      }),
      syncRoute(async (order, signal) => {
        const trial = trialOf(settings);
        const address = addressOf(trial, true);
        if (address === undefined) {
          throw errors.not_configured();
        }
        const wish = await wishOf(order);
        const {
          ok,
          detail,
          version = '',
        } = await testConnection(parts, grafanaProduct, address, signal);
        if (!ok) {
          throw errors.not_ready({ detail });
        }
        const syncStore = new SyncStore(ctx.db<DashTables>(), address.url, () => clock.now());
        return {
          version,
          items: await new Sync(new Grafana(parts, address, signal), syncStore, wish).run(),
        };
      }),
    ]);
  },
});

type SyncOrder = { readonly overwrite?: boolean; readonly dry_run?: boolean };

/** One pass at a time: two would take each other's writes for those of people. */
function syncRoute(
  sync: (
    order: SyncOrder,
    signal: AbortSignal,
  ) => Promise<{ version: string; items: Awaited<ReturnType<Sync['run']>> }>,
): RouteDeclaration {
  let isRunning = false;
  return route({
    method: 'POST',
    path: '/api/v1/integrations/dash/sync',
    access: 'admin',
    summary: 'Sync data sources and dashboards to Grafana',
    description:
      'Objects that are up to date are left alone. Changes made in Grafana are kept unless overwrite is set.',
    body: Order,
    response: Report,
    status: 200,
    timeoutMs: 180_000,
    action: 'dash:sync',
    errors: ['conflict', 'upstream_error'],
    async handle({ body, signal, note }) {
      if (isRunning) {
        throw errors.running();
      }
      isRunning = true;
      try {
        const { version, items } = await sync(body, signal);
        const changed = items.filter(({ result }) => /^(?:created|updated|removed)$/.test(result));
        note({
          resourceType: 'dash',
          after: { changed: changed.map(({ kind, uid, result }) => `${kind} ${uid} ${result}`) },
        });
        return {
          ok: items.every(({ result }) => result !== 'failed'),
          version,
          changed: changed.length,
          dry_run: body.dry_run === true,
          items: [...items],
        };
      } finally {
        isRunning = false;
      }
    },
  });
}

/** Returns what Grafana should have, given the running plugins. */
function wishes(ctx: PluginContext): (order: SyncOrder) => Promise<Wish> {
  const { settings, services } = ctx;
  const { publicUrl } = services.use(BuildInfo);
  const views = services.maybe(DashboardViews);
  const handles = {
    metrics: services.maybe(stores.metrics),
    logs: services.maybe(stores.logs),
    traces: services.maybe(stores.traces),
  };
  const there = ({ available }: Handle<object>): boolean => available;
  return async ({ overwrite = false, dry_run: dryRun = false }) => {
    const token = settings.get<string>('dash.svc_token');
    if (token === '') {
      throw errors.no_token();
    }
    const base = (settings.get<string>('dash.svc_url') || publicUrl).replace(/\/+$/, '');
    const serving = {
      metrics: there(handles.metrics),
      logs: there(handles.logs),
      traces: there(handles.traces),
    };
    const dashboards = views.available ? await views.get().all() : undefined;
    return {
      sources: dataSources(base, serving),
      dashboards,
      folder: settings.get<string>('dash.folder'),
      token,
      overwrite,
      dryRun,
    };
  };
}

const trialOf = (settings: Settings): Trial => ({
  url: settings.get<string>('dash.url'),
  token: settings.get<string>('dash.token'),
  user: settings.get<string>('dash.user'),
  password: settings.get<string>('dash.password'),
  ca: settings.get<string>('dash.ca'),
  insecure: settings.get<boolean>('dash.insecure'),
});
