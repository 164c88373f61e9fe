import { cronErrors } from 'svc/cron';
import { IncidentActions, IncidentFired, Incidents } from 'svc/contracts/alert';
import { ApprovalSettled } from 'svc/contracts/approval';
import { ChangeFeed, ChangeNoted } from 'svc/contracts/changes';
import { ChatRuns } from 'svc/contracts/chat';
import { EdgeFleet, EdgeOffline } from 'svc/contracts/edge';
import { Directory } from 'svc/contracts/iam';
import { KnowledgeShelf } from 'svc/contracts/knowledge';
import { NoticeDispatcher } from 'svc/contracts/notify';
import { Personas } from 'svc/contracts/persona';
import { Jobs } from 'svc/jobs';
import { DeviceScopes, seenBy } from 'svc/query';
import { AuditTrail, BuildInfo, definePlugin } from 'svc/sdk';

import { Authors } from './author/authors.ts';
import { errors } from './errors.ts';
import { Delivery } from './run/delivery.ts';
import { Runner } from './run/runner.ts';
import { runQueue, Starts } from './run/starts.ts';
import { Triggers } from './run/triggers.ts';
import { scheduleRoutes } from './schedule-routes.ts';
import { Schedules } from './schedules.ts';
import { ScheduleStore } from './store/schedule-store.ts';
import type { ScheduleTables } from './store/tables.ts';

const tickMs = 1_000;
const lookMs = 30_000;
/** Time that a run which was decided on takes to continue. */
const soonMs = 1_000;
const hourMs = 3_600_000;
const dayMs = 24 * hourMs;

export default definePlugin({
  errors: [errors, cronErrors],
  activate(ctx) {
    const { clock, ids, log, scope, services, settings, metrics, events } = ctx;
    const tables = ctx.db<ScheduleTables>();
    const build = services.use(BuildInfo);
    const jobs = new Jobs(ctx, { tables, process: String(build.startedAt) });
    const authors = new Authors(services.use(Directory));
    const incidents = services.maybe(Incidents);
    const channels = services.maybe(NoticeDispatcher);
    const changes = services.maybe(ChangeFeed);
    const fleet = services.maybe(EdgeFleet);
    const sees = seenBy(services.maybe(DeviceScopes));
    const starts = new Starts({
      tables,
      jobs,
      authors,
      settings,
      clock,
      ids,
      trail: services.maybe(AuditTrail),
    });
    const triggers = new Triggers({
      tables,
      starts,
      authors,
      incidents,
      changes,
      fleet,
      seenBy: sees,
      clock,
      log,
    });
    new Runner({
      tables,
      jobs,
      starts,
      authors,
      settings,
      clock,
      chat: services.maybe(ChatRuns),
      delivery: new Delivery({
        incidents,
        channels,
        actions: services.maybe(IncidentActions),
        shelf: services.maybe(KnowledgeShelf),
      }),
      ended: metrics.counter('runs_total', 'Runs of schedules that ended, by how.', ['state']),
      tokens: metrics.counter('tokens_total', 'Tokens used by runs of schedules.', ['direction']),
    });
    ctx.http.routes(
      scheduleRoutes(
        new Schedules({
          tables,
          starts,
          authors,
          personas: services.maybe(Personas),
          channels,
          incidents,
          seenBy: sees,
          settings,
          clock,
          ids,
        }),
      ),
    );
    events.on(IncidentFired, ({ incident }) => triggers.fired(incident));
    events.on(ChangeNoted, (change) => triggers.changed(change));
    events.on(EdgeOffline, ({ edge_id: id, last_seen_at: at }) => triggers.wentOffline(id, at));
    events.on(ApprovalSettled, ({ owner }) => {
      if (owner.kind === 'chat') {
        scope.timeout('continue a run', soonMs, () => jobs.wake(runQueue, { key: owner.ref }));
      }
    });
    for (const source of [incidents, changes, fleet]) {
      source.onChange((state) =>
        state === 'up' ? scope.task('look for triggers', () => triggers.catchUp()) : undefined,
      );
    }
    return { tables, jobs, starts, triggers };
  },
  async start({ clock, scope, settings }, { tables, jobs, starts, triggers }) {
    await starts.due();
    await triggers.catchUp();
    scope.interval('start due schedules', tickMs, () => starts.due());
    // A decision may have come while nobody listened.
    await jobs.wake(runQueue);
    scope.interval('continue runs that were decided on', lookMs, async () => {
      if (await new ScheduleStore(tables.read).hasParked()) {
        await jobs.wake(runQueue);
      }
    });
    scope.interval('remove old runs of schedules', hourMs, async () => {
      const days = settings.get<number>('schedules.keep_days');
      await tables.write((tx) =>
        new ScheduleStore(tx).removeRunsBefore(clock.now() - days * dayMs),
      );
    });
  },
});
