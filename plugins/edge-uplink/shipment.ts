import { join } from 'node:path';

import type { Parcel } from 'svc/contracts/edge-uplink';
import { type HealthReport, isSvcError, messageOf, type PluginContext, timestamp } from 'svc/sdk';

import { budgetOf, DiskBuffer, type Lane, lanes } from './buffer/disk-buffer.ts';
import type { Next } from './buffer/queue.ts';
import { Courier } from './courier.ts';
import type { CredentialStore } from './credentials.ts';
import { errors } from './errors.ts';
import type { Link } from './link.ts';
import { HttpPusher, maxTunnelBytes, type PushOutcome, pushThrough } from './push.ts';

const maxBodyBytes = 4 * 1024 * 1024;
const maxEventBytes = 256 * 1024;
const reportMs = 30_000;
const pathForm = /^\/[\w./-]{1,200}$/;

/** Everything that leaves this machine: to the disk first, then on its way. */
export class Shipment {
  readonly #ctx: PluginContext;
  readonly #buffer: DiskBuffer;
  readonly #pusher: HttpPusher;
  readonly #credentials: CredentialStore;
  readonly #couriers: readonly Courier[];
  #link: Pick<Link, 'session' | 'pushing'> | undefined;
  #released = false;

  private constructor(
    ctx: PluginContext,
    buffer: DiskBuffer,
    credentials: CredentialStore,
    random: () => number,
  ) {
    this.#ctx = ctx;
    this.#buffer = buffer;
    this.#credentials = credentials;
    this.#pusher = new HttpPusher(() => credentials.current()!, ctx.clock);
    const { clock, scope, log } = ctx;
    this.#couriers = lanes.map(
      (lane) =>
        new Courier({
          lane,
          buffer,
          clock,
          scope,
          log,
          random,
          send: (next, signal) =>
            lane === 'events' ? this.#report(next, signal) : this.#push(next, signal),
        }),
    );
  }

  static async open(
    ctx: PluginContext,
    credentials: CredentialStore,
    random: () => number,
  ): Promise<Shipment> {
    const dropped = ctx.metrics.counter(
      'dropped_items_total',
      'Samples, lines, spans and events lost before the manager had them.',
      ['lane', 'reason'],
    );
    const share = ctx.settings.get<number>('uplink.buffer_share');
    const buffer = await DiskBuffer.open({
      folder: join(ctx.dataDir, 'wal'),
      clock: ctx.clock,
      scope: ctx.scope,
      maxBytes: budgetOf(
        ctx.dataDir,
        ctx.settings.get<number>('uplink.buffer_mb') * 1024 * 1024,
        share,
      ),
      onDrop: (lane, items, reason) => dropped.add(items, { lane, reason }),
      onDamage: ({ lane, file, bytes, from, to }) =>
        ctx.log.error(
          { event: 'uplink.buffer_damaged', lane, file, bytes, from: timeOf(from), to: timeOf(to) },
          'the buffer is damaged; unsent data is lost, with when the data before and after it was left; check the disk',
        ),
    });
    ctx.scope.defer('buffer', () => buffer.close());
    const shipment = new Shipment(ctx, buffer, credentials, random);
    ctx.scope.defer('connections of the data plane', () => shipment.#pusher.close());
    return shipment;
  }

  /** Events leave at once; everything else once `release` was called. */
  start(): void {
    this.#send(0);
  }

  /** The manager knows whose samples, lines and spans these are. */
  release(): void {
    if (!this.#released) {
      this.#released = true;
      this.#couriers.slice(1).forEach((_, index) => this.#send(index + 1));
    }
  }

  #send(index: number): void {
    this.#ctx.scope.task(`courier of ${lanes[index]}`, (signal) =>
      this.#couriers[index]!.run(signal),
    );
  }

  use(link: Pick<Link, 'session' | 'pushing'>): void {
    this.#link = link;
  }

  nudge(): void {
    this.#couriers.forEach((courier) => courier.nudge());
  }

  async ship({
    signal,
    path,
    contentType,
    contentEncoding,
    body,
    items,
    urgent = false,
  }: Parcel): Promise<void> {
    if (
      !lanes.includes(signal) ||
      (signal as Lane) === 'events' ||
      !pathForm.test(path) ||
      body.length > maxBodyBytes
    ) {
      throw errors.parcel_form({ maxBodyBytes: maxBodyBytes / 1024 / 1024 });
    }
    await this.#buffer.put(
      signal,
      { to: path, type: contentType, encoding: contentEncoding, items },
      body,
      urgent,
    );
  }

  async report(event: string, payload: unknown): Promise<void> {
    const body = Buffer.from(JSON.stringify(payload));
    if (body.length > maxEventBytes) {
      throw errors.event_too_large({ maxEventBytes: maxEventBytes / 1024 });
    }
    await this.#buffer.put('events', { to: event, type: 'application/json', items: 1 }, body, true);
  }

  get status(): DiskBuffer['status'] {
    return this.#buffer.status;
  }

  health(): HealthReport {
    const losses = [...this.#buffer.dropped].map(([what, items]) => `${items} ${what}`);
    const problems = this.#couriers.flatMap(({ lastProblem }, index) =>
      lastProblem === undefined ? [] : [`${lanes[index]}: ${lastProblem}`],
    );
    const detail = [...(losses.length > 0 ? [`lost: ${losses.join(', ')}`] : []), ...problems].join(
      '; ',
    );
    return { ok: problems.length === 0, ...(detail !== '' && { detail }) };
  }

  async #push({ record }: Next, signal: AbortSignal): Promise<PushOutcome> {
    if (!this.#credentials.current()) {
      return later('this machine is not enrolled');
    }
    const way = record.body.length <= maxTunnelBytes ? this.#link?.pushing : undefined;
    if (way === 'soon') {
      return later('the tunnel is reconnecting');
    }
    return way ? await pushThrough(way, record, signal) : await this.#pusher.push(record, signal);
  }

  /** Sends a record and resolves once the manager has confirmed it. */
  async #report({ record: { head, body } }: Next, signal: AbortSignal): Promise<PushOutcome> {
    const session = this.#link?.session;
    if (!session) {
      return later('there is no tunnel');
    }
    try {
      const payload: unknown = JSON.parse(Buffer.from(body).toString('utf8'));
      await session.call('tell', { event: head.to, payload }, { timeoutMs: reportMs, signal });
      return { kind: 'taken' };
    } catch (error) {
      const isFinal =
        isSvcError(error) && ['invalid_argument', 'not_found', 'forbidden'].includes(error.code);
      return isFinal ? { kind: 'refused', reason: error.message } : later(messageOf(error));
    }
  }
}

const later = (reason: string): PushOutcome => ({ kind: 'later', reason, afterMs: undefined });

const timeOf = (at: number | undefined): string => (at === undefined ? 'unknown' : timestamp(at));
