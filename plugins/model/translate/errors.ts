import { defineErrors } from 'svc/sdk';

export const errors = defineErrors('model', {
  no_pattern: [
    'conflict',
    'no known pattern fits this question: name a metric, or set up a model with llm.default_model',
  ],
});
