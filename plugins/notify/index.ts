import { DeviceDirectory } from 'svc/contracts/device';
import { Investigations } from 'svc/contracts/investigate';
import {
  ChannelTypes,
  NoticeDispatcher,
  NoticeSource,
  NotificationFinished,
} from 'svc/contracts/notify';
import { JobSources } from 'svc/jobs';
import { BuildInfo, definePlugin, isSvcError, messageOf, type PluginContext } from 'svc/sdk';

import { Addresses } from './channels/address.ts';
import { ChannelHealth } from './channels/channel-health.ts';
import { channelRoutes, deliveryRoutes } from './channel-routes.ts';
import { ChannelTests } from './queue/channel-tests.ts';
import { ContributedTypes, shippedTypes } from './types/channel-types.ts';
import { Channels } from './channels/channels.ts';
import { Deliveries } from './queue/deliveries.ts';
import { DeliveryJobs } from './store/delivery-jobs.ts';
import { Dispatcher } from './queue/dispatcher.ts';
import { Knowledge } from './message/knowledge.ts';
import { Lookout } from './store/lookout.ts';
import type { LinkOf } from './message/message.ts';
import { PageLinks } from './message/page-link.ts';
import { pagePath, pageRoutes, Pages } from './message/pages.ts';
import { OutcomePublisher } from './queue/outcome-publisher.ts';
import { Repeats } from './queue/repeats.ts';
import { removeExpired } from './store/retention.ts';
import { Sender } from './queue/sender.ts';
import { createSettingsChannels, settingsChannels } from './channels/settings-channels.ts';
import type { NotifyTables } from './store/tables.ts';

const sendEveryMs = 200;
const publishEveryMs = 500;
const measureEveryMs = 5_000;
/** Repeats are looked for when the next is due, and after the second: another group may be due by then. */
const repeatEveryMs = 1_000;
const mostRepeatMs = 10_000;
const hourMs = 3_600_000;

