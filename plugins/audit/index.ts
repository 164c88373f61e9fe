import { AuditTrail, definePlugin, messageOf } from 'svc/sdk';

import { checkpoints } from './checkpoints.ts';
import { openKeys } from './keys.ts';
import { pausesOf } from './pace.ts';
import { retention } from './retention.ts';
import { auditRoutes } from './routes.ts';
import { auditStore } from './store.ts';
import type { AuditTables } from './tables.ts';
import { trail } from './trail.ts';
import { verification } from './verification.ts';

const hour = 60 * 60_000;

export default definePlugin({
  async activate(ctx) {
    const { clock, ids, log, secrets, scope, dataDir } = ctx;
    const store = auditStore(ctx.db<AuditTables>());
    const keys = await openKeys({ store, secrets, ids, clock, log });
    const signed = checkpoints({ store, keys, clock, dataDir });
    const pause = pausesOf(scope);
    const archiveOld = retention({ store, keys, clock, log, dataDir, days: () => ctx.settings.get<number>('audit.retention_days') });

    ctx.services.provide(AuditTrail, () => trail(store, keys));
    ctx.http.routes(auditRoutes({ store, pause, clock, verify: verification({ store, keys, checkpoints: signed, pause }) }));

    scope.defer('sign where the trail ends', () =>
      signed
        .sign()
        .catch((error: unknown) => log.warn({ cause: messageOf(error) }, 'the end of the audit trail could not be signed; the last hourly checkpoint stands')),
    );
    scope.interval('sign where the trail stands', hour, () => signed.sign());
    scope.interval('archive what is older than audit.retention_days', hour, archiveOld);
  },
});
