import type { Making } from './fault.ts';
import { busyHost, hostFault, made, pickCall, picked } from './targets.ts';
import { between, isQueue, shuffled } from './world.ts';

/** Faults of what services stand on: machines, disks, networks, names, stores. */
export const groundFaults: Readonly<Record<string, Making>> = {
  'cpu hog': (random, world) => {
    const host = busyHost(random, world);
    const share = between(random, 0.9, 1.2);
    return host === undefined
      ? undefined
      : {
          ...hostFault('cpu hog', /cpu|processor|load/i, host),
          press: ({ hosts }, strength) => void (hosts[host]!.cpu += share * strength),
        };
  },
  'full disk': (random, world) => {
    const target = picked(
      random,
      world.components,
      ({ role, engine }) => role === 'store' && engine !== 'redis' && !isQueue(engine),
      world,
    );
    const host = target?.instances[0]?.host;
    const share = between(random, 0.35, 0.9);
    return target && host !== undefined
      ? {
          ...made(
            'full disk',
            /disk|filesystem|file system|space|storage/i,
            target,
            () => undefined,
            [
              {
                component: target.id,
                error: 'could not extend file: No space left on device',
                exception: 'DiskFullError',
              },
            ],
          ),
          hosts: [host],
          press({ components, hosts }, strength, since) {
            hosts[host]!.disk = since < 0 ? 0 : 1;
            components[target.id]!.fail += share * strength;
          },
        }
      : undefined;
  },
  'slow disk': (random, world) => {
    const target = picked(
      random,
      world.components,
      ({ role, engine }) => role === 'store' && engine !== 'redis' && !isQueue(engine),
      world,
    );
    const host = target?.instances[0]?.host;
    const slow = between(random, 10, 40);
    return target && host !== undefined
      ? {
          ...made('slow disk', /disk|io|i\/o|write|storage|fsync/i, target, () => undefined, []),
          hosts: [host],
          press: ({ hosts }, strength) => (hosts[host]!.diskSlow *= 1 + slow * strength),
        }
      : undefined;
  },
  'database lock': (random, world) => {
    const target = picked(
      random,
      world.components,
      ({ engine }) => engine === 'postgres' || engine === 'mysql',
      world,
    );
    const slow = between(random, 20, 80);
    return (
      target &&
      made(
        'database lock',
        /lock|wait|block|transaction/i,
        target,
        (mine, strength) => {
          mine.locks += 18 * strength;
          mine.slow *= 1 + slow * strength;
        },
        [
          {
            component: target.id,
            error: 'process 4711 still waiting for ShareLock on transaction 881 after 1000.1 ms',
            exception: 'LockTimeout',
          },
        ],
      )
    );
  },
  'packet loss': (random, world) => {
    const at = pickCall(random, world);
    if (at === undefined) {
      return undefined;
    }
    const call = world.calls[at]!;
    const host = world.components[call.to]!.instances[0]?.host;
    const loss = between(random, 0.15, 0.45);
    return {
      ...made(
        'packet loss',
        /network|packet|loss|retrans|timeout|connection|drop/i,
        world.components[call.to]!,
        () => undefined,
        [],
      ),
      components: [call.to, call.from],
      hosts: [
        ...new Set(
          [call.from, call.to].flatMap((id) =>
            world.components[id]!.instances.map((one) => one.host),
          ),
        ),
      ],
      press({ calls, hosts }, strength) {
        calls[at]!.loss += loss * strength;
        calls[at]!.late += 0.6 * strength;
        if (host !== undefined) {
          hosts[host]!.retransmits += 60 * strength;
        }
      },
    };
  },
  'noisy neighbour': (random, world) => {
    const batch = world.components.find(({ role }) => role === 'batch')!;
    const host = batch.instances[0]!.host;
    const hit = world.components.filter(
      ({ role, instances }) => role === 'service' && instances.some((one) => one.host === host),
    );
    return hit.length === 0
      ? undefined
      : {
          ...hostFault('noisy neighbour', /cpu|throttl|neighbo|processor|load/i, host),
          components: [batch.id],
          press({ components, hosts }, strength) {
            components[batch.id]!.cpu *= 1 + 60 * strength;
            hosts[host]!.cpu += 0.95 * strength;
            hit.forEach(({ id }) => (components[id]!.throttle = 0.7 * strength));
          },
        };
  },
  'dns failure': (random, world) => {
    const resolver = world.components.find(({ role }) => role === 'resolver');
    const callers = shuffled(random, [
      ...new Set(world.calls.filter(({ isAsync }) => !isAsync).map(({ from }) => from)),
    ]);
    const share = between(random, 0.3, 0.8);
    return (
      resolver && {
        ...made(
          'dns failure',
          /dns|name|resolv|lookup|servfail/i,
          resolver,
          (mine, strength) => (mine.fail += share * strength),
          [
            ...callers.map((component) => ({
              component,
              error:
                'dial tcp: lookup upstream.svc.cluster.local on 10.96.0.10:53: server misbehaving',
              exception: 'java.net.UnknownHostException',
            })),
          ],
        ),
        press({ components, calls }, strength) {
          components[resolver.id]!.fail += share * strength;
          calls.forEach((call, at) => {
            if (!world.calls[at]!.isAsync) {
              call.loss += 0.4 * share * strength;
            }
          });
        },
      }
    );
  },
  'cache stampede': (random, world) => {
    const target = picked(random, world.components, ({ engine }) => engine === 'redis', world);
    return (
      target && {
        ...made('cache stampede', /cache|miss|hit|evict|redis|keys/i, target, () => undefined, []),
        press({ components }, strength, since) {
          const mine = components[target.id]!;
          mine.misses = strength;
          mine.restart = since === 0;
        },
      }
    );
  },
};
