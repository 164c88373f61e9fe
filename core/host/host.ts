import { type Generation, type ScopeRunner, withPin } from '../registry/index.ts';
import { type HeldFile, messageOf } from '../sdk/index.ts';
import { errors } from './errors.ts';
import { hashOfFiles } from './folder/held-files.ts';
import { thrownBy } from './context/contributed.ts';
import { checkEvaluator } from './code/evaluate.ts';
import { type PluginReport, reportOn } from './explain.ts';
import { strandedBy, usersFirst } from './plan.ts';
import type { HostPorts } from './context/ports.ts';
import { Quarantine } from './quarantine.ts';
import { Reconciler } from './reconcile.ts';
import type { Attempt, PluginRecord } from './record.ts';
import { Retirements } from './retirement.ts';
import { Roster } from './roster.ts';
import { Serial } from './serial.ts';

/** Two boots in a row that died inside the same plugin switch it off. */
const deadlyBoots = 2;

/**
 * The keeper of svc. Every wish (a changed file, a reload, a switch) only marks a record; one serial
 * reconciliation then brings what serves in line with what should, so no two transitions ever interleave.
 */
export class PluginHost {
  readonly #ports: HostPorts;
  readonly #quarantine: Quarantine;
  readonly #roster: Roster;
  readonly #retirements: Retirements;
  readonly #reconciler: Reconciler;
  readonly #reconciling: Serial;
  #started = false;
  #closed = false;

