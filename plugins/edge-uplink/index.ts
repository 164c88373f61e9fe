import { setMaxListeners } from 'node:events';
import { join, resolve } from 'node:path';

import {
  EdgeMethods,
  EdgeStreams,
  LocalPolicy,
  Shipping,
  Specs,
  Uplink,
} from 'svc/contracts/edge-uplink';
import { BuildInfo, definePlugin, Health, type PluginContext, Plugins } from 'svc/sdk';
import {
  type IdempotencyJournal,
  openFileJournal,
  openSweeper,
  sweepMs,
  tunnelErrors,
} from 'svc/tunnel';

import { errors as bufferErrors } from './buffer/errors.ts';
import { ClockCheck } from './clock-check.ts';
import { CredentialStore } from './credentials.ts';
import { DesiredState } from './desired-state.ts';
import { EdgePlugins } from './edge-plugins.ts';
import { errors } from './errors.ts';
import { Handlers } from './handlers.ts';
import { HostReport } from './host-report.ts';
import { Link } from './link.ts';
import { openMachine } from './machine.ts';
import { ownMethods } from './own-methods.ts';
import { errors as policyErrors } from './policy/errors.ts';
import { PolicyFile } from './policy/policy-file.ts';
import { PolicyReport } from './policy/policy-report.ts';
import { Shipment } from './shipment.ts';
import { Supervisor } from './supervisor.ts';
import { tcpStream } from './tcp-stream.ts';

const lookMs = 1_000;
const answersMs = 15_000;
const bufferMs = 60_000;
const hostMs = 60_000;
const clockMs = 300_000;
const introduceMs = 15_000;

type Parts = Awaited<ReturnType<typeof open>>;

export default definePlugin({
  errors: [errors, bufferErrors, policyErrors, ...tunnelErrors],
  async activate(ctx) {
    const parts = await open(ctx);
    provide(ctx, parts);
    return parts;
  },

  start: schedule,
});

async function open(ctx: PluginContext) {
  const { scope, clock, ids, log } = ctx;
  // Each courier and each pause listens for the end.
  setMaxListeners(64, scope.signal);
  const dataDir = resolve(ctx.dataDir, '../..');
  const plugins = ctx.services.use(Plugins);
  const policy = new PolicyFile(dataDir, log);
  const credentials = new CredentialStore(dataDir, ctx.settings.get<string>('uplink.proxy'));
  const machine = openMachine(dataDir, ids, log);
  const desired = new DesiredState(ctx.dataDir, log);
  const random = randomOf(ctx);
  const shipment = await Shipment.open(ctx, credentials, random);
  const later = (label: string, work: () => Promise<void>): void => void scope.task(label, work);
  const supervisor = new Supervisor({
    plugins,
    known: new EdgePlugins(plugins, clock, log),
    desired,
    policy,
    later,
    clock,
    log,
    onHealth: (news) => void link.session?.emit('plugin_health', news),
  });
  const health = ctx.services.maybe(Health);
  const askPlugins = async (): Promise<void> => {
    if (health.available) {
      supervisor.answered((await health.get().check()).checks);
    }
  };
  const host = new HostReport({
    session: () => link.session,
    fingerprint: machine.fingerprint,
    onTaken: () => shipment.release(),
    log,
  });
  const policyReport = new PolicyReport(policy, () => link.session);
  const clocks = new ClockCheck({ session: () => link.session, clock, log });
  const reportBuffer = (): void => void link.session?.emit('buffer', shipment.status);
  const sweeper = openSweeper(clock, (error) =>
    log.error({ event: 'uplink.timer_failed', error }, 'tunnel timer failed'),
  );
  const journal = await openJournal(ctx);
  const link: Link = new Link({
    credentials,
    machine,
    desired,
    journal,
    sweeper,
    random,
    scope,
    ids,
    clock,
    log,
    version: ctx.services.use(BuildInfo).version,
    handlers: new Handlers(ctx.extend.open(EdgeMethods), ctx.extend.open(EdgeStreams), policy),
    onUp() {
      later('report this machine', () => host.sendAgain());
      reportBuffer();
      policyReport.sendAgain();
      supervisor.reportAll();
      shipment.nudge();
    },
  });
  shipment.use(link);
  return {
    policy,
    policyReport,
    credentials,
    desired,
    shipment,
    supervisor,
    host,
    clocks,
    sweeper,
    askPlugins,
    link,
    later,
    reportBuffer,
  };
}

