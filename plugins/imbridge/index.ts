import { IncidentChanged } from 'svc/contracts/alert';
import { ApprovalRequested, ApprovalSettled } from 'svc/contracts/approval';
import { Directory } from 'svc/contracts/iam';
import { ImPlatforms, type ImPorts } from 'svc/contracts/imbridge';
import { ChannelTypes } from 'svc/contracts/notify';
import { dialSocket } from 'svc/im';
import { Jobs } from 'svc/jobs';
import { BuildInfo, definePlugin, Outgoing, type PluginContext } from 'svc/sdk';

import { appRoutes, linkRoutes } from './apps/app-routes.ts';
import { Apps } from './apps/apps.ts';
import { errors as appErrors } from './apps/errors.ts';
import { People } from './apps/people.ts';
import { Messenger } from './messages/messenger.ts';
import { Answerer } from './queue/answerer.ts';
import { errors as queueErrors } from './queue/errors.ts';
import { callbackRoutes, Intake, type IntakeParts } from './queue/intake.ts';
import { Listeners } from './queue/listeners.ts';
import { dealWithMessages, keptMs } from './queue/message-work.ts';
import { MessageQueue } from './store/message-queue.ts';
import { MessageStore } from './store/message-store.ts';
import type { ImTables } from './store/tables.ts';
import { errors as talkErrors } from './talk/errors.ts';
import { openTalk } from './talk/talk.ts';

const alignEveryMs = 30_000;
const tellEveryMs = 15_000;
const hourMs = 3_600_000;

export default definePlugin({
  errors: [appErrors, talkErrors, queueErrors],
  activate(ctx) {
    const { clock, ids, log, scope, settings, services } = ctx;
    const tables = ctx.db<ImTables>();
    const build = services.use(BuildInfo);
    const jobs = new Jobs(ctx, {
      tables,
      process: String(build.startedAt),
      table: 'imbridge_work',
    });
    const queue = new MessageQueue(tables, jobs);
    const ports = portsOf(ctx);
    const directory = services.use(Directory);
    const apps: Apps = new Apps({
      tables,
      clock,
      ids,
      secrets: ctx.secrets,
      platforms: ctx.extend.open(ImPlatforms),
      publicUrl: () => build.publicUrl,
      grantsOf: (role) => directory.grantsOf(role),
      changed: () => {
        intake.refresh();
        scope.task('open streams', () => listeners.align());
      },
    });
    const intake: Intake = openIntake(ctx, { tables, apps, queue });
    const listeners = new Listeners({
      tables,
      apps,
      intake,
      ports,
      scope,
      clock,
      log,
      random: () => Buffer.from(ids.token(4), 'base64url').readUInt32BE(0) / 2 ** 32,
    });
    const people = new People({ tables, directory, clock, ids });
    const messenger = new Messenger({ apps, ports, clock, log });
    const talk = openTalk(ctx, { tables, queue, apps, people, messenger, ports });
    dealWithMessages(ctx, {
      jobs,
      tables,
      answerer: new Answerer({
        tables,
        apps,
        people,
        messenger,
        ...talk,
        perMinute: () => settings.get('im.per_minute'),
      }),
      atOnce: () => (intake.isBusy ? 2 : settings.get('im.at_once')),
    });
    ctx.http.routes([...appRoutes(apps), ...linkRoutes(people), ...callbackRoutes(intake)]);
    ctx.extend.contribute(ChannelTypes, 'im', talk.incidents.channelType);
    ctx.events.on(ApprovalRequested, (approval) => talk.approvals.requested(approval));
    ctx.events.on(ApprovalSettled, async ({ owner }) => {
      if (owner.kind === 'chat') {
        await queue.wake(owner.ref);
      }
    });
    ctx.events.on(IncidentChanged, (change) => talk.incidents.changed(change));
    return { tables, queue, listeners, ...talk };
  },
  async start(
    { clock, scope },
    { tables, queue, listeners, actions, approvals, incidents, conversations },
  ) {
    await queue.takeOver();
    // What was decided while we were away is not told again.
    await queue.wake();
    await approvals.tellOpen();
    await incidents.catchUp();
    await listeners.align();
    scope.interval('tell open approvals', tellEveryMs, () => approvals.tellOpen());
    scope.interval('look for streams', alignEveryMs, () => listeners.align());
    scope.interval('forget old messages', hourMs, async () => {
      await tables.write((tx) => new MessageStore(tx).forget(clock.now() - keptMs));
      await actions.forget();
      await incidents.forget();
      await conversations.forget();
    });
  },
});

function openIntake(
  { clock, ids, metrics, settings }: PluginContext,
  parts: Pick<IntakeParts, 'tables' | 'apps' | 'queue'>,
): Intake {
  return new Intake({
    ...parts,
    clock,
    ids,
    received: metrics.counter(
      'events_total',
      'Messages from chat platforms: accepted, repeated, or refused.',
      ['provider', 'result'],
    ),
    maxWaiting: () => settings.get('im.most_waiting'),
  });
}

/** Returns how platforms are reached: by guarded requests and sockets only. */
function portsOf(ctx: PluginContext): ImPorts {
  const { clock, scope, services } = ctx;
  const dials = {
    addressOf: services.use(Outgoing).addressOf,
    every: (ms: number, tick: () => void) => scope.interval('ping a chat platform', ms, tick),
  };
  return {
    clock,
    fetch: (url, request) => ctx.fetch(url, request),
    dial: (url, signal) => dialSocket(dials, url, signal),
  };
}