  constructor(ports: HostPorts) {
    this.#ports = ports;
    this.#quarantine = new Quarantine(ports.memory, ports.clock);
    this.#roster = new Roster(ports, this.#quarantine);
    this.#retirements = new Retirements(ports.registry, ports.log('host'));
    this.#reconciler = new Reconciler(ports, this.#roster, this.#quarantine, this.#retirements, {
      ports,
      runnerOf: (generation) => this.#runner(generation),
      outagesWithout: (id) => this.#roster.outages(id),
      keeper: (point, id) => this.keeperOf(point, id),
      stumbled: (generation, label, error) => this.strike(generation, label, error),
      packFailed: (generation, cause) => this.#packFailed(generation, cause),
    });
    this.#reconciling = new Serial(async () => {
      if (!this.#closed) {
        await this.#reconciler.run();
      }
    });
  }

  /** Starts everything that can start; throws only for a plugin that declares itself critical. */
  async start(): Promise<void> {
    checkEvaluator();
    this.#enterSafeMode();
    this.#started = true;
    await this.#reconciling.request();
    this.#reconciler.booting = false;
    const missing = [...this.#roster.all.values()].find(
      (record) => record.manifest?.critical && !record.serving,
    );
    if (missing) {
      throw errors.critical_down({
        plugin: missing.id,
        state: missing.state,
        cause: missing.cause ?? 'no cause known',
      });
    }
  }

  /**
   * Reloads plugins whose files have changed, or may have: each gets a new generation. The start
   * reads them all anyway.
   */
  async refresh(paths?: ReadonlySet<string>): Promise<void> {
    if (!this.#started) {
      return;
    }
    for (const record of this.#roster.all.values()) {
      if (!paths || [...paths].some((path) => record.concerns(path))) {
        record.stale = true;
        this.#quarantine.release(record);
      }
    }
    await this.#reconciling.request();
  }

  /** The contract behind every hot change: a new generation serves when this resolves, or it throws why not. */
  async reload(id: string): Promise<Attempt> {
    const record = this.#roster.require(id);
    if (record.state === 'disabled') {
      throw errors.plugin_disabled({ plugin: id });
    }
    const before = record.lastAttempt;
    record.stale = true;
    this.#quarantine.release(record);
    await this.#reconciling.request();
    return outcomeOf(record, before);
  }

  /** Switches a plugin off until enabled; refused while others need it, unless they may fall with it. */
  async disable(id: string, options: { cascade?: boolean } = {}): Promise<void> {
    const record = this.#roster.require(id);
    if (record.manifest?.critical) {
      throw errors.plugin_critical({ plugin: id });
    }
    const dependents = strandedBy(new Set([id]), this.#ports.registry.current);
    if (dependents.length > 0 && !options.cascade) {
      throw errors.plugin_needed({ plugin: id, dependents: dependents.join(', ') });
    }
    this.#ports.memory.setDisabled(id, 'disabled by an operator');
    await this.#reconciling.request();
  }

  async enable(id: string): Promise<void> {
    const record = this.#roster.require(id);
    this.#ports.memory.setDisabled(id, undefined);
    this.#quarantine.release(record);
    record.stale ||= !record.serving;
    await this.#reconciling.request();
  }

  /**
   * An error on a plugin's account, or on that of the plugin whose contribution threw it; one too
   * many puts it into quarantine.
   */
  strike(at: Generation, label: string, error: unknown): void {
    const owner = thrownBy(error) ?? at;
    const record = this.#roster.all.get(owner.pluginId);
    if (!record || record.serving !== owner || this.#closed) {
      return;
    }
    const where = { plugin: owner.pluginId, generation: owner.number, where: label };
    this.#ports
      .log('host')
      .warn(
        { event: 'host.plugin_error', ...where, error },
        `error in ${owner.pluginId}: ${messageOf(error)}`,
      );
    if (this.#quarantine.strike(record, label, error)) {
      this.#confine(record, `repeated errors, last in ${label}: ${messageOf(error)}`);
    }
  }

  /**
   * Gives those that are down another try when their time has come, or all at once when the ground is good again; forgives
   * the proven. The boot calls it regularly.
   */
  async retry({ all = false } = {}): Promise<void> {
    const records = [...this.#roster.all.values()];
    this.#quarantine.releaseProven(records);
    const until = all ? Infinity : this.#ports.clock.now();
    const due = records.filter(({ id, retryAt }) =>
      this.#quarantine.holds(id)
        ? this.#quarantine.retryAt(id) <= until
        : (retryAt ?? NaN) <= until,
    );
    for (const record of due) {
      record.retryAt = undefined;
      this.#quarantine.tryAgain(record);
    }
    if (due.length > 0) {
      await this.#reconciling.request();
    }
  }

  list(): readonly PluginReport[] {
    return [...this.#roster.all.keys()].sort().map((id) => this.explain(id));
  }

  explain(id: string): PluginReport {
    return reportOn(
      this.#roster.require(id),
      this.#ports.registry.current,
      this.#quarantine.of(id),
    );
  }

  /** Returns the plugin that ships with svc and contributes this by its manifest, running or not. */
  keeperOf(point: string, id: string): string | undefined {
    return this.#roster.keeperOf(point, id);
  }

  hold(id: string, files: readonly HeldFile[] | undefined): void {
    this.#ports.memory.setHeld(id, files && hashOfFiles(files));
  }

  read(id: string, file: string): Uint8Array | undefined {
    return this.#roster.require(id).folder.read(file);
  }

  /** Everything asked for so far has happened, background retirements included. */
  async settled(): Promise<void> {
    await this.#reconciling.idle();
    await this.#retirements.settled();
  }

  /** Stops every plugin, users before providers. */
  async close(): Promise<void> {
    this.#closed = true;
    await this.#reconciling.idle();
    const { registry } = this.#ports;
    for (const id of usersFirst([...registry.current.generations.keys()], registry.current)) {
      this.#reconciler.withdraw(
        [this.#roster.all.get(id)].filter((record) => record !== undefined),
        'svc is stopping',
      );
      await this.#retirements.settled();
    }
  }

  /**
   * Returns the runner of a generation's timers and tasks: on its account, errors counted, silent
   * once it has ended.
   */
  #runner(generation: () => Generation): ScopeRunner {
    const guarded = async (label: string, run: () => Promise<void>): Promise<void> => {
      try {
        await run();
      } catch (error) {
        if (!generation().scope.signal.aborted) {
          this.strike(generation(), label, error);
        }
      }
    };
    return {
      tick: (label, work) => guarded(label, () => this.#ports.registry.pinned(generation(), work)),
      task: (label, work) =>
        guarded(label, () => withPin({ snapshot: undefined, owner: generation() }, work)),
    };
  }

  #packFailed(generation: Generation, cause: string): void {
    const record = this.#roster.all.get(generation.pluginId);
    if (record?.serving === generation) {
      record.strike('pack process', cause);
      this.#confine(record, cause);
    }
  }

  #confine(record: PluginRecord, cause: string): void {
    this.#quarantine.enter(record, cause);
    record.enter('quarantined', cause);
    this.#reconciler.withdraw([record], cause);
    this.#ports
      .log('host')
      .error(
        { event: 'host.plugin_quarantined', plugin: record.id, strikes: record.strikes },
        `${record.id} quarantined: ${cause}`,
      );
    this.#reconciling
      .request()
      .catch((error: unknown) =>
        this.#ports
          .log('host')
          .error({ event: 'host.reconcile_failed', error }, 'failed to reconcile plugins'),
      );
  }

  #enterSafeMode(): void {
    const death = this.#ports.memory.lastDeath();
    if (death && death.boots >= deadlyBoots) {
      const cause = `safe mode: the last ${death.boots} starts crashed while ${death.id} was starting; enable it to try again`;
      this.#ports.memory.setDisabled(death.id, cause);
      this.#ports.log('host').error({ event: 'host.plugin_killed_start', plugin: death.id }, cause);
    }
  }
}

/** Returns the outcome of a reload. */
function outcomeOf(record: PluginRecord, before: Attempt | undefined): Attempt {
  const attempt = record.lastAttempt;
  if (record.state === 'blocked' || !attempt || attempt === before) {
    throw errors.not_reloaded({
      plugin: record.id,
      state: record.state,
      cause: record.cause ?? 'a service it needs is missing',
    });
  }
  if (!attempt.ok) {
    const { stage = 'discover', cause = 'no cause known' } = attempt;
    const failure = { plugin: record.id, stage, cause };
    throw record.serving === undefined
      ? errors.not_raised(failure)
      : errors.old_serves({
          ...failure,
          cause: cause.replace(/\.$/, ''),
          number: record.serving.number,
        });
  }
  return attempt;
}
