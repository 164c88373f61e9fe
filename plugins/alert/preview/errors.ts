import { defineErrors } from 'svc/sdk';

export const errors = defineErrors('alert', {
  too_many_values: [
    'budget_exceeded',
    'the conditions match more than {max} values; choose a shorter lookback or a narrower selector',
  ],
  no_store_to_preview: [
    'unavailable',
    'the {store} store is not running; enable its plugin to preview rules',
  ],
  may_not_preview: ['forbidden', 'your role does not hold alert:preview'],
});
