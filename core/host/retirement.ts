import type { Generation, Registry, UndoFailure } from '../registry/index.ts';
import type { Logger } from '../sdk/index.ts';
import type { PluginRecord } from './record.ts';

/** Generations on their way out: they finish in the background while others already serve. */
export class Retirements {
  readonly #registry: Registry;
  readonly #log: Logger;
  readonly #running = new Set<Promise<void>>();

  constructor(registry: Registry, log: Logger) {
    this.#registry = registry;
    this.#log = log;
  }

  begin(record: PluginRecord, generation: Generation, reason: string): void {
    record.draining.add(generation.number);
    const ending = this.#end(record, generation, reason).finally(() => {
      record.draining.delete(generation.number);
      this.#running.delete(ending);
    });
    this.#running.add(ending);
  }

  async settled(): Promise<void> {
    while (this.#running.size > 0) {
      await Promise.all(this.#running);
    }
  }

  async #end(record: PluginRecord, generation: Generation, reason: string): Promise<void> {
    const failures = await retire(generation, this.#registry, reason);
    if (failures.length === 0) {
      return;
    }
    const what = failures.map(({ label, cause }) => `${label} (${cause})`).join(', ');
    record.residue = `generation ${generation.number} could not be unloaded: ${what}; restart svc to free it`;
    this.#log.error({ event: 'host.plugin_residue', plugin: record.id, failures }, record.residue);
    if (!record.serving) {
      record.enter('unload-failed', record.residue, 'retire');
    }
  }
}

/**
 * Ends a generation that no snapshot contains any more: ordinary requests finish, streams are
 * informed midway, then every effect is undone. Resolves with what could not be undone.
 */
async function retire(
  generation: Generation,
  registry: Registry,
  reason: string,
): Promise<readonly UndoFailure[]> {
  const { leases } = registry;
  const half = generation.manifest.limits.drain_ms / 2;
  if (!(await leases.idle(generation, half))) {
    generation.scope.announceEnd(reason);
    await leases.idle(generation, half);
  }
  return await generation.scope.close();
}
