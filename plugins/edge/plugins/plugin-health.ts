import { type PluginHealth, PluginHealthEvent } from 'svc/edge-protocol';
import type { Tables } from 'svc/sdk';

import type { EdgeEvents } from '../record/events.ts';
import { pluginStore } from '../record/plugin-store.ts';
import type { EdgeRecord } from '../record/record.ts';
import { shapeCheck } from '../record/shape-check.ts';
import type { EdgeTables } from '../record/tables.ts';
import type { Catalogue } from './catalogue.ts';

export interface HealthParts {
  readonly tables: Tables<EdgeTables>;
  readonly catalogue: Catalogue;
  readonly events: EdgeEvents;
}

const askMs = 2_000;
const maxPlugins = 64;

/** Health of the plugins of edges: the last report of each, in memory, stored in batches. */
export class HealthRecords {
  readonly #parts: HealthParts;
  readonly #fits = shapeCheck<PluginHealthEvent>(PluginHealthEvent);
  readonly #changed = new Set<EdgeRecord>();

  constructor(parts: HealthParts) {
    this.#parts = parts;
  }

  /**
   * Stores an edge's report on one or more plugins; invalid parts, and those about unknown plugins,
   * are dropped.
   */
  receive(record: EdgeRecord, reports: unknown): void {
    if (Array.isArray(reports)) {
      reports.slice(0, maxPlugins).forEach((report) => this.#receiveOne(record, report));
    } else {
      this.#receiveOne(record, reports);
    }
  }

  async of(record: EdgeRecord): Promise<ReadonlyMap<string, PluginHealth>> {
    await this.#ask(record);
    return new Map([
      ...(await pluginStore(this.#parts.tables.read).healthOf(record.id)),
      ...(record.health ?? []),
    ]);
  }

  async flush(): Promise<void> {
    const news = [...this.#changed].flatMap((record) =>
      [...(record.health ?? [])].map(([name, health]) => [record.id, name, health] as const),
    );
    if (news.length === 0) {
      return;
    }
    const taken = [...this.#changed];
    this.#changed.clear();
    try {
      await this.#parts.tables.write((tx) => pluginStore(tx).putHealth(news));
    } catch (error) {
      taken.forEach((record) => this.#changed.add(record));
      throw error;
    }
  }

  /**
   * Asks a connected edge for the current health of its plugins; otherwise the last report has to
   * do.
   */
  async #ask(record: EdgeRecord): Promise<void> {
    const { tunnel } = record;
    if (tunnel?.capabilities.methods.includes('plugin_status')) {
      const answer = await tunnel.session
        .call<unknown>('plugin_status', {}, { timeoutMs: askMs })
        .catch(() => undefined);
      if (Array.isArray(answer)) {
        this.receive(record, answer);
      }
    }
  }

  #receiveOne(record: EdgeRecord, report: unknown): void {
    const { catalogue, events } = this.#parts;
    const plugin = this.#fits(report) ? catalogue.find(report.name) : undefined;
    if (!plugin) {
      return;
    }
    // A copy with these fields in this order and no others: there are tens of thousands of them.
    const { state, last_error, restart_count, started_at, updated_at, samples } = (
      report as PluginHealthEvent
    ).health;
    const health = { state, last_error, restart_count, started_at, updated_at, samples };
    const before = record.health?.get(plugin.name);
    (record.health ??= new Map()).set(plugin.name, health);
    // The count of samples grows all the time, and is reported again soon after a restart: that is no reason to write.
    if (
      before?.state !== state ||
      before.last_error !== last_error ||
      before.restart_count !== restart_count ||
      before.started_at !== started_at
    ) {
      this.#changed.add(record);
    }
    // After a restart of the manager a first report is no change.
    if (before ? before.state !== state : state === 'crashed') {
      events.pluginHealth(record.id, plugin.name, health);
    }
  }
}
