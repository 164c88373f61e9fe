import { setMaxListeners } from 'node:events';

import { type Logger, messageOf } from 'svc/sdk';
import { openSweeper, sweepMs, type TunnelSession } from 'svc/tunnel';
import { answers, type Asked, memoryJournal } from './answers.ts';
import { DataPlane } from './data-plane.ts';
import { SimulatedEdge } from './edge.ts';
import { TokenRefused } from './enrol.ts';
import { KeyFile } from './keys.ts';
import type { SimOptions } from './options.ts';
import type { Shared } from './shared.ts';
import { type Figures, Tally } from './tally.ts';

const enrolAtOnce = 64;
const leaveMs = 5_000;

export interface SimulatedFleet {
  figures(): Figures;
  /** Every host has left, or nobody takes any of them in; `refusal` says why. */
  readonly ended: Promise<{ readonly refusal: string | undefined }>;
  stop(): void;
}

/** The program that the hosts run in. */
export type Simulator = Pick<Shared, 'version' | 'clock' | 'ids'>;

/** Starts `count` simulated hosts, spread over the ramp; `dataDir` keeps their keys. */
export function startFleet(
  options: SimOptions,
  dataDir: string,
  { version, clock, ids }: Simulator,
): SimulatedFleet {
  const over = new AbortController();
  // As many hosts dial and push at once.
  setMaxListeners(0, over.signal);
  /** Waiters, in a set: thousands of listeners on one signal would be searched linearly. */
  const waiting = new Set<() => void>();
  const tally = new Tally();
  const sweeper = openSweeper(clock, (error) => (tally.problem = messageOf(error)));
  const timer = setInterval(() => sweeper.tick(), sweepMs);
  const plane = new DataPlane();
  const sessions = new Map<TunnelSession, Asked>();
  let refusal: string | undefined;

  const shared: Shared = {
    options,
    tally,
    plane,
    sweeper,
    sessions,
    version,
    clock,
    ids,
    log: logInto(tally),
    keys: new KeyFile(dataDir, options.seed, options.manager),
    journal: memoryJournal(),
    signal: over.signal,
    handlers: { methods: answers((session) => sessions.get(session)) },
    enrolling: atMost(enrolAtOnce),
    addressOf: addresses(options.manager),
    pause: (ms, signal) =>
      over.signal.aborted ? Promise.resolve() : pause(ms, sweeper, waiting, signal),
    demandToken() {
      if (refusal !== undefined || options.token === undefined) {
        refusal ??= 'hosts without keys need an enrolment token: pass --token';
        throw new TokenRefused(refusal);
      }
    },
    refuseToken: (reason) => void (refusal ??= reason),
  };

  const edges: SimulatedEdge[] = [];
  const lives = Promise.all(
    Array.from({ length: options.count }, async (_, index) => {
      await shared.pause((index / options.count) * options.ramp * 1_000);
      if (!over.signal.aborted) {
        const edge = new SimulatedEdge(shared, index + 1);
        edges.push(edge);
        await edge.run();
      }
    }),
  );

  return {
    figures: () => tally.figures(options.count),
    ended: lives.then(() => {
      clearInterval(timer);
      plane.close();
      return { refusal };
    }),
    stop() {
      over.abort();
      waiting.forEach((end) => end());
      edges.forEach((edge) => edge.leave());
      // A manager that hangs does not answer to a good-bye; its sockets end with the process.
      setTimeout(() => plane.close(), leaveMs).unref();
    },
  };
}

/**
 * A fleet has as many addresses as machines, and managers count by address. On loopback Linux lends any of 127.0.0.0/8; elsewhere
 * all come from one address, and the manager's limits for one address hold.
 */
function addresses(manager: URL): Shared['addressOf'] {
  const own = process.platform === 'linux' && ['127.0.0.1', 'localhost'].includes(manager.hostname);
  return (number) =>
    own ? `127.${64 + ((number >> 16) & 63)}.${(number >> 8) & 255}.${number & 255}` : undefined;
}

function pause(
  ms: number,
  sweeper: Shared['sweeper'],
  waiting: Set<() => void>,
  signal?: AbortSignal,
): Promise<void> {
  return new Promise((resolve) => {
    const end = (): void => {
      cancel();
      waiting.delete(end);
      signal?.removeEventListener('abort', end);
      resolve();
    };
    const cancel = sweeper.after(ms, end);
    waiting.add(end);
    signal?.addEventListener('abort', end);
  });
}

function atMost(lanes: number): Shared['enrolling'] {
  const waiting: (() => void)[] = [];
  let busy = 0;
  return {
    async run(work) {
      if (busy >= lanes) {
        await new Promise<void>((turn) => waiting.push(turn));
      } else {
        busy += 1;
      }
      try {
        return await work();
      } finally {
        const next = waiting.shift();
        if (next) {
          next();
        } else {
          busy -= 1;
        }
      }
    },
  };
}

/** Ten thousand hosts say the same things: the last one is shown. */
function logInto(tally: Tally): Logger {
  const note = (fields: unknown, message: string): void => {
    const { cause } = (fields ?? {}) as { cause?: unknown };
    tally.problem = cause === undefined ? message : `${message}: ${messageOf(cause)}`;
  };
  const silent = (): void => undefined;
  return { debug: silent, info: silent, warn: note, error: note };
}
