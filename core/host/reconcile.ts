import type { Draft } from '../registry/index.ts';
import { messageOf } from '../sdk/index.ts';
import { barredCause, blockedCause, packLoaderIn, strandedBy, unmetNeeds } from './plan.ts';
import type { HostPorts } from './context/ports.ts';
import type { Quarantine } from './quarantine.ts';
import { raise, type Raising } from './raise.ts';
import type { PluginRecord } from './record.ts';
import type { Retirements } from './retirement.ts';
import type { Roster } from './roster.ts';

/**
 * Single pass that aligns what is running with what should be: the only code that raises or
 * withdraws plugins.
 */
export class Reconciler {
  readonly #ports: HostPorts;
  readonly #roster: Roster;
  readonly #quarantine: Quarantine;
  readonly #retirements: Retirements;
  readonly #raising: Raising;
  /**
   * True while booting: each plugin is marked before it runs, so that a start that dies names its
   * cause.
   */
  booting = true;

  constructor(
    ports: HostPorts,
    roster: Roster,
    quarantine: Quarantine,
    retirements: Retirements,
    raising: Raising,
  ) {
    this.#ports = ports;
    this.#roster = roster;
    this.#quarantine = quarantine;
    this.#retirements = retirements;
    this.#raising = raising;
  }

  async run(): Promise<void> {
    this.withdraw(this.#roster.lookAround(), 'its folder was removed');
    this.#readManifests();
    this.#takeDown();
    await this.#bringUp();
    this.#settleStates();
    this.#ports.registry.publish({ outages: this.#roster.outages() });
    for (const { id, state, cause } of this.#roster.all.values()) {
      this.#ports.observe?.(id, state, cause);
    }
  }

  /**
   * Publishes a snapshot without these plugins immediately; they finish their work in the
   * background.
   */
  withdraw(records: readonly PluginRecord[], reason: string): void {
    const ended = records.flatMap((record) =>
      record.draft ? [{ record, draft: record.draft }] : [],
    );
    if (ended.length === 0) {
      return;
    }
    ended.forEach(({ record }) => (record.draft = undefined));
    this.#ports.registry.publish({
      remove: ended.map(({ record }) => record.id),
      outages: this.#roster.outages(),
    });
    ended.forEach(({ record, draft }) => this.#retirements.begin(record, draft.generation, reason));
  }

