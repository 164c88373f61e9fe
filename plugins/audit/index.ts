import { hostname } from 'node:os';

import { AuditEntries, AuditGrown } from 'svc/contracts/audit';
import {
  AuditTrail,
  definePlugin,
  type HealthReport,
  messageOf,
  Outgoing,
  type PluginContext,
  type Scope,
} from 'svc/sdk';

import { Checkpoints } from './checkpoints.ts';
import { errors } from './errors.ts';
import { Head } from './head.ts';
import { Keys } from './keys.ts';
import { Memory } from './memory.ts';
import { pausesOf } from './pace.ts';
import { retention } from './retention.ts';
import { auditRoutes } from './routes.ts';
import { changeSkills, entriesOf } from './skills.ts';
import { errors as sinkErrors } from './sink/errors.ts';
import { configuredSink } from './sink/configured-sink.ts';
import { restsOf } from './sink/rests.ts';
import { Shipment } from './sink/shipment.ts';
import { Store } from './rows/store.ts';
import type { AuditTables } from './rows/tables.ts';
import { Trail } from './trail.ts';
import { unguarded, Verification } from './verification.ts';

const minute = 60_000;
const hour = 60 * minute;
/**
 * Delay after which a row is normally committed or rolled back; rows that arrive meanwhile share
 * one look.
 */
const settledMs = 200;

export default definePlugin({
  errors: [errors, sinkErrors],
  async activate(ctx) {
    const { clock, ids, log, secrets, scope, dataDir } = ctx;
    const store = new Store(ctx.db<AuditTables>());
    const keys = await Keys.open({ store, secrets, ids, clock, log });
    const head = new Head(dataDir, keys, clock);
    const memory = new Memory(store, await head.read());
    const checkpoints = new Checkpoints({ store, keys, memory, clock, dataDir });
    const pause = pausesOf(scope);
    const { shipment, wake } = shipmentOf(ctx, store);
    const archiveOld = retention({
      store,
      keys,
      clock,
      log,
      dataDir,
      days: () => ctx.settings.get<number>('audit.retention_days'),
      released: () => shipment.released(),
    });

    const noteHead = async (): Promise<void> => head.write(await memory.look());
    const keepUp = afterRows(scope, () => {
      ctx.events.emit(AuditGrown, {});
      wake();
      return Promise.all([checkpoints.keepUp(), noteHead()])
        .then(() => undefined)
        .catch((error: unknown) =>
          log.warn(
            { event: 'audit.end_not_read', cause: messageOf(error) },
            'failed to read new audit log entries; retrying with the next entry',
          ),
        );
    });

    ctx.services.provide(AuditTrail, () => new Trail(store, keys, keepUp));
    ctx.services.provide(AuditEntries, () => entriesOf(store));
    changeSkills(store, clock).forEach((skill) => ctx.skills.add(skill));
    ctx.http.routes(
      auditRoutes({
        store,
        pause,
        clock,
        shipment,
        verification: new Verification({ store, keys, checkpoints, memory, pause }),
      }),
    );

    const guarded = async (): Promise<HealthReport> => {
      const broken = unguarded(await store.unguarded());
      return broken === undefined ? { ok: true } : { ok: false, detail: broken.reason };
    };
    ctx.health.check('the database refuses changes to the trail', guarded);
    ctx.health.check('the trail reaches its last known row', () => wholeness(memory));
    ctx.health.check('the sink gets the trail', () => shipment.health());
    scope.task('ship the trail to its sink', (signal) => shipment.run(signal));
    const { ok, detail } = await guarded();
    if (!ok) {
      log.error(
        { event: 'audit.triggers_missing', detail },
        'audit log is unprotected: triggers are missing',
      );
    }

    const signEnd = (): Promise<void> =>
      Promise.all([checkpoints.sign(), noteHead()])
        .then(() => undefined)
        .catch((error: unknown) =>
          log.warn(
            { event: 'audit.checkpoint_failed', cause: messageOf(error) },
            'failed to sign an audit checkpoint; keeping the previous one',
          ),
        );
    await signEnd();
    scope.defer('sign the end of the trail', signEnd);
    scope.timeout('sign a checkpoint soon after the start', minute, () => checkpoints.sign());
    scope.interval('sign a checkpoint', hour, () => checkpoints.sign());
    scope.interval('archive entries older than audit.retention_days', hour, archiveOld);
  },
});

/** Reports whether rows are missing that svc has seen; verification says which. */
async function wholeness(memory: Memory): Promise<HealthReport> {
  const missing = await memory.missing();
  return missing === undefined
    ? { ok: true }
    : {
        ok: true,
        degraded: true,
        detail: `the audit log ends before row ${missing.seq}, which was written, or has another row in its place: it was truncated, or an older backup was restored. Compare it with a backup or a sink`,
      };
}

/** Lets `work` run once, soon, however many rows ask for it. */
function afterRows(scope: Scope, work: () => Promise<void>): () => void {
  let isComing = false;
  return () => {
    if (isComing || scope.signal.aborted) {
      return;
    }
    isComing = true;
    scope.timeout('read the new end of the trail', settledMs, () => {
      isComing = false;
      return work();
    });
  };
}

/** Returns what ships the trail to the sink of the settings; `wake` tells it of new rows. */
function shipmentOf(
  ctx: PluginContext,
  store: Store,
): { readonly shipment: Shipment; readonly wake: () => void } {
  const { clock, log, scope } = ctx;
  const { rest, wake } = restsOf(scope);
  const outgoing = ctx.services.use(Outgoing);
  const shipment = new Shipment({
    store,
    clock,
    log,
    rest,
    behind: ctx.metrics.gauge(
      'sink_entries_behind',
      'Entries of the audit log that its sink does not have yet.',
    ),
    sink: () =>
      configuredSink({
        settings: ctx.settings,
        name: hostname().replaceAll(/[^!-~]/g, '-') || '-',
        now: () => clock.now(),
        addressOf: (host) => outgoing.addressOf(host),
        fetch: (url, request) => ctx.fetch(url, request),
      }),
  });
  return { shipment, wake };
}
