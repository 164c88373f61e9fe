import { type ToolSkill, toolSkill } from 'svc/sdk';
import { Type } from 'typebox';

import type { Rules } from './rules.ts';

const RuleList = Type.Object({
  q: Type.Optional(
    Type.String({ maxLength: 200, description: 'Text to look for in the name or the key.' }),
  ),
  enabled: Type.Optional(Type.Boolean()),
  limit: Type.Integer({ minimum: 1, maximum: 200, default: 50 }),
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
