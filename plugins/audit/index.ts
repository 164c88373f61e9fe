import { AuditTrail, definePlugin, type HealthReport, messageOf, type Scope } from 'svc/sdk';

import { checkpoints } from './checkpoints.ts';
import { openKeys } from './keys.ts';
import { memory } from './memory.ts';
import { pausesOf } from './pace.ts';
import { retention } from './retention.ts';
import { auditRoutes } from './routes.ts';
import { auditStore } from './store.ts';
import type { AuditTables } from './tables.ts';
import { trail } from './trail.ts';
import { unguarded, verification } from './verification.ts';

const minute = 60_000;
const hour = 60 * minute;
/** By then a row is committed or rolled back, as a rule; rows that come meanwhile share one look. */
const settledMs = 200;

export default definePlugin({
  async activate(ctx) {
    const { clock, ids, log, secrets, scope, dataDir } = ctx;
    const store = auditStore(ctx.db<AuditTables>());
    const keys = await openKeys({ store, secrets, ids, clock, log });
    const seen = memory(store);
    const signed = checkpoints({ store, keys, memory: seen, clock, dataDir });
    const pause = pausesOf(scope);
    const archiveOld = retention({ store, keys, clock, log, dataDir, days: () => ctx.settings.get<number>('audit.retention_days') });

    const keepUp = afterRows(scope, () =>
      signed
        .keepUp()
        .catch((error: unknown) => log.warn({ cause: messageOf(error) }, 'the new end of the audit trail was not looked at; the next row tries again')),
    );

    ctx.services.provide(AuditTrail, () => trail(store, keys, keepUp));
    ctx.http.routes(auditRoutes({ store, pause, clock, verify: verification({ store, keys, checkpoints: signed, memory: seen, pause }) }));

    const guarded = async (): Promise<HealthReport> => {
      const broken = unguarded(await store.unguarded());
      return broken === undefined ? { ok: true } : { ok: false, detail: broken.reason };
    };
    ctx.health.check('the database refuses changes to the trail', guarded);
    const { ok, detail } = await guarded();
    if (!ok) {
      log.error({ detail }, 'the audit trail is not guarded');
    }

    const signEnd = (): Promise<void> =>
      signed
        .sign()
        .catch((error: unknown) => log.warn({ cause: messageOf(error) }, 'the end of the audit trail could not be signed; the last checkpoint stands'));
    await signEnd();
    scope.defer('sign where the trail ends', signEnd);
    scope.timeout('sign where the trail stands soon after the start', minute, () => signed.sign());
    scope.interval('sign where the trail stands', hour, () => signed.sign());
    scope.interval('archive what is older than audit.retention_days', hour, archiveOld);
  },
});

/** Lets `work` run once, soon, however many rows ask for it. */
function afterRows(scope: Scope, work: () => Promise<void>): () => void {
  let isComing = false;
  return () => {
    if (isComing || scope.signal.aborted) {
      return;
    }
    isComing = true;
    scope.timeout('look at the new end of the trail', settledMs, () => {
      isComing = false;
      return work();
    });
  };
}
