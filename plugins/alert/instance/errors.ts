import { defineErrors } from 'svc/sdk';

export const errors = defineErrors('alert', {
  rule_limit: [
    'budget_exceeded',
    'exceeded the limit of the rule: {count} alerts, at most {max}; it keeps its state',
  ],
});
