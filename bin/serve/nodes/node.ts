import type { IncomingMessage, ServerResponse } from 'node:http';
import { setTimeout as pause } from 'node:timers/promises';

import type { Base } from '../../../core/boot/base.ts';
import type { RunningCore } from '../../../core/boot/boot.ts';
import type { NodePort } from '../../../core/boot/node-port.ts';
import { type ListenAddress, listenAddress } from '../../../core/boot/parts.ts';
import { type Logger, messageOf } from '../../../core/sdk/index.ts';
import { DataLock, keyFile } from '../../../core/storage/index.ts';
import { postgresAt } from '../../../core/storage/postgres/database.ts';
import { NodeControl } from './control.ts';
import { errors } from './errors.ts';
import { NodeFiles } from './files/node-files.ts';
import { houseWire } from './house-wire.ts';
import { identityOf } from './identity.ts';
import { Lease, type Owner } from './lease.ts';
import { OwnerLine } from './owner-line.ts';
import { pathOf, refuse } from './refusal.ts';
import { type NodeCard, NodeRows, type NodeSeen } from './rows.ts';
import { keepKeys, keyLines } from './secret-keys.ts';
import { saidOf, StandIn } from './stand-in.ts';
import { WireKeys } from './wire-keys.ts';
import type { WireServer } from './wire-server.ts';

const renewEveryMs = 1_500;
/** Pause before a renewal that failed is tried again, and between two looks of a node that stands by. */
const lookEveryMs = 500;
/** Pause after a house that this node could not start. */
const unfitMs = 30_000;
const watchEveryMs = 250;

interface NodeParts {
  readonly card: NodeCard;
  readonly dataDir: string;
  readonly address: ListenAddress;
  readonly log: Logger;
  readonly rows: NodeRows;
  readonly lease: Lease;
  readonly line: OwnerLine;
  readonly keys: WireKeys;
  readonly control: NodeControl;
  /** Secret keys of this node. */
  readonly secrets: () => readonly string[];
  readonly existed: boolean;
  readonly lock: () => DataLock;
}

interface Houses {
  /** Starts the house, which asks for `port()`. */
  readonly boot: () => Promise<RunningCore>;
  readonly opened: (house: RunningCore) => void;
  /** Ends the process at once: nothing that it holds in memory may be told any more. */
  readonly end: (reason: string) => never;
}

/**
 * One of several processes over one database. The owner of the data runs the house; any other stands by, and takes over once
 * the owner's lease has ended.
 */
export class Node {
  readonly #parts: NodeParts;
  readonly #standIn: StandIn;
  readonly #wire: WireServer | undefined;
  #isDrained = false;
  #nodes: readonly NodeSeen[] = [];
  readonly #houses: Houses;
  readonly #files: NodeFiles;
  /** Ends the watch over the house, or the wait for one. */
  readonly #stopping = new AbortController();
  /** Ends the renewals, which last until the house is down. */
  readonly #left = new AbortController();
  #house: RunningCore | undefined;
  #owner: Owner | undefined;
  /** Why this node could not start the house when it was its turn. */
  #unfit: string | undefined;
  #unfitUntil = -Infinity;
  #isCut = false;
  #running: Promise<void> | undefined;
  #renewing: Promise<void> | undefined;

