import { defineErrors } from '../../core/sdk/index.ts';

export const errors = defineErrors('agent', {
  file_unreadable: ['invalid_argument', '{file} cannot be read: {cause}'],
});
