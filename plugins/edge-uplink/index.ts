import { setMaxListeners } from 'node:events';
import { join, resolve } from 'node:path';

import { BuildInfo, definePlugin, messageOf, type PluginContext, Plugins } from 'svc/sdk';
import { openFileJournal, openSweeper } from 'svc/tunnel';

import { EdgeMethods, EdgeStreams, LocalPolicy, Shipping, Specs, Uplink } from './contract.ts';
import { openCredentials } from './credentials.ts';
import { openDesired } from './desired.ts';
import { edgePlugins } from './edge-plugins.ts';
import { createHandlers } from './handlers.ts';
import { hostInfo } from './host-info.ts';
import { Link } from './link.ts';
import { openMachine } from './machine.ts';
import { ownMethods } from './own-methods.ts';
import { openPolicy } from './policy.ts';
import { Shipment } from './shipment.ts';
import { Supervisor } from './supervisor.ts';
import { tcpStream } from './tcp-stream.ts';

const sweepMs = 200;
const lookMs = 1_000;
const bufferMs = 60_000;
const hostMs = 60_000;
const introduceMs = 15_000;

export default definePlugin({
  async activate(ctx) {
    // Each courier and each pause listens for the end.
    setMaxListeners(64, ctx.scope.signal);
    const dataDir = resolve(ctx.dataDir, '../..');
    const plugins = ctx.services.use(Plugins);
    const build = ctx.services.use(BuildInfo);
    const policy = openPolicy(dataDir, ctx.log);
    const credentials = openCredentials(dataDir);
    const machine = openMachine(dataDir, ctx.ids, ctx.log);
    const desired = openDesired(ctx.dataDir, ctx.log);
    const random = randomOf(ctx);
    const shipment = await Shipment.open(ctx, credentials, random);
    const known = edgePlugins(plugins, ctx.clock, ctx.log);
    const later = (label: string, work: () => Promise<void>): void => void ctx.scope.task(label, work);
    const supervisor = new Supervisor({
      ...{ plugins, known, desired, policy, later, clock: ctx.clock, log: ctx.log },
      onHealth: (news) => void link.session?.emit('plugin_health', news),
    });

    const methods = ctx.extend.open(EdgeMethods);
    const streams = ctx.extend.open(EdgeStreams);
    ownMethods({ desired, supervisor, credentials, link: () => link, later }).forEach((method) => ctx.extend.contribute(EdgeMethods, method.name, method));
    ctx.extend.contribute(EdgeStreams, 'tcp', tcpStream(policy));

    const sweeper = openSweeper(ctx.clock, (error) => ctx.log.error({ error }, 'a deadline of the tunnel failed'));
    const journal = await openFileJournal({
      file: join(ctx.dataDir, 'journal.jsonl'),
      clock: ctx.clock,
      onTrouble: (error) => ctx.log.error({ error }, 'the journal of commands cannot be written'),
    });
    ctx.scope.defer('journal', () => journal.close());
    let told: string | undefined;
    const describe = () => ({ ...hostInfo(), ...(machine.fingerprint !== undefined && { fingerprint: machine.fingerprint }) });
    const tellHost = async (): Promise<void> => {
      const info = describe();
      try {
        await link.session?.call('tell', { event: 'host_info', payload: info }, { timeoutMs: introduceMs });
        told = JSON.stringify(info);
        shipment.release();
      } catch (error) {
        told = undefined;
        ctx.log.warn({ cause: messageOf(error) }, 'the manager has not taken what this machine is; it is told again');
      }
    };
    const tellBuffer = (): void => void link.session?.emit('buffer', shipment.status);
    const link: Link = new Link({
      ...{ credentials, machine, desired, journal, sweeper, random },
      ...{ scope: ctx.scope, ids: ctx.ids, log: ctx.log, version: build.version },
      handlers: createHandlers(methods, streams, policy),
      onUp() {
        told = undefined;
        later('introduce this machine', tellHost);
        tellBuffer();
        supervisor.tellAll();
        shipment.nudge();
      },
    });
    shipment.speakThrough(link);

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
      tell: (event: string, payload: unknown) => shipment.tell(event, payload),
    }));
    ctx.health.check('manager', () => ({ ok: link.session !== undefined, ...(link.problem !== undefined && { detail: link.problem }) }));
    ctx.health.check('buffer', () => shipment.report());

    return {
      start(): void {
        ctx.scope.interval('deadlines of the tunnel', sweepMs, () => sweeper.tick());
        later('switch plugins', () => supervisor.reconcile());
        later('tunnel', () => link.run(ctx.scope.signal));
        shipment.start();
        ctx.scope.interval('look after plugins', lookMs, () => {
          supervisor.look();
          link.refresh();
        });
        ctx.scope.interval('tell of the buffer', bufferMs, tellBuffer);
        ctx.scope.interval('look at the host', hostMs, () => (JSON.stringify(describe()) === told ? undefined : tellHost()));
        // Before the manager knows the device, what it takes would be filed without one; a tunnel that is blocked must not hold it for ever.
        ctx.scope.timeout('send also without an introduction', introduceMs, () => shipment.release());
      },
    };
  },

  start: (_ctx, uplink) => uplink.start(),
});

/** 0 ≤ x < 1, from the randomness of the house. */
const randomOf =
  ({ ids }: Pick<PluginContext, 'ids'>) =>
  (): number =>
    Buffer.from(ids.token(8), 'base64url').readUInt32BE(0) / 2 ** 32;