  private constructor(parts: NodeParts, base: Base, houses: Houses) {
    this.#parts = parts;
    this.#houses = houses;
    this.#files = new NodeFiles(parts);
    this.#standIn = new StandIn({
      ...base,
      ...parts,
      state: () => ({
        owner: this.#owner,
        isDrained: this.#isDrained,
        unfit: this.#unfit,
        more: this.#files.report,
      }),
    });
    this.#wire = houseWire({
      ...parts,
      joins: parts.control.joins,
      house: () => (parts.lease.isValid ? this.#house : undefined),
      answer: (path, stream) => this.#files.answer(path, stream),
    });
  }

  /** Opens a node over a database; whether it owns the data is not known yet. */
  static async open(base: Base, databaseUrl: string, houses: Houses): Promise<Node> {
    const { dataDir, settings, clock, ids, product, logs } = base;
    const log = logs.logger('node');
    const { existed } = await postgresAt({ url: databaseUrl, log, sqlite: {} });
    const address = listenAddress(settings.get<string>('http.addr'));
    const card: NodeCard = {
      id: identityOf(dataDir, ids),
      url:
        settings.get<string>('node.url') || settings.get<string>('http.public_url') || address.url,
      wire: settings.get<string>('node.addr'),
      pin: settings.get<string>('node.pin'),
      version: product.version,
    };
    const rows = new NodeRows(databaseUrl, card);
    await rows.prepare();
    const nativeBinding = product.embedded?.nativeBinding;
    const lease = new Lease({ row: rows, clock });
    const lock = (): DataLock =>
      new DataLock(dataDir, { now: () => clock.now(), nativeBinding, address: address.url });
    const secretKey = settings.get<string>('data.secret_key');
    const given = secretKey === '' ? undefined : secretKey.split(/[\s,]+/);
    const keys = new WireKeys(dataDir, given);
    const secrets = (): readonly string[] => keyLines(dataDir, given);
    const line = new OwnerLine({
      node: card.id,
      keys,
      log,
      keep(lines) {
        const own = secrets();
        const isNew = lines.some((text) => !own.includes(String(text)));
        if (given === undefined && isNew && keepKeys(dataDir, lines)) {
          log.info({ event: 'node.keys_kept' }, 'took over the secret keys of the owner');
        }
      },
    });
    const control = new NodeControl({ card, rows, clock, ids });
    const parts = {
      card,
      dataDir,
      address,
      log,
      rows,
      lease,
      line,
      keys,
      secrets,
      control,
      existed,
      lock,
    };
    const node = new Node(parts, base, houses);
    node.#renewing = node.#renew();
    return node;
  }

  readonly host: Pick<RunningCore['host'], 'strike'> = {
    strike: (...charge) => this.#house?.host.strike(...charge),
  };

  /** Returns what the house may do; throws if another node owns the data. */
  async port(): Promise<NodePort> {
    const { lease, card, line } = this.#parts;
    this.#owner = lease.epoch === undefined ? await lease.take() : undefined;
    const { epoch } = lease;
    if (this.#owner !== undefined) {
      line.follow(this.#owner);
    }
    if (epoch === undefined) {
      throw errors.stands_by();
    }
    return {
      tenure: { node: card.id, epoch },
      assertOwner: () => {
        if (!lease.isValid) {
          throw errors.not_owner();
        }
      },
      gate: (req, res) => this.#gate(req, res),
      readiness: () => ({
        part: 'node',
        ok: lease.isValid,
        detail: `owner in epoch ${epoch}, lease ${Math.max(0, Math.round(lease.leftMs / 1_000))} s`,
      }),
      beforeListen: () => this.#standIn.close(),
      services: [
        { id: 'nodes.control', instance: this.#parts.control },
        {
          id: 'nodes.addresses',
          instance: {
            all: () => this.#nodes.map(({ url, pin }) => ({ url, ...(pin !== '' && { pin }) })),
          },
        },
      ],
    };
  }

  /** True if a start came to nothing because another node owns the data. */
  get standsBy(): boolean {
    return this.#owner !== undefined;
  }

  /** Goes on with the house that has been started, or stands by. */
  async begin(house: RunningCore | undefined): Promise<void> {
    const { dataDir, existed, secrets } = this.#parts;
    if (house === undefined && existed && secrets().length === 0) {
      throw errors.no_key({ file: keyFile(dataDir) });
    }
    this.#house = house;
    await this.#wire?.listen();
    this.#running = this.#run(house);
  }

  /** Gives the data away and ends, whether or not there is a house. */
  async stop(reason: string): Promise<void> {
    this.#stopping.abort();
    await this.#running;
    try {
      await this.#house?.stop(reason);
    } finally {
      await this.leave();
    }
  }

  /** Gives the data away, also after a start that failed. */
  async leave(): Promise<void> {
    const { rows, line } = this.#parts;
    this.#left.abort();
    await this.#renewing;
    await this.#release();
    this.#standIn.close();
    this.#wire?.close();
    line.close();
    await rows.close();
  }

  async #run(started: RunningCore | undefined): Promise<void> {
    const { signal } = this.#stopping;
    for (let house = started; ; house = undefined) {
      house ??= await this.#standBy();
      this.#house = house;
      if (house === undefined) {
        return;
      }
      this.#houses.opened(house);
      while (!signal.aborted && !this.#isDrained) {
        this.#watch(house);
        await pause(watchEveryMs, undefined, { signal }).catch(() => undefined);
      }
      if (signal.aborted) {
        return;
      }
      this.#house = undefined;
      this.#parts.log.info({ event: 'node.drained' }, 'handing the data over, and standing by');
      this.#wire?.cut();
      await house.stop('the node is drained');
      await this.#release();
    }
  }

  /** An owner whose lease has lapsed is silent until it is confirmed. */
  #watch(house: RunningCore): void {
    const { lease, log } = this.#parts;
    if (!lease.isValid && !this.#isCut) {
      this.#isCut = true;
      house.parts.http.cut();
      log.error({ event: 'node.lapsed' }, errors.not_owner().message);
    } else if (lease.isValid && this.#isCut) {
      this.#isCut = false;
      log.info({ event: 'node.confirmed' }, 'Postgres confirms that this node owns the data');
    }
  }

  /** Renews the lease for as long as there is one. */
  async #renew(): Promise<void> {
    const { lease, log, rows } = this.#parts;
    const { signal } = this.#left;
    let isTold = false;
    while (!signal.aborted) {
      let ms = renewEveryMs;
      try {
        if (lease.epoch !== undefined && !(await lease.renew())) {
          this.#houses.end(
            'another node has taken over the data, because this one did not renew its lease in time; ending without a further word. The service manager starts svc again, which then stands by',
          );
        }
        this.#isDrained = await rows.beat();
        this.#nodes = await rows.list();
        isTold = false;
      } catch (error) {
        ms = lookEveryMs;
        if (!isTold) {
          isTold = true;
          log.warn(
            { event: 'node.not_renewed', cause: messageOf(error) },
            'failed to tell Postgres that this node is there; trying again',
          );
        }
      }
      await pause(ms, undefined, { signal }).catch(() => undefined);
    }
  }

  async #release(): Promise<void> {
    const { lease, log } = this.#parts;
    try {
      await lease.release();
    } catch (error) {
      log.warn(
        { event: 'node.not_released', cause: messageOf(error) },
        'failed to hand the data over: another node takes over once the lease has ended',
      );
    }
  }

  /** Waits until the data is free and this node has started the house; undefined if it is to stop before. */
  async #standBy(): Promise<RunningCore | undefined> {
    const { address, log, lease, line, card } = this.#parts;
    const { signal } = this.#stopping;
    const lock = this.#parts.lock();
    const following = new AbortController();
    try {
      await this.#standIn.open();
      void this.#files.follow(following.signal);
      log.info(
        { event: 'node.standing_by' },
        `${saidOf(this.#owner)}; standing by at ${address.url}`,
      );
      while (!signal.aborted && !(await this.#taken())) {
        await pause(lookEveryMs, undefined, { signal }).catch(() => undefined);
      }
    } finally {
      following.abort();
      lock.release();
    }
    if (lease.epoch === undefined) {
      return undefined;
    }
    log.info({ event: 'node.takes_over', epoch: lease.epoch }, 'taking over the data');
    // What waits here goes to the house of this node, once it is up.
    line.follow({ ...card, node: card.id, epoch: lease.epoch, leftMs: lease.leftMs });
    try {
      const house = await this.#houses.boot();
      this.#unfit = undefined;
      return house;
    } catch (error) {
      await this.#giveBack(error);
      return await this.#standBy();
    }
  }

  /** Lets others try what this node could not. */
  async #giveBack(error: unknown): Promise<void> {
    const { log } = this.#parts;
    const cause = messageOf(error);
    this.#unfit = cause;
    this.#standIn.close();
    log.error({ event: 'node.unfit', cause }, `this node cannot take over: ${cause}`);
    await this.#release();
    this.#unfitUntil = performance.now() + unfitMs;
  }

  async #taken(): Promise<boolean> {
    const { lease, log, rows, line } = this.#parts;
    try {
      const mayTake = !this.#isDrained && performance.now() >= this.#unfitUntil;
      const owner = mayTake ? await lease.take() : await rows.look();
      this.#owner = owner;
      if (owner !== undefined) {
        line.follow(owner);
      }
      return owner === undefined;
    } catch (error) {
      log.warn({ event: 'node.not_seen', cause: messageOf(error) }, 'cannot see who owns the data');
      return false;
    }
  }

  #gate(req: IncomingMessage, res: ServerResponse): boolean {
    if (this.#parts.lease.isValid || pathOf(req) === '/healthz') {
      return false;
    }
    refuse(req, res, errors.not_owner().message);
    return true;
  }
}
