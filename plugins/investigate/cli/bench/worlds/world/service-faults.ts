import { pick } from 'svc/seeded';

import type { Making } from './fault.ts';
import { made, picked } from './targets.ts';
import { between, isQueue } from './world.ts';

/** Faults that lie in a service itself: its code, its process, its settings. */
export const serviceFaults: Readonly<Record<string, Making>> = {
  'slow dependency': (random, world) => {
    const target = picked(
      random,
      world.components,
      ({ role, engine }) =>
        role === 'external' || role === 'service' || (role === 'store' && !isQueue(engine)),
      world,
    );
    const slow = between(random, 8, 40);
    return (
      target &&
      made(
        'slow dependency',
        /slow|latency|duration|p9|respon/i,
        target,
        (mine, strength) => (mine.slow *= 1 + slow * strength),
        [],
      )
    );
  },
  'killed process': (random, world) => {
    const target = picked(
      random,
      world.components,
      ({ role, engine }) => role === 'service' || (role === 'store' && !isQueue(engine)),
      world,
    );
    return (
      target && {
        ...made(
          'killed process',
          /down|absent|silent|refused|stopped|not answer|up|gone|restart|unreach/i,
          target,
          (mine, strength) => {
            mine.refuse = strength;
            mine.gone = true;
          },
          [],
        ),
      }
    );
  },
  'memory leak': (random, world) => {
    const target = picked(random, world.components, ({ role }) => role === 'service', world);
    if (target === undefined) {
      return undefined;
    }
    const period = 40;
    return {
      ...made('memory leak', /memory|oom|heap|restart|gc/i, target, () => undefined, [
        { component: target.id, error: 'Java heap space', exception: 'java.lang.OutOfMemoryError' },
      ]),
      ramp: 'slow',
      press({ components }, strength, since) {
        const mine = components[target.id]!;
        const full = Math.min(
          1.05,
          strength * 1.6 - (strength > 0.7 ? ((since % period) / period) * 0.02 : 0),
        );
        mine.memory += Math.max(0, target.memoryLimit - target.memory) * Math.min(1, full);
        if (full > 0.85) {
          mine.slow *= 1 + 12 * (full - 0.85) * 5;
          mine.cpu *= 1.8;
          mine.restart = full >= 1 && since % 12 === 0;
          mine.fail += mine.restart ? 0.6 : full >= 1 ? 0.15 : 0;
        }
      },
    };
  },
  'exhausted pool': (random, world) => {
    const using = new Set(
      world.calls
        .filter(({ to }) => ['postgres', 'mysql'].includes(world.components[to]!.engine ?? ''))
        .map(({ from }) => from),
    );
    const target = picked(random, world.components, ({ id }) => using.has(id), world);
    return (
      target &&
      made(
        'exhausted pool',
        /pool|connection/i,
        target,
        (mine, strength) => {
          mine.held = strength;
          mine.slow *= 1 + 30 * strength;
          mine.fail += 0.35 * strength;
        },
        [
          {
            component: target.id,
            error: 'Connection is not available, request timed out after 30000ms',
            exception: 'java.sql.SQLTransientConnectionException',
          },
        ],
      )
    );
  },
  'bad deploy': (random, world) => {
    const target = picked(random, world.components, ({ role }) => role === 'service', world);
    const share = between(random, 0.2, 0.8);
    const next = `${target?.version ?? ''}-rc${Math.ceil(random() * 9)}`;
    return (
      target && {
        ...made(
          'bad deploy',
          /deploy|version|release|rollout|error|exception|change/i,
          target,
          (mine, strength) => (mine.fail += share * strength),
          [
            {
              component: target.id,
              error: "Cannot read properties of undefined (reading 'amount')",
              exception: 'java.lang.NullPointerException',
            },
          ],
        ),
        change: {
          component: target.id,
          kind: 'deploy',
          summary: `${target.name} ${next} was rolled out`,
        },
      }
    );
  },
  'expired certificate': (random, world) => {
    const target = picked(random, world.components, ({ role }) => role === 'service', world, true);
    return (
      target && {
        ...made(
          'expired certificate',
          /certificate|cert|tls|x509|ssl|expir|handshake/i,
          target,
          (mine, strength) => (mine.refuse = strength),
          [],
        ),
        certificate: target.id,
      }
    );
  },
  'config change': (random, world) => {
    const callers = new Set(world.calls.filter(({ isAsync }) => !isAsync).map(({ from }) => from));
    const target = picked(
      random,
      world.components,
      ({ id, role }) => role === 'service' && callers.has(id),
      world,
    );
    const share = between(random, 0.4, 1);
    return (
      target && {
        ...made(
          'config change',
          /config|change|setting|error|exception/i,
          target,
          (mine, strength) => (mine.fail += share * strength),
          [
            {
              component: target.id,
              error: 'getaddrinfo failed for upstream "inventroy.internal"',
              exception: 'ConfigurationError',
            },
          ],
        ),
        change: {
          component: target.id,
          kind: 'config',
          summary: `configuration of ${target.name} changed: upstream.url`,
        },
      }
    );
  },
  'queue backlog': (random, world) => {
    const consumers = world.calls.filter(
      ({ isAsync }, at, all) =>
        isAsync && all.findIndex((other) => other.to === all[at]!.to) !== at,
    );
    if (consumers.length === 0) {
      return undefined;
    }
    const target = world.components[pick(random, consumers).from]!;
    return made(
      'queue backlog',
      /queue|lag|backlog|consum|message/i,
      target,
      (mine, strength) => (mine.consumes = 1 - 0.97 * strength),
      [
        {
          component: target.id,
          error: 'consumer poll timeout has expired; leaving the group',
          exception: 'org.apache.kafka.clients.consumer.CommitFailedException',
        },
      ],
    );
  },
};
