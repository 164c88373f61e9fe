import { type Instance, isBurning } from '../../instance/instance.ts';

/**
 * Instances in memory: by rule, by incident, and which incidents have firing instances that
 * channels were not notified of.
 */
export class InstanceTable {
  readonly #byRule = new Map<number, Map<string, Instance>>();
  readonly #byGroup = new Map<string, Map<string, Instance>>();
  readonly #news = new Map<string, Set<string>>();

  get byRule(): ReadonlyMap<number, ReadonlyMap<string, Instance>> {
    return this.#byRule;
  }

  /** Returns the instances of one incident, by its dedupe key. */
  of(group: string): ReadonlyMap<string, Instance> {
    return this.#byGroup.get(group) ?? none;
  }

  hasNews(group: string): boolean {
    return this.#news.has(group);
  }

  /** Undefined: clear. */
  set(ruleId: number, key: string, instance: Instance | undefined): void {
    const known = this.#byRule.get(ruleId)?.get(key);
    if (known !== undefined) {
      removeFrom(this.#byRule, ruleId, key);
      removeFrom(this.#byGroup, known.group, key);
      this.#setNews(known.group, key, false);
    }
    if (instance !== undefined) {
      addTo(this.#byRule, ruleId, instance);
      addTo(this.#byGroup, instance.group, instance);
      this.#setNews(instance.group, key, isNews(instance));
    }
  }

  #setNews(group: string, key: string, is: boolean): void {
    const keys = this.#news.get(group) ?? new Set<string>();
    if (is) {
      this.#news.set(group, keys.add(key));
    } else if (keys.delete(key) && keys.size === 0) {
      this.#news.delete(group);
    }
  }
}

export const isNews = (instance: Instance): boolean => isBurning(instance) && !instance.notified;

const none: ReadonlyMap<string, Instance> = new Map();

function addTo<K>(index: Map<K, Map<string, Instance>>, at: K, instance: Instance): void {
  const found = index.get(at) ?? new Map<string, Instance>();
  index.set(at, found.set(instance.key, instance));
}

function removeFrom<K>(index: Map<K, Map<string, Instance>>, at: K, key: string): void {
  const found = index.get(at);
  if (found?.delete(key) === true && found.size === 0) {
    index.delete(at);
  }
}
