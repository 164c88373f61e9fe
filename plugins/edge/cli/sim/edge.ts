import { isSvcError, messageOf } from 'svc/sdk';
import {
  Addresses,
  belowManager,
  clientHandshake,
  closeCode,
  dial,
  type InboundCall,
  isRefusal,
  type ManagerAddress,
  type MessageTransport,
  openSession,
  reconnects,
  type SessionEnd,
  type TunnelSession,
  type Welcome,
} from 'svc/tunnel';
import { type Asked, healthOf } from './answers.ts';
import { Deliveries } from './deliveries.ts';
import { enrolPatiently, TokenRefused } from './enrol.ts';
import { type SimulatedHost, hostOf, machineKey } from './host.ts';
import type { HostKeys } from './keys.ts';
import { type Random, seeded } from 'svc/seeded';
import type { Shared } from './shared.ts';
import { type Parcel, Telemetry } from './telemetry.ts';

const healthMs = 60_000;
const severalDialMs = 5_000;
const slowMs = { least: 2_000, most: 12_000 };
const caps = [
  'call:config_apply',
  'call:host_snapshot',
  'call:plugin_status',
  'call:process_history',
  'call:processes',
  'call:rotate_secret',
];
const kinds: Readonly<Record<string, string>> = { logs: 'logs', traces: 'traces' };

/** One simulated host: enrols, comes, serves, pushes, falls, and comes again. */
export class SimulatedEdge implements Asked {
  readonly host: SimulatedHost;
  readonly #shared: Shared;
  readonly #random: Random;
  readonly #telemetry: Telemetry;
  readonly #startedAt: number;
  #transport: MessageTransport | undefined;
  #session: TunnelSession | undefined;
  #authorization = '';
  #takesPushes = false;
  #spreadMs: unknown;
  readonly #deliveries: Deliveries;
  #configHash: string | undefined;
  #plugins: ReadonlyMap<string, boolean> = new Map([['hostmetrics', true]]);
  readonly #addresses: Addresses;
  #samples = 0;
  #toldHealthAt = 0;
  /** Unreported time before it connected, in milliseconds. */
  #untold: number;

  constructor(shared: Shared, number: number) {
    this.#shared = shared;
    this.#deliveries = new Deliveries(shared);
    this.#addresses = new Addresses({ url: shared.options.manager.href });
    this.host = hostOf(shared.options.seed, number);
    this.#random = seeded('life', shared.options.seed, number);
    this.#startedAt = shared.clock.now();
    this.#untold = shared.options.pastMs ?? 0;
    this.#telemetry = new Telemetry(this.host, this.#random, shared.options, this.#startedAt);
  }

