import { messageOf } from 'svc/sdk';

import type { Rule, LiveRules, RuleChange } from './rule.ts';

/** Rules in memory, as stored. */
export class RuleMemory implements LiveRules {
  readonly #rules = new Map<number, Rule>();
  readonly #listeners = new Set<(change: RuleChange) => void>();
  readonly #failed: (cause: string) => void;
  #enabled: readonly Rule[] | undefined;

  constructor(failed: (cause: string) => void) {
    this.#failed = failed;
  }

  enabled(): readonly Rule[] {
    this.#enabled ??= [...this.#rules.values()].filter(({ enabled }) => enabled);
    return this.#enabled;
  }

  get total(): number {
    return this.#rules.size;
  }

  get(id: number): Rule | undefined {
    return this.#rules.get(id);
  }

  onChange(listener: (change: RuleChange) => void): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  pinning(channelId: number): readonly string[] {
    return [...this.#rules.values()]
      .filter((rule) => rule.notify_channel_ids.includes(channelId))
      .map(({ name }) => name);
  }

  /** Loads everything stored; notifies of what is new, changed or deleted since the last time. */
  load(rules: readonly Rule[]): void {
    const gone = new Set(this.#rules.keys());
    for (const rule of rules) {
      gone.delete(rule.id);
      this.keep(rule.id, rule);
    }
    gone.forEach((id) => this.keep(id, undefined));
  }

  /** Updates one rule; undefined deletes it. Idempotent. */
  keep(id: number, rule: Rule | undefined): void {
    const before = this.#rules.get(id);
    if (rule === undefined) {
      if (before !== undefined) {
        this.#rules.delete(id);
        this.#notify({ kind: 'deleted', rule: before, before });
      }
      return;
    }
    // The result of a read that began before a change may arrive after it.
    if (before !== undefined && before.updated_at >= rule.updated_at) {
      return;
    }
    this.#rules.set(id, rule);
    this.#notify(
      before === undefined
        ? { kind: 'created', rule }
        : { kind: changeOf(before, rule), rule, before },
    );
  }

  #notify(change: RuleChange): void {
    this.#enabled = undefined;
    for (const listener of this.#listeners) {
      try {
        listener(change);
      } catch (error) {
        this.#failed(messageOf(error));
      }
    }
  }
}

function changeOf(before: Rule, { enabled }: Rule): RuleChange['kind'] {
  return before.enabled === enabled ? 'updated' : enabled ? 'enabled' : 'disabled';
}
