import { EdgeOffline, EdgeOnline, EdgeWritten } from 'svc/contracts/edge';
import { isSvcError, type PluginContext } from 'svc/sdk';
import { retryWindow, sweepMs } from 'svc/tunnel';

import type { Base } from './base.ts';
import type { Enrolments } from './enrolment/enrolments.ts';
import type { Connection } from './open-connection.ts';
import type { EdgePluginRoom } from './open-plugins.ts';
import { hysteresisMs } from './presence/presence.ts';
import type { OwnClock } from './record/own-clock.ts';
import type { SelfMetrics } from './self-metrics.ts';
import type { Upgrades } from './upgrade/upgrades.ts';

export interface HousekeepingParts {
  readonly base: Base;
  readonly connection: Connection;
  readonly plugins: EdgePluginRoom;
  readonly enrolments: Enrolments;
  readonly upgrades: Upgrades;
  readonly metrics: SelfMetrics;
  readonly ownClock: OwnClock;
}

type Task = () => Promise<void>;

const second = 1_000;
const pingMs = 20_000;

/** Background work of the plugin. */
export class Housekeeping {
  readonly #ctx: PluginContext;
  readonly #parts: HousekeepingParts;

  constructor(ctx: PluginContext, parts: HousekeepingParts) {
    this.#ctx = ctx;
    this.#parts = parts;
  }

  schedule(): void {
    const { clock, scope } = this.#ctx;
    const { base, connection, enrolments, metrics, ownClock } = this.#parts;
    const { deviceBindings, onlineSeries } = connection;
    const every = (seconds: number, name: string, work: Task): void =>
      void scope.interval(name, seconds * second, this.#guarded(name, work));

    this.#listen();
    scope.interval('timers of the tunnels', sweepMs, () => base.sweeper.tick());
    scope.defer(
      'write presence',
      this.#guarded('write presence', () => this.#flush()),
    );
    every(15, 'write presence', () => this.#flush());
    every(30, 'write the online series', () => onlineSeries.write(clock.now()));
    every(1, 'write the online series of edges that turned', () =>
      onlineSeries.writeTurned(clock.now()),
    );
    scope.interval('compare the own clock with its past', second, () => ownClock.look());
    scope.interval('count the edges', 5 * second, () => metrics.observe());
    every(5, 'refresh device bindings', () => deviceBindings.refresh());
    every(5, 'tell edges where else the manager is', async () => this.#tellAddresses());
    every(60, 'retry what edges did not accept', () => this.#retry());
    every(3_600, 'purge old enrolments', () => enrolments.purge());
    scope.task(
      'await the edges',
      this.#guarded('await the edges', () => this.#awaitReturn()),
    );
  }

  #listen(): void {
    const { events } = this.#ctx;
    const { deviceBindings, onlineSeries } = this.#parts.connection;
    events.on(EdgeWritten, ({ edge_id: id }) =>
      this.#guarded('reload an edge that was changed', () => this.#reload(id))(),
    );
    events.on(EdgeOnline, ({ edge_id: id }) => onlineSeries.turned(id));
    events.on(EdgeOffline, ({ edge_id: id }) => onlineSeries.turned(id));
    deviceBindings.follow(events, (task, work) => this.#guarded(task, work));
  }

  async #flush(): Promise<void> {
    await this.#parts.connection.presence.flush();
    await this.#parts.plugins.health.flush();
  }

  async #reload(id: number): Promise<void> {
    const { base, connection } = this.#parts;
    const record = base.edgeTable.byId(id);
    if ((await base.edgeTable.follow(id)) === undefined && record !== undefined) {
      await record.tunnel?.session.close();
      connection.presence.removed(record);
    }
  }

  #tellAddresses(): void {
    const { addresses, desired } = this.#parts.plugins;
    if (addresses.refresh()) {
      desired.forgetDefaults();
      desired.settleAll();
    }
  }

  async #retry(): Promise<void> {
    const { connection, plugins, upgrades } = this.#parts;
    connection.clones.prune();
    await connection.rotations.offerAll();
    if (plugins.catalogue.refresh()) {
      plugins.desired.forgetDefaults();
    }
    plugins.desired.settleAll();
    await upgrades.sweep();
  }

  async #awaitReturn(): Promise<void> {
    const { base, connection } = this.#parts;
    // Once more: the generation before this one may have changed edges while this one was brought up.
    await base.edgeTable.load();
    connection.rotations.expireAll();
    connection.presence.awaitReturn(
      Math.max(2 * pingMs, retryWindow(base.edgeTable.size).retryMaxMs) + hysteresisMs,
    );
  }

  /**
   * Guards a task: a storage failure is retried at the next run, and does not count as a crash of
   * the plugin that holds the tunnels.
   */
  #guarded(task: string, work: Task): Task {
    return async () => {
      try {
        await work();
      } catch (error) {
        if (!isSvcError(error)) {
          throw error;
        }
        this.#ctx.log.warn(
          { event: 'edge.housekeeping_failed', task, cause: error.message },
          'housekeeping task failed; will retry at its next run',
        );
      }
    };
  }
}
