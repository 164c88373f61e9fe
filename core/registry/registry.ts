import type { Draft } from './draft.ts';
import { errors } from './errors.ts';
import type { Generation } from './generation.ts';
import { Leases } from './leases.ts';
import { currentPin, withPin } from './pin.ts';
import { emptySnapshot, type Outage, Snapshot, tableNames, type TableSet } from './snapshot.ts';

/** One step from a snapshot to the next. */
export interface Change {
  readonly add?: readonly Draft[];
  /** Plugin ids that leave. A plugin named in `add` replaces itself and needs no mention. */
  readonly remove?: readonly string[];
  readonly outages?: readonly Outage[];
}

/** Holds the current snapshot; the only place it is ever replaced. */
export class Registry {
  readonly leases = new Leases();
  readonly #listeners = new Set<(next: Snapshot, previous: Snapshot) => void>();
  #current: Snapshot = emptySnapshot();

  get listeners(): number {
    return this.#listeners.size;
  }

  get current(): Snapshot {
    return this.#current;
  }

  /** Snapshot that the running unit of work sees: its pin, or the newest if nothing is pinned. */
  get seen(): Snapshot {
    return currentPin()?.snapshot ?? this.#current;
  }

  /** Builds and assigns the next snapshot, or throws a conflict and leaves everything as it was. */
  publish(change: Change): Snapshot {
    const previous = this.#current;
    const next = successor(previous, change);
    this.#current = next;
    for (const listener of this.#listeners) {
      listener(next, previous);
    }
    return next;
  }

  /** Called synchronously after each publication. */
  onPublish(listener: (next: Snapshot, previous: Snapshot) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Runs short work on `owner`'s account with one view of the snapshot from beginning to end. */
  async pinned<T>(owner: Generation, work: () => T | Promise<T>): Promise<T> {
    const snapshot = this.#current;
    this.leases.pin(snapshot);
    try {
      return await withPin({ snapshot, owner }, work);
    } finally {
      this.leases.unpin(snapshot);
    }
  }
}

function successor(previous: Snapshot, change: Change): Snapshot {
  const drafts = new Map((change.add ?? []).map((draft) => [draft.generation.pluginId, draft]));
  const leaving = new Set([...(change.remove ?? []), ...drafts.keys()]);
  const generations = new Map([...previous.generations].filter(([id]) => !leaving.has(id)));
  for (const draft of drafts.values()) {
    generations.set(draft.generation.pluginId, draft.generation);
  }
  const tables = Object.fromEntries(
    tableNames.map((name) => {
      const kept = new Map(
        [...previous[name]].filter(([, entry]) => !leaving.has(entry.owner.pluginId)) as [
          string,
          never,
        ][],
      );
      for (const draft of drafts.values()) {
        for (const entry of draft.entries(name)) {
          const other = kept.get(entry.key) as { owner: Generation } | undefined;
          if (other) {
            throw errors.key_taken({
              plugin: draft.generation.pluginId,
              other: other.owner.pluginId,
              table: name,
              key: entry.key,
            });
          }
          kept.set(entry.key, entry as never);
        }
      }
      return [name, kept];
    }),
  ) as unknown as TableSet;
  return new Snapshot(
    previous.serial + 1,
    generations,
    tables,
    Object.freeze([...(change.outages ?? previous.outages)]),
  );
}