async function openJournal({
  dataDir,
  scope,
  clock,
  log,
}: PluginContext): Promise<IdempotencyJournal> {
  const file = join(dataDir, 'journal.jsonl');
  const journal = await openFileJournal({
    file,
    clock,
    onDamage: (lines) =>
      log.error(
        { event: 'uplink.journal_damaged', file, lines },
        'the command journal is damaged; a command of the last ten minutes may run again if the manager repeats it; check the disk',
      ),
    onTrouble: (error) =>
      log.error({ event: 'uplink.journal_failed', error }, 'failed to write the command journal'),
  });
  scope.defer('journal', () => journal.close());
  return journal;
}

function provide(ctx: PluginContext, parts: Parts): void {
  const { policy, credentials, shipment, supervisor, host, link } = parts;
  ownMethods(parts).forEach((method) => ctx.extend.contribute(EdgeMethods, method.name, method));
  ctx.extend.contribute(EdgeStreams, 'tcp', tcpStream(policy));
  ctx.services.provide(LocalPolicy, () => policy);
  ctx.services.provide(Specs, () => ({ of: (pluginId: string) => supervisor.specOf(pluginId) }));
  ctx.services.provide(Shipping, () => ({
    async ship(parcel) {
      await shipment.ship(parcel);
      supervisor.counted(parcel.from, parcel.items);
    },
  }));
  ctx.services.provide(Uplink, () => ({
    get online() {
      return link.session !== undefined;
    },
    get streams() {
      return link.session?.stats.streams ?? 0;
    },
    identity: () => credentials.current(),
    report: (event: string, payload: unknown) => shipment.report(event, payload),
  }));
  ctx.health.check('manager', () => ({
    ok: link.session !== undefined,
    ...(link.problem !== undefined && { detail: link.problem }),
  }));
  ctx.health.check('device', () => ({
    ok: host.problem === undefined,
    ...(host.problem !== undefined && { detail: host.problem }),
  }));
  ctx.health.check('policy', () => ({
    ok: policy.problem === undefined,
    ...(policy.problem !== undefined && { detail: policy.problem }),
  }));
  ctx.health.check('buffer', () => shipment.health());
}

function schedule({ scope }: PluginContext, parts: Parts): void {
  const { shipment, supervisor, policyReport, host, clocks, sweeper, link, later } = parts;
  scope.interval('timers of the tunnel', sweepMs, () => sweeper.tick());
  later('switch plugins', () => supervisor.reconcile());
  later('tunnel', () => link.run(scope.signal));
  shipment.start();
  scope.interval('ask plugins what they cannot do', answersMs, parts.askPlugins);
  scope.interval('look after plugins', lookMs, () => {
    supervisor.look();
    policyReport.refresh();
    link.refresh();
  });
  scope.interval('report the buffer', bufferMs, parts.reportBuffer);
  scope.interval('report the host', hostMs, () => host.refresh());
  scope.interval('compare the clocks', clockMs, () => clocks.look());
  // Until the manager knows the device, pushes would be stored without one; a blocked tunnel must
  // not hold them forever.
  scope.timeout('send even without a host report', introduceMs, () => shipment.release());
}

/** 0 ≤ x < 1, from the randomness of the host. */
const randomOf =
  ({ ids }: Pick<PluginContext, 'ids'>) =>
  (): number =>
    Buffer.from(ids.token(8), 'base64url').readUInt32BE(0) / 2 ** 32;
