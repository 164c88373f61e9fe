import { defineErrors } from 'svc/sdk';

export const errors = defineErrors('alert', {
  too_many_values: [
    'budget_exceeded',
    'The conditions match more than {max} values; use a shorter lookback or a narrower selector.',
  ],
  no_store_to_preview: [
    'unavailable',
    'The {store} store is not running; enable its plugin to preview rules.',
  ],
  may_not_preview: ['forbidden', 'Your role does not grant alert:preview.'],
});
