import { IncidentChanged, IncidentDeeds, Incidents } from 'svc/contracts/alert';
import {
  ApprovalDecisions,
  ApprovalRequested,
  Approvals,
  ApprovalSettled,
} from 'svc/contracts/approval';
import { ChatRuns } from 'svc/contracts/chat';
import { Directory } from 'svc/contracts/iam';
import { ImPlatforms, type ImPorts } from 'svc/contracts/imbridge';
import { ChannelTypes } from 'svc/contracts/notify';
import { dialSocket } from 'svc/im';
import { JobSources } from 'svc/jobs';
import { DeviceScopes, seenBy } from 'svc/query';
import { AuditTrail, BuildInfo, Catalogue, defineEvent, definePlugin, Outgoing } from 'svc/sdk';

import { Actions } from './actions.ts';
import { Answerer } from './answerer.ts';
import { appRoutes, linkRoutes } from './app-routes.ts';
import { ApprovalTalk } from './approvals.ts';
import { Apps } from './apps.ts';
import { Commands } from './commands.ts';
import { Conversations } from './conversations.ts';
import { IncidentTalk } from './incidents.ts';
import { callbackRoutes, Intake } from './intake.ts';
import { JobStore } from './job-store.ts';
import { Listeners } from './listeners.ts';
import { MessageJobs } from './message-jobs.ts';
import { Messenger } from './messenger.ts';
import { People } from './people.ts';
import { Rights } from './rights.ts';
import type { ImTables } from './tables.ts';
import { Worker } from './worker.ts';

/** A worker that has to leave has put something down. */
const WorkLeft = defineEvent<Record<never, never>>('imbridge.work-left');

/** For what no event tells of. */
const lookEveryMs = 10_000;
const alignEveryMs = 30_000;
const tellEveryMs = 15_000;
const hourMs = 3_600_000;
/** Longer than any platform repeats. */
const keptMs = 48 * hourMs;

export default definePlugin({
  activate(ctx) {
    const { clock, ids, log, scope, services, settings } = ctx;
    const tables = ctx.db<ImTables>();
    const jobs = new JobStore(tables);
    const build = services.use(BuildInfo);
    const directory = services.use(Directory);
    const dials = {
      addressOf: services.use(Outgoing).addressOf,
      every: (ms: number, tick: () => void) => scope.interval('ping a chat platform', ms, tick),
    };
    const ports: ImPorts = {
      clock,
      fetch: (url, request) => ctx.fetch(url, request),
      dial: (url, signal) => dialSocket(dials, url, signal),
    };
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
    const arrived = (): void => worker.arrived();
    const received = ctx.metrics.counter(
      'events_total',
      'What chat platforms told: accepted, repeated, or refused.',
      ['provider', 'result'],
    );
    const intake: Intake = new Intake({
      apps,
      jobs,
      clock,
      ids,
      received,
      arrived,
      mostWaiting: () => settings.get('im.most_waiting'),
    });
    const people = new People({ tables, directory, clock, ids });
    const messenger = new Messenger({ apps, jobs, ports, clock });
    const actions = new Actions(tables, clock, ids);
    const rights = new Rights({
      tables,
      clock,
      ids,
      catalogue: services.use(Catalogue),
      trail: services.maybe(AuditTrail),
    });
    const incidents = new IncidentTalk({
      tables,
      apps,
      jobs,
      actions,
      messenger,
      clock,
      ids,
      arrived,
      incidents: services.maybe(Incidents),
    });
    const approvals = new ApprovalTalk({
      apps,
      jobs,
      people,
      actions,
      messenger,
      clock,
      ids,
      arrived,
      book: services.maybe(Approvals),
    });
    const conversations = new Conversations({
      tables,
      apps,
      jobs,
      messenger,
      approvals,
      clock,
      chat: services.maybe(ChatRuns),
      signal: scope.signal,
    });
    const commands = new Commands({
      people,
      rights,
      actions,
      clock,
      incidents: services.maybe(Incidents),
      seenBy: seenBy(services.maybe(DeviceScopes)),
      deeds: services.maybe(IncidentDeeds),
      decisions: services.maybe(ApprovalDecisions),
      renew: (app, event, sender) => conversations.renew(app, event, sender),
      toldHere: (app, event, incident) => incidents.toldHere(app, event, incident),
    });
    const process = `${build.startedAt}`;
    const worker: Worker = new Worker({
      jobs,
      scope,
      clock,
      log,
      process,
      holder: `${process}.${ctx.generation}`,
      answerer: new Answerer({
        apps,
        jobs,
        people,
        commands,
        conversations,
        incidents,
        approvals,
        messenger,
        perMinute: () => settings.get('im.per_minute'),
      }),
      ended: ctx.metrics.counter(
        'ended_total',
        'Messages and notices that were dealt with, by how that ended.',
        ['kind', 'state'],
      ),
      left: () => ctx.events.emit(WorkLeft, {}),
      atOnce: () => (intake.isBusy ? 2 : settings.get('im.at_once')),
    });
    const random = (): number =>
      Number.parseInt(Buffer.from(ids.token(4), 'base64url').toString('hex'), 16) / 2 ** 32;
    const listeners: Listeners = new Listeners({
      tables,
      apps,
      intake,
      ports,
      scope,
      clock,
      log,
      random,
    });

    ctx.http.routes([...appRoutes(apps), ...linkRoutes(people), ...callbackRoutes(intake)]);
    ctx.extend.contribute(ChannelTypes, 'im', incidents.channelType);
    ctx.extend.contribute(JobSources, 'imbridge', new MessageJobs(tables, jobs, clock));
    ctx.events.on(ApprovalRequested, (approval) => approvals.requested(approval));
    ctx.events.on(ApprovalSettled, async ({ owner }) => {
      if (owner.kind === 'chat') {
        await jobs.wake(owner.ref);
        worker.arrived();
      }
    });
    ctx.events.on(WorkLeft, () => worker.arrived());
    ctx.events.on(IncidentChanged, (change) => incidents.changed(change));
    return { jobs, worker, listeners, actions, approvals, incidents, conversations };
  },
  async start(ctx, { jobs, worker, listeners, actions, approvals, incidents, conversations }) {
    // What was decided while we were away is not told again.
    await jobs.wake();
    await approvals.tellOpen();
    await incidents.catchUp();
    await listeners.align();
    ctx.scope.task('answer messages', (signal) => worker.run(signal));
    worker.wake();
    ctx.scope.interval('look for messages', lookEveryMs, () => worker.wake());
    ctx.scope.interval('tell open approvals', tellEveryMs, () => approvals.tellOpen());
    ctx.scope.interval('look for streams', alignEveryMs, () => listeners.align());
    ctx.scope.interval('forget old messages', hourMs, async () => {
      await jobs.forget(ctx.clock.now() - keptMs);
      await actions.forget();
      await incidents.forget();
      await conversations.forget();
    });
  },
});
