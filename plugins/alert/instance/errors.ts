import { defineErrors } from 'svc/sdk';

export const errors = defineErrors('alert', {
  rule_limit: [
    'budget_exceeded',
    'The rule exceeds its limit: {count} alerts, at most {max}; its state is unchanged.',
  ],
});
