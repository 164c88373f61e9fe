import { connectionErrors } from 'svc/connection';
import { DeviceReports } from 'svc/contracts/device';
import { MetricsIngest } from 'svc/contracts/metricsdb';
import { queryErrors } from 'svc/query';
import { definePlugin, messageOf } from 'svc/sdk';

import { ConnectedStores } from './connected-stores.ts';
import { errors } from './errors.ts';
import { errors as hostErrors } from './hosts/errors.ts';
import { errors as prometheusErrors } from './prometheus/errors.ts';
import { Reader } from './reader.ts';
import type { ServerTables } from './server-store.ts';
import { storeRoutes } from './store-routes.ts';

const everyMs = 30_000;

export default definePlugin({
  errors: [errors, hostErrors, prometheusErrors, connectionErrors, ...queryErrors],
  activate(ctx) {
    const { clock, log, scope, secrets, services } = ctx;
    const reports = services.maybe(DeviceReports);
    const fetch: typeof ctx.fetch = (url, request) => ctx.fetch(url, request);
    const reader = new Reader({
      fetch,
      clock,
      log,
      reports,
      ingest: services.maybe(MetricsIngest),
    });
    const stores = new ConnectedStores({
      tables: ctx.db<ServerTables>(),
      secrets,
      clock,
      fetch,
      reports,
      reader,
      signal: scope.signal,
    });
    ctx.http.routes(storeRoutes(stores));
    ctx.health.check('connected stores', () => {
      const { failing } = reader;
      // A server elsewhere that is down is no fault of svc.
      return { ok: true, ...(failing.length > 0 && { detail: failing.join('; ') }) };
    });
    return stores;
  },
  start({ scope, log }, stores) {
    const read = (): void =>
      void stores
        .readAll()
        .catch((error: unknown) =>
          log.warn(
            { event: 'connected-stores.not_read', cause: messageOf(error) },
            'failed to read connected stores; retrying',
          ),
        );
    // Not awaited: a store that hangs must not hold up the start, or the others.
    scope.interval('read connected stores', everyMs, read);
    read();
  },
});
