import { type Clock, type Ids, type Logger, messageOf, type Scope } from 'svc/sdk';
import {
  belowManager,
  clientHandshake,
  closeCode,
  connect,
  dial,
  type DialOptions,
  type ClientHandshakeOptions,
  type IdempotencyJournal,
  isRefusal,
  reconnects,
  type SessionEnd,
  type Sweeper,
  type TunnelHandlers,
  type TunnelSession,
} from 'svc/tunnel';

import type { Credentials, CredentialStore } from './credentials.ts';
import type { DesiredState } from './desired-state.ts';
import { errors } from './errors.ts';
import type { Handlers } from './handlers.ts';
import type { Machine } from './machine.ts';
import { Pause } from './pause.ts';

export interface LinkParts {
  readonly credentials: CredentialStore;
  readonly machine: Machine;
  readonly desired: DesiredState;
  readonly handlers: Pick<Handlers, 'caps'> & TunnelHandlers;
  readonly journal: IdempotencyJournal;
  readonly sweeper: Sweeper;
  readonly scope: Scope;
  readonly ids: Ids;
  readonly clock: Clock;
  readonly random: () => number;
  readonly log: Logger;
  readonly version: string;
  readonly onUp: () => void;
}

/** Delay for announcing plugins that start together as one. */
const settleMs = 500;
const notEnrolledMs = 5_000;
const notEnrolled =
  'this machine is not enrolled: run "svc edge install --manager URL --token TOKEN"';
const probeMs = 20_000;
/** Time for a manager with several addresses to answer at one of them. */
const severalDialMs = 5_000;
/** Pings to such a manager, which is left for its next address after two without an answer. */
const severalPingMs = 4_000;
const severalMissed = 2;
/** Interval of pings to any other; with many edges, pings would cost more than the seconds are worth. */
const usualPingMs = 20_000;
/**
 * Time to wait for the tunnel, for whatever goes through it; a fleet that lost its manager must not
 * come back with one more connection per edge.
 */
const awaitedMs = 120_000;

/** The tunnel to the manager: dialled again whenever it ends, until the scope does. */
export class Link {
  readonly #parts: LinkParts;
  readonly #pause: Pause;
  #session: TunnelSession | undefined;
  #caps = '';
  #takesPushes = false;
  #spreadMs: unknown;
  #lostAt = -Infinity;
  /** Why there is no tunnel. */
  problem: string | undefined;

  constructor(parts: LinkParts) {
    this.#parts = parts;
    this.#pause = new Pause(parts.scope, 'next dial');
    this.problem = parts.credentials.current() ? 'not tried yet' : notEnrolled;
  }

  get session(): TunnelSession | undefined {
    return this.#session?.live === true ? this.#session : undefined;
  }

