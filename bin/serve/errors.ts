import { defineErrors } from '../../core/sdk/index.ts';

export const errors = defineErrors('serve', {
  start_failed: ['unavailable', '{detail}, because {remedy}'],
});
