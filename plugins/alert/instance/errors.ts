import { defineErrors } from 'svc/sdk';

export const errors = defineErrors('alert', {
  rule_limit: [
    'budget_exceeded',
    'The rule produced {count} alerts, but its limit is {max}; its state is unchanged.',
  ],
});
