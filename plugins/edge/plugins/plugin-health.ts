import type { Tables } from 'svc/sdk';

import type { Catalogue } from './catalogue.ts';
import type { PluginHealth } from '../contract.ts';
import { pluginStore } from './plugin-store.ts';
import type { EdgeRecord } from '../record.ts';
import type { EdgeTables } from '../tables.ts';
import type { Telling } from '../events.ts';
import { toldShape } from '../shape-check.ts';
import { PluginHealthEvent } from '../wire.ts';

interface Event {
  readonly name: string;
  readonly health: PluginHealth;
}

/** How the plugins of edges are: the last word of each, in memory, written down in batches. */
export interface HealthKeeper {
  /** What an edge tells of one plugin or several; what is not right, or about a plugin that nobody knows, is left out. */
  note(record: EdgeRecord, event: unknown): void;
  of(record: EdgeRecord): Promise<ReadonlyMap<string, PluginHealth>>;
  flush(): Promise<void>;
}

export interface HealthParts {
  readonly tables: Tables<EdgeTables>;
  readonly catalogue: Catalogue;
  readonly telling: Telling;
}

const askMs = 2_000;
const mostPlugins = 64;

export function createHealthKeeper({ tables, catalogue, telling }: HealthParts): HealthKeeper {
  const fits = toldShape<Event>(PluginHealthEvent);
  const changed = new Set<EdgeRecord>();

  /** An edge that is there is asked how its plugins are at this moment; what it told last has to do otherwise. */
  async function ask(record: EdgeRecord): Promise<void> {
    const { tunnel } = record;
    if (tunnel?.capabilities.methods.includes('plugin_status')) {
      const answer = await tunnel.session.call<unknown>('plugin_status', {}, { timeoutMs: askMs }).catch(() => undefined);
      if (Array.isArray(answer)) {
        note(record, answer);
      }
    }
  }

  function note(record: EdgeRecord, told: unknown): void {
    if (Array.isArray(told)) {
      told.slice(0, mostPlugins).forEach((event) => noteOne(record, event));
    } else {
      noteOne(record, told);
    }
  }

  function noteOne(record: EdgeRecord, event: unknown): void {
    if (!fits(event)) {
      return;
    }
    const { name, health: told } = event;
    const plugin = catalogue.find(name);
    if (!plugin) {
      return;
    }
    // A copy with these fields in this order and no others: there are tens of thousands of them.
    const { state, last_error, restart_count, started_at, updated_at, samples } = told;
    const health = { state, last_error, restart_count, started_at, updated_at, samples };
    const before = record.health?.get(plugin.name);
    (record.health ??= new Map()).set(plugin.name, health);
    // The count of samples grows all the time, and is told again soon after a restart: that is no reason to write.
    if (before?.state !== state || before.last_error !== last_error || before.restart_count !== restart_count || before.started_at !== started_at) {
      changed.add(record);
    }
    // After a restart of the manager nothing has changed because it is heard again.
    if (before ? before.state !== state : state === 'crashed') {
      telling.health(record.id, plugin.name, health);
    }
  }

  return {
    note,

    async of(record) {
      await ask(record);
      return new Map([...(await pluginStore(tables.read).healthOf(record.id)), ...(record.health ?? [])]);
    },

    async flush() {
      const news = [...changed].flatMap((record) => [...(record.health ?? [])].map(([name, health]) => [record.id, name, health] as const));
      if (news.length === 0) {
        return;
      }
      const taken = [...changed];
      changed.clear();
      try {
        await tables.write((tx) => pluginStore(tx).putHealth(news));
      } catch (error) {
        taken.forEach((record) => changed.add(record));
        throw error;
      }
    },
  };
}