  /** The tunnel, when the manager takes pushes through it; `soon` while that one is away for a moment. Undefined: they go as requests. */
  get pushing(): TunnelSession | 'soon' | undefined {
    if (!this.#takesPushes) {
      return undefined;
    }
    return this.session ?? (this.#now() - this.#lostAt < awaitedMs ? 'soon' : undefined);
  }

  async run(signal: AbortSignal): Promise<void> {
    const { random, log, credentials } = this.#parts;
    const waitAfter = reconnects(random);
    this.follow();
    await this.#pause.wait(settleMs);
    while (!signal.aborted) {
      const known = credentials.current();
      if (!known) {
        this.problem = notEnrolled;
        await this.#pause.wait(notEnrolledMs);
        continue;
      }
      try {
        const session = await this.#open(known, signal);
        const end = await this.#serve(session, signal);
        log.warn(
          { event: 'uplink.tunnel_ended', code: end.code, reason: end.reason },
          'tunnel ended',
        );
        this.problem = `tunnel ended: ${end.reason}`;
        const others = this.#isOwn(end) ? undefined : credentials.addresses?.next(end.upMs);
        await this.#pause.wait(
          signal.aborted ? 0 : waitAfter({ ...end, spreadMs: this.#spreadMs, others }),
        );
      } catch (error) {
        this.problem = messageOf(error);
        const others = credentials.addresses?.next();
        const pause = waitAfter({ upMs: 0, error, others });
        log.warn(
          { event: 'uplink.connect_failed', cause: this.problem, retry_in_ms: Math.round(pause) },
          'failed to connect to the manager; retrying',
        );
        await this.#pause.wait(signal.aborted ? 0 : pause);
      }
    }
  }

  /** Proves a secret on a connection of its own. */
  async probe(credentials: Credentials, signal: AbortSignal): Promise<void> {
    const transport = await dial(this.#dialling(credentials, signal));
    try {
      await clientHandshake(transport, {
        ...this.#proving(credentials, 'probe'),
        timeoutMs: probeMs,
      });
    } finally {
      transport.close(closeCode.normal, 'proved');
    }
  }

  /** Takes the manager's addresses as the desired state has them. */
  follow(): void {
    const { credentials, desired, log } = this.#parts;
    for (const { url } of credentials.follow(desired.managers)) {
      log.warn(
        { event: 'uplink.address_refused', url },
        'the manager told an address that is less safe than the one of the enrolment: without TLS, or without a pin; it is not used',
      );
    }
    this.#hasten();
  }

  /** Reconnects, because this edge no longer serves what it announced. */
  refresh(): void {
    if (this.session && this.#parts.handlers.caps().join(' ') !== this.#caps) {
      this.#parts.log.info({}, 'capabilities changed; reconnecting to announce them');
      void this.#session!.close(closeCode.goingAway, 'capabilities changed');
    }
  }

  async #open(known: Credentials, signal: AbortSignal): Promise<TunnelSession> {
    const { credentials } = this.#parts;
    try {
      return await this.#connect(known, signal);
    } catch (error) {
      const staged = credentials.staged();
      if (!isRefusal(error) || !error.lasting || !staged) {
        throw error;
      }
      // A rotation was cut short after the manager had taken the new secret.
      const session = await this.#connect(staged, signal);
      credentials.take(staged);
      return session;
    }
  }

  async #connect(credentials: Credentials, signal: AbortSignal): Promise<TunnelSession> {
    const { handlers, journal, random, log } = this.#parts;
    this.#caps = handlers.caps().join(' ');
    const { session, welcome } = await connect({
      dial: this.#dialling(credentials, signal),
      handshake: this.#proving(credentials, 'serve'),
      session: { log, handlers, journal, random, label: 'manager' },
    });
    this.#takesPushes = welcome.body['takes_pushes'] === true;
    this.#spreadMs = welcome.body['spread_ms'];
    return session;
  }

  /** Finds out in seconds that the manager is gone, when there is another address to turn to. */
  #hasten(): void {
    if (this.#parts.credentials.addresses?.several === true) {
      const spread = typeof this.#spreadMs === 'number' ? this.#spreadMs : 0;
      const pingMs = Math.min(usualPingMs, Math.max(severalPingMs, spread));
      this.session?.pingEvery(pingMs, severalMissed);
    }
  }

  /** True for a tunnel that this edge closed to announce other capabilities. */
  #isOwn({ code }: SessionEnd): boolean {
    return code === closeCode.goingAway;
  }

  async #serve(session: TunnelSession, signal: AbortSignal) {
    const leave = (): void => void session.close(closeCode.goingAway, 'the edge stops');
    this.#session = session;
    this.problem = undefined;
    this.#hasten();
    signal.addEventListener('abort', leave, { once: true });
    if (signal.aborted) {
      leave();
    }
    this.#parts.log.info({}, 'connected to the manager');
    this.#parts.onUp();
    try {
      return await session.closed;
    } finally {
      signal.removeEventListener('abort', leave);
      this.#session = undefined;
      this.#lostAt = this.#now();
    }
  }

  #now(): number {
    return this.#parts.sweeper.clock.monotonic();
  }

  #dialling(
    { manager, tunnel_path, pin, ca, proxy }: Credentials,
    signal: AbortSignal,
  ): DialOptions {
    const several = this.#parts.credentials.addresses?.several === true;
    return {
      url: belowManager(manager, tunnel_path).href,
      pin,
      ca,
      proxy,
      signal,
      ...(several && { timeoutMs: severalDialMs }),
    };
  }

  #proving(
    { access_key, secret_key }: Credentials,
    purpose: 'serve' | 'probe',
  ): ClientHandshakeOptions {
    const { sweeper, ids, machine, version, desired } = this.#parts;
    return {
      sweeper,
      ids,
      accessKey: access_key,
      secretKey: secret_key,
      hello: {
        agent_id: machine.uuid,
        boot_id: machine.bootId,
        agent_version: version,
        caps: this.#caps.split(' '),
        purpose,
      },
      machineKey: machine.key,
      state: () => ({
        now: this.#parts.clock.now(),
        ...(desired.hash !== undefined && { config_hash: desired.hash }),
        ...(machine.keyReplaced && { machine_key_damaged: true }),
      }),
    };
  }
}

/** The secret of a mutating call, checked. */
export function newSecret(params: unknown): string {
  const { secret_key: secret } = (params ?? {}) as { secret_key?: unknown };
  if (typeof secret !== 'string' || !/^svc_sk_[\w-]{43}$/.test(secret)) {
    throw errors.no_secret_key();
  }
  return secret;
}