  /** Runs until the fleet ends, or the manager refuses it. */
  async run(): Promise<void> {
    const { signal, pause, tally } = this.#shared;
    const waitAfter = reconnects(this.#random);
    while (!signal.aborted) {
      let wait: number;
      try {
        const keys = await this.#keys();
        const end = await this.#serve(keys);
        const others = this.#addresses.next(end.upMs);
        wait = waitAfter({ ...end, spreadMs: this.#spreadMs, others });
      } catch (error) {
        if (signal.aborted || error instanceof TokenRefused) {
          return;
        }
        tally.refused += 1;
        tally.problem = messageOf(error);
        this.#forgetDeadKeys(error);
        wait =
          isSvcError(error) && error.retryAfterSeconds !== undefined
            ? error.retryAfterSeconds * 1_000 * (1 + this.#random())
            : waitAfter({ upMs: 0, error, others: this.#addresses.next() });
      }
      await pause(wait);
    }
  }

  snapshot(): object {
    return this.#telemetry.vitals.snapshot(this.#shared.clock.now());
  }

  processes(top: number, sortBy: 'cpu' | 'mem'): object {
    return this.#telemetry.vitals.processes(this.#shared.clock.now(), top, sortBy);
  }

  processHistory(from: number, to: number): object {
    return this.#telemetry.vitals.processHistory(this.#shared.clock.now(), from, to);
  }

  plugins(): readonly object[] {
    const now = this.#shared.clock.now();
    return [...this.#plugins].map(([name, enabled]) => ({
      name,
      kind: kinds[name] ?? 'metrics',
      enabled,
      health: this.#health(name, now),
    }));
  }

  configure(
    hash: string,
    plugins: Readonly<Record<string, { readonly enabled: boolean }>>,
    managers: readonly ManagerAddress[],
  ): void {
    this.#configHash = hash;
    this.#addresses.tell(managers);
    this.#hasten();
    this.#plugins = new Map(Object.entries(plugins).map(([name, { enabled }]) => [name, enabled]));
    this.#toldHealthAt = 0;
    this.#tellHealth();
  }

  async rotate(secretKey: string): Promise<void> {
    const { keys } = this.#shared;
    const known = keys.get(this.host.number)!;
    const changed = { ...known, secret_key: secretKey };
    const { transport } = await this.#prove(changed, 'probe');
    transport.close(closeCode.normal, 'proved');
    keys.put(changed);
    this.#show(changed);
  }

  async linger(call: Pick<InboundCall, 'signal'>): Promise<void> {
    if (this.#fault()) {
      await this.#shared.pause(
        slowMs.least + this.#random() * (slowMs.most - slowMs.least),
        call.signal,
      );
    }
  }

  served(): void {
    this.#shared.tally.calls += 1;
  }

  leave(): void {
    void this.#session?.close(closeCode.goingAway, 'the edge is stopping');
  }

  async #keys(): Promise<HostKeys> {
    const known = this.#shared.keys.get(this.host.number);
    if (known) {
      return known;
    }
    return await this.#shared.enrolling.run(() =>
      enrolPatiently(this.#shared, this.host, this.#random),
    );
  }

  /** Drops keys that a reinstalled manager does not know; with a token the host enrols again. */
  #forgetDeadKeys(error: unknown): void {
    const dead =
      isRefusal(error) &&
      (error.closeCode === closeCode.unauthorized || error.closeCode === closeCode.revoked);
    if (dead && this.#shared.options.token !== undefined) {
      this.#shared.keys.forget(this.host.number);
    }
  }

  async #prove(
    keys: HostKeys,
    purpose: 'serve' | 'probe',
  ): Promise<{ transport: MessageTransport; welcome: Welcome }> {
    const { options, signal, sweeper, ids, addressOf } = this.#shared;
    const transport = await dial({
      url: belowManager(this.#addresses.current.url, keys.tunnel_path).href,
      signal,
      localAddress: addressOf(this.host.number),
      timeoutMs: this.#addresses.several ? severalDialMs : 30_000,
    });
    const welcome = await clientHandshake(transport, {
      sweeper,
      ids,
      accessKey: keys.access_key,
      secretKey: keys.secret_key,
      machineKey: machineKey(options.seed, this.host.number),
      hello: {
        agent_id: this.host.uuid,
        boot_id: this.host.bootId,
        agent_version: this.#shared.version,
        caps,
        purpose,
      },
      state: () => (this.#configHash === undefined ? {} : { config_hash: this.#configHash }),
    });
    return { transport, welcome };
  }

  async #serve(keys: HostKeys): Promise<SessionEnd> {
    const { tally, sweeper, log, handlers, journal, sessions, clock, signal } = this.#shared;
    const begun = clock.monotonic();
    const { transport, welcome } = await this.#prove(keys, 'serve');
    this.#takesPushes = welcome.body['takes_pushes'] === true;
    this.#spreadMs = welcome.body['spread_ms'];
    const session = openSession(transport, {
      side: 'edge',
      sweeper,
      log,
      handlers,
      journal,
      random: this.#random,
      label: 'manager',
    });
    tally.connectTimes.add(clock.monotonic() - begun);
    tally.connects += 1;
    tally.connected += 1;
    this.#transport = transport;
    this.#session = session;
    this.#hasten();
    this.#show(keys);
    sessions.set(session, this);
    let cancel = (): void => undefined;
    const introduced = this.#introduce(session).then(async () => {
      await this.#tellPast();
      cancel = this.#beat(session, this.#random() * this.#shared.options.intervalMs);
    });
    introduced.catch((error: unknown) => (tally.problem = messageOf(error)));
    if (signal.aborted) {
      this.leave();
    }
    const end = await session.closed;
    cancel();
    sessions.delete(session);
    this.#session = undefined;
    this.#transport = undefined;
    tally.connected -= 1;
    tally.lost += signal.aborted ? 0 : 1;
    return end;
  }

  /** Pings as agents do that know several addresses. */
  #hasten(): void {
    if (this.#addresses.several) {
      const spread = typeof this.#spreadMs === 'number' ? this.#spreadMs : 0;
      this.#session?.pingEvery(Math.min(20_000, Math.max(4_000, spread)), 2);
    }
  }

  #show({ access_key: access, secret_key: secret }: HostKeys): void {
    this.#authorization = `Basic ${Buffer.from(`${access}:${secret}`).toString('base64')}`;
  }

  /**
   * Introduces the host, as agents do before their first push, which would otherwise belong to no
   * device.
   */
  async #introduce(session: TunnelSession): Promise<void> {
    await session.call(
      'tell',
      { event: 'host_info', payload: this.host.info },
      { timeoutMs: 30_000 },
    );
    session.emit('buffer', { dropped: 0, queued_bytes: 0, oldest_at: null });
    this.#toldHealthAt = 0;
    this.#tellHealth();
  }

  /** Sends, once, the data of the time before it connected. */
  async #tellPast(): Promise<void> {
    const untold = this.#untold;
    this.#untold = 0;
    for (const parcel of this.#telemetry.past(this.#startedAt - untold, this.#startedAt)) {
      if (!this.#shared.signal.aborted) {
        await this.#send(parcel, false);
      }
    }
  }

  /** Reports health as agents do: on change, and once a minute. */
  #tellHealth(): void {
    const now = this.#shared.clock.now();
    if (now - this.#toldHealthAt >= healthMs) {
      this.#toldHealthAt = now;
      this.#session?.emit(
        'plugin_health',
        [...this.#plugins.keys()].map((name) => ({ name, health: this.#health(name, now) })),
      );
    }
  }

  #health(name: string, now: number): object {
    return healthOf(
      this.#plugins.get(name) === true,
      this.#startedAt,
      now,
      name === 'hostmetrics' ? this.#samples : 0,
    );
  }

  /** Every interval, each host at a moment of its own. */
  #beat(session: TunnelSession, inMs: number): () => void {
    const { sweeper, clock, options } = this.#shared;
    let due = clock.monotonic() + inMs;
    const again = (): void => {
      if (!session.live) {
        return;
      }
      due = Math.max(due + options.intervalMs, clock.monotonic());
      cancel = sweeper.after(due - clock.monotonic(), again);
      this.#tellHealth();
      if (this.#fault()) {
        this.#fail();
      } else {
        this.#push(false);
      }
    };
    let cancel = sweeper.after(inMs, again);
    return () => cancel();
  }

  #fault(): boolean {
    const { failProb } = this.#shared.options;
    const is = failProb > 0 && this.#random() < failProb;
    this.#shared.tally.faults += is ? 1 : 0;
    return is;
  }

  /** Half of the faults cut the tunnel, the others a push. */
  #fail(): void {
    if (this.#random() < 0.5) {
      this.#transport?.terminate();
    } else {
      this.#push(true);
    }
  }

  #push(cut: boolean): void {
    const measures = this.#plugins.get('hostmetrics') === true;
    for (const parcel of this.#telemetry.upTo(this.#shared.clock.now(), { measures })) {
      void this.#send(parcel, cut);
    }
  }

  #send({ push, samples = 0, lines = 0, spans = 0 }: Parcel, cut: boolean): Promise<void> {
    const session = this.#takesPushes ? this.#session : undefined;
    return this.#deliveries.send(
      push,
      {
        session,
        transport: this.#transport,
        manager: new URL(this.#addresses.current.url),
        authorization: this.#authorization,
        cut,
      },
      (taken) => {
        this.#samples += samples;
        taken.samples += samples;
        taken.lines += lines;
        taken.spans += spans;
      },
    );
  }
}