export default definePlugin({
  async activate(ctx) {
    const { clock, ids, log, scope, settings } = ctx;
    const tables = new Lookout(ctx.db<NotifyTables>());
    // By which deliveries are sent and written down: that nothing was due is no news to the sender itself.
    const own = new Lookout(ctx.db<NotifyTables>());
    const isQuiet = tables.quiet();
    const build = ctx.services.use(BuildInfo);
    const source = ctx.services.maybe(NoticeSource);
    const types = new ContributedTypes(ctx.extend.open(ChannelTypes), log);
    Object.entries(shippedTypes).forEach(([id, type]) =>
      ctx.extend.contribute(ChannelTypes, id, type),
    );
    const addresses = new Addresses(ctx.secrets, settings);

    const links = await PageLinks.open(tables, ctx.secrets, ids);
    const linkOf = linksOf(ctx, build.publicUrl, links);
    const knowledge = new Knowledge({
      source,
      devices: ctx.services.maybe(DeviceDirectory),
      findings: ctx.services.maybe(Investigations),
      clock,
      log,
    });
    const sender = new Sender({
      tables: own,
      types,
      addresses,
      linkOf,
      knowledge,
      clock,
      log,
      fetch: (url, request) => ctx.fetch(url, request),
      uuid: () => ids.uuid(),
      random: () =>
        Number.parseInt(Buffer.from(ids.token(4), 'base64url').toString('hex'), 16) / 2 ** 32,
      process: String(build.startedAt),
      generation: ids.uuid(),
      signal: scope.signal,
      tries: ctx.metrics.counter('tries_total', 'Tries to deliver a notification to a channel.', [
        'channel_type',
        'result',
      ]),
    });
    const tests = new ChannelTests({
      tables,
      clock,
      ids,
      sender,
      after: (ms, late) => scope.timeout('give up waiting for a test', ms, late),
    });
    const outcomes = ctx.metrics.counter(
      'outcomes_total',
      'What became of notices, one for each channel.',
      ['result'],
    );
    // So that the first one is not taken for the beginning of the counter.
    ['sent', 'failed', 'folded', 'overtaken'].forEach((result) => outcomes.add(0, { result }));
    const publisher = new OutcomePublisher({
      tables: own,
      source,
      clock,
      log,
      announce: (outcome) => ctx.events.emit(NotificationFinished, outcome),
      outcomes,
    });
    const dispatcher = new Dispatcher({ tables, clock, ids, types });
    const channels = new Channels({
      tables,
      types,
      addresses,
      settings,
      source,
      clock,
      ids,
      dispatcher,
      addressChanged: (id) => sender.addressChanged(id),
    });
    ctx.services.provide(NoticeDispatcher, () => dispatcher);
    ctx.extend.contribute(JobSources, 'notify', new DeliveryJobs(tables, clock));
    const deliveries = new Deliveries({ tables, clock, ids, hurried: (id) => sender.hurried(id) });
    const pages = new Pages({ tables, links, knowledge, linkOf, clock });
    const repeats = new Repeats({ tables, source, clock, ids });
    const health = new ChannelHealth(
      tables,
      ctx.metrics.gauge('channel_failing', '1 while deliveries to the channel fail.', [
        'channel_id',
        'channel',
      ]),
    );
    ctx.http.routes([
      ...channelRoutes(channels, tests),
      ...deliveryRoutes(deliveries),
      ...pageRoutes(pages),
    ]);

    /** What storage cannot take now is done the next time. */
    const retried = (what: string, work: () => Promise<void>) => async (): Promise<void> => {
      try {
        await work();
      } catch (error) {
        if (!isSvcError(error)) {
          throw error;
        }
        log.warn(
          { event: 'notify.task_failed', cause: messageOf(error) },
          `could not ${what}; retried`,
        );
      }
    };
    const bringSettings = retried('create the channels that settings bring', () =>
      createSettingsChannels({ tables, settings, clock, ids }),
    );
    let isWaiting = true;
    const sendDue = tables.whileStirred(
      async () => (isWaiting = await sender.sendDue(isQuiet())),
      own,
    );
    // What waits may become late, which is an outcome, too.
    const publishEnded = tables.whileStirred(
      async () => (await publisher.publish()) || isWaiting,
      own,
    );
    const send = retried('send notifications', sendDue);
    const publish = retried('publish outcomes of deliveries', publishEnded);
    const expire = retried('remove expired deliveries', () => removeExpired(tables, clock));
    const measure = retried('measure the channels', () => health.measure());
    let repeatAt = -Infinity;
    const repeat = retried('repeat what burns on', async () => {
      const now = clock.monotonic();
      if (now >= repeatAt) {
        repeatAt = now + mostRepeatMs;
        repeatAt = now + Math.min(mostRepeatMs, await repeats.repeat());
      }
    });
    settingsChannels.forEach(({ setting }) => settings.watch(setting, bringSettings));
    scope.defer('wait for what is being sent', () => sender.settled());
    scope.interval('send', sendEveryMs, send);
    scope.interval('publish outcomes', publishEveryMs, publish);
    scope.interval('remove expired deliveries', hourMs, expire);
    scope.interval('repeat what burns on', repeatEveryMs, repeat);
    scope.interval('measure channels', measureEveryMs, measure);
    await bringSettings();
  },
});

/** Below the public URL, where the settings say. */
function linksOf(
  { settings, clock }: Pick<PluginContext, 'settings' | 'clock'>,
  publicUrl: string,
  links: PageLinks,
): LinkOf {
  return (target) => {
    const origin = publicUrl.replace(/\/$/, '');
    if (target === undefined) {
      return origin;
    }
    if ('act' in target) {
      const path = settings.get<string>('notify.act_path');
      return path === '' ? '' : origin + path.replaceAll('{id}', String(target.act));
    }
    if ('chart' in target) {
      return `${origin}${pagePath}/${links.sign({ incident: target.chart }, clock.now())}/chart.png`;
    }
    const path = settings.get<string>(
      'incident' in target ? 'notify.incident_path' : 'notify.incidents_path',
    );
    return (
      origin +
      path
        .replaceAll('{id}', 'incident' in target ? String(target.incident) : '')
        .replaceAll('{token}', links.sign(target, clock.now()))
    );
  };
}