  #readManifests(): void {
    for (const record of this.#roster.all.values()) {
      if (!record.stale) {
        continue;
      }
      try {
        record.manifest = this.#ports.readManifest(record.folder);
      } catch (error) {
        record.stale = false;
        this.#ports
          .log('host')
          .warn(
            { event: 'host.manifest_refused', plugin: record.id, serving: record.serving?.number },
            messageOf(error),
          );
        record.attempted({
          at: this.#ports.clock.now(),
          generation: record.generations,
          ok: false,
          stage: 'manifest',
          cause: messageOf(error),
          timings: {},
        });
      }
    }
  }

  #takeDown(tried?: Set<PluginRecord>): void {
    const { registry, memory } = this.#ports;
    const all = [...this.#roster.all.values()];
    this.withdraw(
      all.filter(({ id }) => memory.disabled().has(id) || this.#quarantine.holds(id)),
      'it was switched off',
    );
    const revoked = all.filter(
      (record) => barredCause(record.serving?.manifest, record, registry.current) !== undefined,
    );
    this.withdraw(revoked, 'it is not allowed to run now');
    revoked.forEach((record) => (record.stale = true));
    const stranded = strandedBy(new Set(), registry.current).flatMap(
      (id) => this.#roster.all.get(id) ?? [],
    );
    this.withdraw(stranded, 'a service that it needs is no longer available');
    for (const record of stranded) {
      record.stale = true;
      tried?.delete(record);
    }
  }

  /** Raises whatever has its needs met until nothing more can be: so providers come before their users. */
  async #bringUp(): Promise<void> {
    // One that changes while it is raised is left to the next pass, which the detected change has
    // requested.
    const tried = new Set<PluginRecord>();
    for (;;) {
      const ready = this.#roster
        .waiting()
        .filter((record) => !tried.has(record) && this.#mayBegin(record));
      if (ready.length === 0) {
        return;
      }
      ready.forEach((record) => tried.add(record));
      // A pack's process starts while areas load; areas take turns, since they share this process.
      const packs = Promise.all(ready.filter(isPack).map((record) => this.#raise(record)));
      for (const record of ready) {
        if (!isPack(record)) {
          this.#mark(record.id);
          await this.#raise(record);
        }
      }
      this.#mark(undefined);
      await packs;
      this.#takeDown(tried);
      this.#followLoader(tried);
    }
  }

  #mayBegin(record: PluginRecord): boolean {
    const { current } = this.#ports.registry;
    return (
      unmetNeeds(record.manifest!, current).length === 0 &&
      barredCause(record.manifest, record, current) === undefined
    );
  }

  /**
   * Restarts packs after their loader: the process of a pack belongs to the generation that started
   * it.
   */
  #followLoader(tried: Set<PluginRecord>): void {
    const loader = packLoaderIn(this.#ports.registry.current);
    for (const record of this.#roster.all.values()) {
      if (loader !== undefined && record.loader !== undefined && record.loader !== loader) {
        record.stale = true;
        tried.delete(record);
      }
    }
  }

  async #raise(record: PluginRecord): Promise<void> {
    const old: Draft | undefined = record.draft;
    record.stale = false;
    record.loader =
      isPack(record) && record.manifest?.entry !== undefined
        ? packLoaderIn(this.#ports.registry.current)
        : undefined;
    // One that is tried again stays what it is until it serves.
    if (!old && record.state !== 'failed') {
      record.enter('loading');
    }
    const { attempt, compiled, draft } = await raise(record, record.manifest!, this.#raising);
    record.inputs = new Set(compiled?.inputs ?? record.inputs);
    record.draft = draft ?? old;
    record.attempted(attempt);
    if (draft && !this.booting) {
      const ms = Math.round(Object.values(attempt.timings).reduce((sum, each) => sum + each, 0));
      this.#ports
        .log('host')
        .info(
          { event: 'host.plugin_serves', plugin: record.id, generation: attempt.generation, ms },
          `${record.id} reloaded`,
        );
    }
    if (draft && old) {
      this.#retirements.begin(
        record,
        old.generation,
        `${record.id} was replaced by generation ${draft.generation.number}`,
      );
    }
  }

  /** Names the state of everything that is not simply active; failures have named theirs already. */
  #settleStates(): void {
    const waiting = new Set(this.#roster.waiting());
    // Last those that wait: their cause names the state of others.
    for (const record of [...this.#roster.all.values()].sort(
      (a, b) => Number(waiting.has(a)) - Number(waiting.has(b)),
    )) {
      if (record.serving) {
        this.#settleServing(record, record.serving.number, waiting.has(record));
        continue;
      }
      const disabled = this.#ports.memory.disabled().get(record.id);
      if (disabled !== undefined && record.state !== 'unload-failed') {
        record.enter('disabled', disabled);
      } else if (this.#quarantine.holds(record.id)) {
        record.enter('quarantined', this.#quarantine.of(record.id)?.cause);
      } else if (waiting.has(record)) {
        const barred = barredCause(record.manifest, record, this.#ports.registry.current);
        const cause =
          barred ?? blockedCause(record, this.#roster.all, this.#ports.registry.current);
        const state = barred === undefined ? 'blocked' : 'waiting';
        if (record.state !== state || record.cause !== cause) {
          this.#ports
            .log('host')
            .warn(
              { event: `host.plugin_${state}`, plugin: record.id },
              `${record.id} is ${state}: ${cause}`,
            );
        }
        record.enter(state, cause);
      } else if (record.manifest && !record.manifest.runs_on.includes(this.#ports.runsOn)) {
        record.enter('discovered', `runs on ${record.manifest.runs_on.join(' and ')} only`);
      }
    }
  }

  /**
   * Settles a change whose needs are not met: it waits while the previous generation keeps serving,
   * and its author learns what for.
   */
  #settleServing(record: PluginRecord, generation: number, waits: boolean): void {
    const { current } = this.#ports.registry;
    const unmet = waits
      ? (barredCause(record.manifest, record, current) ??
        blockedCause(record, this.#roster.all, current))
      : '';
    const cause =
      unmet === '' ? undefined : `change pending: ${unmet}; generation ${generation} keeps running`;
    if (cause !== undefined && cause !== record.cause) {
      this.#ports
        .log('host')
        .warn({ event: 'host.change_waits', plugin: record.id, generation }, cause);
    }
    record.enter('active', cause);
  }

  #mark(id: string | undefined): void {
    if (this.booting) {
      this.#ports.memory.setActivating(id);
    }
  }
}

const isPack = (record: PluginRecord): boolean => record.manifest?.kind === 'pack';
