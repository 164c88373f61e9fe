import { AuditEntries, AuditGrown } from 'svc/contracts/audit';
import { ChangeFeed, changeKinds, ChangeNoted } from 'svc/contracts/changes';
import { EdgeFleet } from 'svc/contracts/edge';
import { MetricsQueries } from 'svc/contracts/metricsdb';
import {
  askedWindow,
  DeviceScopes,
  parseDuration,
  type SeenBy,
  seenBy,
  windowAsked,
} from 'svc/query';
import { BuildInfo, type Clock, definePlugin, Plugins, type ToolSkill, toolSkill } from 'svc/sdk';
import { Type } from 'typebox';

import { AuditChanges } from './audit-changes.ts';
import { changeRoutes, shownChange } from './change-routes.ts';
import type { ChangeTables } from './change-store.ts';
import { errors } from './errors.ts';
import { Feed } from './feed.ts';
import { followFleet } from './fleet-changes.ts';
import { lookAgain } from './watched.ts';

const lookMs = 60_000;
const tidyMs = 600_000;

export default definePlugin({
  errors,
  activate(ctx) {
    const { clock, events, ids, log, metrics, scope, services, settings } = ctx;
    const noted = metrics.counter('noted_total', 'Changes that came into the feed.', ['kind']);
    const feed = new Feed({
      tables: ctx.db<ChangeTables>(),
      clock,
      noted: (change) => {
        noted.add(1, { kind: change.kind });
        events.emit(ChangeNoted, change);
      },
    });
    const sees = seenBy(services.maybe(DeviceScopes));
    const fleet = services.maybe(EdgeFleet);
    const entries = services.maybe(AuditEntries);
    const audit = new AuditChanges({ entries, feed, log });
    const watched = {
      feed,
      fleet,
      log,
      metrics: services.maybe(MetricsQueries),
      plugins: services.use(Plugins),
      build: services.use(BuildInfo),
      now: () => clock.now(),
    };

    services.provide(ChangeFeed, () => feed);
    ctx.http.routes(changeRoutes(feed, { clock, ids, seenBy: sees }));
    ctx.skills.add(feedSkill(feed, clock, sees));
    events.on(AuditGrown, () => audit.catchUp());
    entries.onChange((state) =>
      state === 'up' ? scope.task('read the audit trail', () => audit.catchUp()) : undefined,
    );
    followFleet(ctx, feed, fleet);
    scope.interval('check for changes', lookMs, async () => {
      await lookAgain(watched);
      await audit.catchUp();
    });
    scope.interval('remove old changes', tidyMs, async () => {
      const removed = await feed.tidy({
        keepMs: parseDuration(settings.get<string>('changes.retention')),
        most: settings.get<number>('changes.most'),
      });
      log.debug({ event: 'changes.tidied', removed }, 'removed old changes');
    });
    return { audit, watched };
  },
  async start(_ctx, { audit, watched }) {
    await audit.catchUp();
    await lookAgain(watched);
  },
});

const feedSkill = (feed: Feed, clock: Clock, sees: SeenBy): ToolSkill =>
  toolSkill({
    key: 'changes_feed',
    name: 'Feed of changes',
    description:
      'Deploys, rule and setting edits, upgrades, reboots, restarts and certificate replacements within a window, newest first; filter by device or service.',
    scope: 'manager',
    class: 'safe',
    tier: 'core',
    devices: 'narrowed',
    params: Type.Object({
      kinds: Type.Optional(Type.Array(Type.Enum([...changeKinds]), { maxItems: 12 })),
      device_id: Type.Optional(Type.Integer({ minimum: 1 })),
      service: Type.Optional(Type.String({ maxLength: 200 })),
      q: Type.Optional(
        Type.String({
          maxLength: 200,
          description: 'Only changes whose summary contains this text.',
        }),
      ),
      last: Type.Optional(Type.Unsafe<string>(askedWindow.last)),
      until: Type.Optional(Type.Unsafe<string>(askedWindow.until)),
      limit: Type.Integer({ minimum: 1, maximum: 200, default: 50 }),
    }),
    async run({ kinds, device_id: device, service, q, limit, ...asked }, { principal }) {
      const { start: from, end: to } = windowAsked(asked, clock.now());
      const { items, total } = await feed.page(
        { kinds, device_id: device?.toString(), service, q, from, to },
        { limit },
        await sees(principal),
      );
      return { total, changes: items.map(shownChange) };
    },
  });
