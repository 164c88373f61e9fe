import { defineErrors } from 'svc/sdk';

export const errors = defineErrors('model', {
  no_pattern: [
    'conflict',
    'No known pattern matches this question: mention a metric by name, or configure a model with llm.default_model.',
  ],
});
