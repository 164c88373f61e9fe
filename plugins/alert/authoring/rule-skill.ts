import { covers, type ToolSkill, toolSkill } from 'svc/sdk';
import { Type } from 'typebox';

import { errors } from './errors.ts';
import { RuleDraft } from './rule-schema.ts';
import type { Rules } from './rules.ts';

const RuleList = Type.Object({
  q: Type.Optional(
    Type.String({
      maxLength: 200,
      description: 'Only rules whose name or key contains this text.',
    }),
  ),
  enabled: Type.Optional(Type.Boolean()),
  limit: Type.Integer({ minimum: 1, maximum: 200, default: 50 }),
});

/** The skill that creates a rule, once a person has signed what they see of it. */
export const ruleDraftSkill = (rules: Pick<Rules, 'create'>): ToolSkill =>
  toolSkill({
    scope: 'manager',
    class: 'mutating',
    tier: 'specialty',
    key: 'rule_create',
    name: 'Create a rule',
    description:
      'Creates an alert rule that takes effect at once. Preview the draft with rule_preview first.',
    params: RuleDraft,
    run: (draft, { principal }) => {
      if (!principal.grants.some((grant) => covers(grant, 'alert:write'))) {
        throw errors.may_not_create();
      }
      return rules.create(
        { principal, note: () => undefined, requireMatch: () => undefined },
        draft,
      );
    },
  });

/** The skill that lists rules. */
export const ruleSkill = (rules: Rules): ToolSkill =>
  toolSkill({
    scope: 'manager',
    class: 'safe',
    tier: 'core',
    devices: 'narrowed',
    key: 'rules_list',
    name: 'Alert rules',
    description: 'Alert rules with their conditions, newest first.',
    params: RuleList,
    run: async ({ q, enabled, limit }) => {
      const { items, total } = await rules.list(
        { ...(q !== undefined && { q }), ...(enabled !== undefined && { enabled }) },
        { limit },
      );
      return { total, rules: items };
    },
  });
