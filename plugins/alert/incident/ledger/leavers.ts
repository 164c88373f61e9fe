import type { Instance } from '../../instance/instance.ts';

/** An instance that fired and left its incident. */
export interface Leaver extends Pick<Instance, 'key' | 'group' | 'notified'> {
  /** Details to name it by; undefined once its incident has so many leavers that a notice names others. */
  readonly instance: Instance | undefined;
  /** When it left, by the wall. */
  readonly leftAt: number;
  /** True if a notification has named it as gone. */
  readonly isNamed: boolean;
}

export const leaverOf = (instance: Instance, leftAt: number, isNamed: boolean): Leaver => {
  const { key, group, notified } = instance;
  return { key, group, notified, instance, leftAt, isNamed };
};

/** Max leavers of one incident that are remembered with their details. */
const maxDetailed = 1_000;
/** Max leavers remembered of all incidents together, and max incidents with leavers. */
const maxLeavers = 200_000;
const maxGroups = 5_000;

/**
 * Instances that left their incidents since channels were last notified: the next notification counts and names them,
 * and one that comes back before that is no news, since channels believe that it has fired all the time.
 */
export class Leavers {
  readonly #byGroup = new Map<string, Map<string, Leaver>>();
  /** Keys of those with details, by incident. */
  readonly #detailed = new Map<string, Set<string>>();
  #size = 0;

  of(group: string): ReadonlyMap<string, Leaver> {
    return this.#byGroup.get(group) ?? none;
  }

  add(leaver: Leaver): void {
    const { group, key } = leaver;
    const found = this.#byGroup.get(group) ?? new Map<string, Leaver>();
    this.#size += found.has(key) ? 0 : 1;
    // Moves its incident behind those that changed before.
    this.#byGroup.delete(group);
    this.#byGroup.set(group, found.set(key, leaver));
    if (leaver.instance !== undefined) {
      this.#addDetailed(found, leaver);
    }
    this.#dropOldest();
  }

  remove(group: string, key: string): void {
    const found = this.#byGroup.get(group);
    if (found?.delete(key) !== true) {
      return;
    }
    this.#size -= 1;
    this.#detailed.get(group)?.delete(key);
    if (found.size === 0) {
      this.removeAll(group);
    }
  }

  removeAll(group: string): void {
    this.#size -= this.of(group).size;
    this.#byGroup.delete(group);
    this.#detailed.delete(group);
  }

  /** Adds a leaver with its details, and drops those of the first if there are too many. */
  #addDetailed(found: Map<string, Leaver>, { group, key }: Leaver): void {
    const detailed = this.#detailed.get(group) ?? new Set();
    this.#detailed.set(group, detailed.add(key));
    if (detailed.size > maxDetailed) {
      const first = detailed.values().next().value!;
      detailed.delete(first);
      found.set(first, { ...found.get(first)!, instance: undefined });
    }
  }

  #dropOldest(): void {
    if (this.#byGroup.size > maxGroups) {
      this.removeAll(this.#byGroup.keys().next().value!);
    }
    while (this.#size > maxLeavers) {
      const [group, found] = this.#byGroup.entries().next().value!;
      this.remove(group, found.keys().next().value!);
    }
  }
}

const none: ReadonlyMap<string, Leaver> = new Map();
