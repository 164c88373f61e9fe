import { setMaxListeners } from 'node:events';

import { isSvcError, messageOf } from 'svc/sdk';

import type { Facts, Order, Place, Reading } from './model/check.ts';
import type { CheckKind } from './model/kinds.ts';
import { judge } from './conditions/judge.ts';
import type { Means } from './wire/conversation.ts';
import { UntrustedError } from './wire/dial.ts';
import type { Browser } from './browser/chromium.ts';
import { PlaceFault } from './browser/place-fault.ts';
import { probeBrowser } from './probes/browser.ts';
import { probeCommand } from './probes/command.ts';
import { probeDns } from './probes/dns.ts';
import { probeDomain } from './probes/domain.ts';
import { failureOf } from './probes/failure.ts';
import { probeGrpc } from './conversations/grpc.ts';
import { probeHttp } from './probes/http.ts';
import { probeMqtt } from './conversations/mqtt.ts';
import { probeMysql } from './conversations/mysql.ts';
import { probePing } from './probes/ping.ts';
import { probePostgres } from './conversations/postgres.ts';
import { probeRedis } from './conversations/redis.ts';
import { probeSmtp } from './conversations/smtp.ts';
import { Stopwatch } from './wire/stopwatch.ts';
import { probeTcp } from './probes/tcp.ts';
import { probeTls } from './probes/tls.ts';
import { probeWebsocket } from './conversations/websocket.ts';

type Probe = (means: Means) => Promise<Partial<Facts>>;

const probes: Readonly<Record<CheckKind, Probe>> = {
  http: probeHttp,
  tcp: probeTcp,
  tls: probeTls,
  dns: probeDns,
  domain: probeDomain,
  ping: probePing,
  smtp: probeSmtp,
  postgres: probePostgres,
  mysql: probeMysql,
  redis: probeRedis,
  mqtt: probeMqtt,
  grpc: probeGrpc,
  websocket: probeWebsocket,
  command: probeCommand,
  browser: probeBrowser,
};

/**
 * Probes a target once. That it does not answer is a reading; it throws when `signal` ends it, and
 * when the place may not talk to the target, which says nothing about the target.
 */
export async function probe(
  order: Order,
  place: Place,
  signal: AbortSignal,
  browser?: Browser,
): Promise<Reading> {
  const timeout = AbortSignal.timeout(order.timeout_ms);
  const end = new AbortController();
  // By hand: AbortSignal.any keeps what hangs on a signal that lives long alive on Node 20.
  const stop = (): void => end.abort();
  const signals = [signal, timeout];
  setMaxListeners(0, signal);
  signals.forEach((one) => one.addEventListener('abort', stop, { once: true }));
  void (signal.aborted && stop());
  const watch = new Stopwatch(place);
  const facts = await probes[order.kind]({
    order,
    place: { ...place, reach: refusing(place), command: running(place) },
    watch,
    signal: end.signal,
    browser,
  })
    .then((found): Facts => ({
      connected: true,
      error: null,
      took_ms: watch.tookMs,
      phases: watch.phases,
      ...found,
    }))
    .catch((error: unknown): Facts => {
      signal.throwIfAborted();
      if (error instanceof RefusedError) {
        throw error.cause;
      }
      if (error instanceof PlaceFault) {
        throw error;
      }
      return {
        connected: false,
        error: failureOf(error, timeout, order.timeout_ms),
        took_ms: watch.tookMs,
        phases: watch.phases,
        ...(error instanceof UntrustedError && { certificate: error.certificate }),
      };
    })
    .finally(() => signals.forEach((one) => one.removeEventListener('abort', stop)));
  return judge(order, facts, place.now());
}

/** Failure of a place, not of the target. */
class RefusedError extends Error {}

/** Tells a refusal by the place from a name that cannot be resolved. */
const refusing =
  ({ reach }: Place): Place['reach'] =>
  async (...asked) => {
    try {
      return await reach(...asked);
    } catch (error) {
      const isRefusal =
        isSvcError(error) && (error.code === 'forbidden' || error.code === 'invalid_argument');
      throw isRefusal ? new RefusedError(error.message, { cause: error }) : error;
    }
  };

/** A command that cannot say how its target is says nothing about the target, unless it takes too long. */
const running = ({ command }: Place): Place['command'] =>
  command &&
  (async (name, signal) => {
    try {
      return await command(name, signal);
    } catch (error) {
      throw signal.aborted ? error : new RefusedError(messageOf(error), { cause: error });
    }
  });
