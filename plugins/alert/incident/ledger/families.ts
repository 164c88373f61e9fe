import type { Plan, Rule, LiveRules } from '../../rule/rule.ts';
import type { Incident } from './incident.ts';

/** Tells what the rule of an incident measures; empty where that is not known. */
export type FamilyOf = (incident: Pick<Incident, 'rule_id'>) => string;

/**
 * Families of rules: those that measure the same thing, each against a threshold of its own, such as a warning and a
 * critical one of the same metric.
 */
export class Families {
  readonly #liveRules: Pick<LiveRules, 'get'>;
  readonly #planOf: (rule: Rule) => Plan;
  /** An edited rule is another object. */
  readonly #known = new WeakMap<Rule, string>();

  constructor(liveRules: Pick<LiveRules, 'get'>, planOf: (rule: Rule) => Plan) {
    this.#liveRules = liveRules;
    this.#planOf = planOf;
  }

  of({ rule_id: id }: Pick<Incident, 'rule_id'>): string {
    const rule = this.#liveRules.get(id);
    if (rule === undefined) {
      return '';
    }
    const family = this.#known.get(rule) ?? familyOf(this.#planOf(rule));
    this.#known.set(rule, family);
    return family;
  }
}

/** A condition without a comparison of its own shares its measure with no other. */
function familyOf({ legs }: Plan): string {
  return legs.some(({ measure }) => measure === undefined)
    ? ''
    : JSON.stringify(legs.map(({ store, measure }) => [store, measure]));
}
