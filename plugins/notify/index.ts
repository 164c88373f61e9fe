import { DeviceDirectory } from 'svc/contracts/device';
import { Investigations } from 'svc/contracts/investigate';
import {
  ChannelTypes,
  NoticeDispatcher,
  NoticeSource,
  NotificationFinished,
} from 'svc/contracts/notify';
import { Jobs, JobSources } from 'svc/jobs';
import { BuildInfo, definePlugin, type PluginContext } from 'svc/sdk';

import { Addresses } from './channels/address.ts';
import { ChannelHealth } from './channels/channel-health.ts';
import { Channels } from './channels/channels.ts';
import { errors as channelErrors } from './channels/errors.ts';
import { channelRoutes, deliveryRoutes } from './channel-routes.ts';
import { errors as messageErrors } from './message/errors.ts';
import { Knowledge } from './message/knowledge.ts';
import { linksBelow, PageLinks } from './message/page-link.ts';
import { pageRoutes, Pages } from './message/pages.ts';
import { ChannelTests } from './queue/channel-tests.ts';
import { Deliveries } from './queue/deliveries.ts';
import { errors as queueErrors } from './queue/errors.ts';
import { Dispatcher } from './queue/dispatcher.ts';
import { OutcomePublisher } from './queue/outcome-publisher.ts';
import { Repeats } from './queue/repeats.ts';
import { Sender, type SenderParts } from './queue/sender.ts';
import { DeliveryJobs } from './store/delivery-jobs.ts';
import { DeliveryQueue } from './store/delivery-queue.ts';
import { errors as storeErrors } from './store/errors.ts';
import { Lookout } from './store/lookout.ts';
import type { NotifyTables } from './store/tables.ts';
import { ContributedTypes, shippedTypes } from './types/channel-types.ts';
import { problemOf } from './types/declared.ts';
import { errors as typeErrors } from './types/errors.ts';
import { keepUp } from './upkeep.ts';

export default definePlugin({
  errors: [channelErrors, messageErrors, queueErrors, storeErrors, typeErrors],
  async activate(ctx) {
    const { clock, ids, log, scope, settings, services } = ctx;
    const tables = new Lookout(ctx.db<NotifyTables>());
    const build = services.use(BuildInfo);
    const source = services.maybe(NoticeSource);
    const types = new ContributedTypes(ctx.extend.open(ChannelTypes, { problem: problemOf }), log);
    const addresses = new Addresses(ctx.secrets, settings);
    const links = await PageLinks.open({ tables, secrets: ctx.secrets, ids, log });
    const linkOf = linksBelow(build.publicUrl, { links, settings, clock });
    const knowledge = new Knowledge({
      source,
      devices: services.maybe(DeviceDirectory),
      findings: services.maybe(Investigations),
      clock,
      log,
    });

    const jobs = new Jobs(ctx, { tables, process: String(build.startedAt) });
    const queue = new DeliveryQueue(jobs);
    const dispatcher = new Dispatcher({ tables, queue, clock, ids, types });
    const sender = senderOf(ctx, { tables, jobs, queue, types, addresses, linkOf, knowledge });
    const tests = new ChannelTests({
      tables,
      queue,
      clock,
      ids,
      sender,
      after: (ms, late) => scope.timeout('give up waiting for a test', ms, late),
    });
    const channels = new Channels({
      tables,
      queue,
      types,
      addresses,
      settings,
      source,
      clock,
      ids,
      dispatcher,
      addressChanged: (id) => sender.addressChanged(id),
    });

    services.provide(NoticeDispatcher, () => dispatcher);
    Object.entries(shippedTypes).forEach(([id, type]) =>
      ctx.extend.contribute(ChannelTypes, id, type),
    );
    ctx.extend.contribute(JobSources, 'notify-deliveries', new DeliveryJobs(tables, clock));
    ctx.http.routes([
      ...channelRoutes(channels, tests),
      ...deliveryRoutes(new Deliveries({ tables, queue, clock, ids })),
      ...pageRoutes(new Pages({ tables, links, knowledge, linkOf, clock })),
    ]);
    await keepUp(ctx, {
      tables,
      publisher: outcomePublisher(ctx, tables),
      repeats: new Repeats({ tables, queue, source, clock, ids }),
      health: new ChannelHealth(
        tables,
        ctx.metrics.gauge('channel_failing', '1 while deliveries to the channel fail.', [
          'channel_id',
          'channel',
        ]),
      ),
    });
    return { tables, queue };
  },
  async start(_ctx, { tables, queue }) {
    await tables.write((tx) => queue.takeOver(tx));
  },
});

function senderOf(
  ctx: PluginContext,
  parts: Pick<
    SenderParts,
    'tables' | 'jobs' | 'queue' | 'types' | 'addresses' | 'linkOf' | 'knowledge'
  >,
): Sender {
  const { clock, ids, log, metrics } = ctx;
  return new Sender({
    ...parts,
    clock,
    log,
    fetch: (url, request) => ctx.fetch(url, request),
    uuid: () => ids.uuid(),
    random: () => Buffer.from(ids.token(4), 'base64url').readUInt32BE(0) / 2 ** 32,
    tries: metrics.counter('tries_total', 'Attempts to deliver a notification to a channel.', [
      'channel_type',
      'result',
    ]),
  });
}

function outcomePublisher(
  { clock, events, log, metrics, services }: PluginContext,
  tables: Lookout<NotifyTables>,
): OutcomePublisher {
  const outcomes = metrics.counter(
    'outcomes_total',
    'Notifications by result, one for each channel.',
    ['result'],
  );
  // So that the first one is not taken for the beginning of the counter.
  ['sent', 'failed', 'folded', 'overtaken'].forEach((result) => outcomes.add(0, { result }));
  return new OutcomePublisher({
    tables,
    source: services.maybe(NoticeSource),
    clock,
    log,
    announce: (outcome) => events.emit(NotificationFinished, outcome),
    outcomes,
  });
}
