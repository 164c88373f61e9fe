import type { Instance } from '../../instance/instance.ts';

/** An instance that fired and left its incident. */
export interface Leaver {
  readonly instance: Instance;
  /** When it left, by the wall. */
  readonly leftAt: number;
  /** True if a notification has named it as gone. */
  readonly isNamed: boolean;
}

/** Max leavers remembered of one incident, and max incidents with leavers. */
const maxOfGroup = 1_000;
const maxGroups = 5_000;

/**
 * Instances that left their incidents since channels were last notified: the next notification names them, and one
 * that comes back before that is no news, since channels believe that it has fired all the time.
 */
export class Leavers {
  readonly #byGroup = new Map<string, Map<string, Leaver>>();

  of(group: string): ReadonlyMap<string, Leaver> {
    return this.#byGroup.get(group) ?? none;
  }

  add(leaver: Leaver): void {
    const { group, key } = leaver.instance;
    const found = this.#byGroup.get(group) ?? new Map<string, Leaver>();
    // Moves its incident behind those that changed before.
    this.#byGroup.delete(group);
    this.#byGroup.set(group, found.set(key, leaver));
    dropFirst(found, maxOfGroup);
    dropFirst(this.#byGroup, maxGroups);
  }

  remove(group: string, key: string): void {
    const found = this.#byGroup.get(group);
    if (found?.delete(key) === true && found.size === 0) {
      this.#byGroup.delete(group);
    }
  }

  removeAll(group: string): void {
    this.#byGroup.delete(group);
  }
}

const none: ReadonlyMap<string, Leaver> = new Map();

function dropFirst<K>(map: Map<K, unknown>, max: number): void {
  if (map.size > max) {
    map.delete(map.keys().next().value!);
  }
}
