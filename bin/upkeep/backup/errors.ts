import { defineErrors } from '../../../core/sdk/index.ts';

export const errors = defineErrors('backup', {
  changed_midway: [
    'conflict',
    'the backup {dir} changed while it was copied: nothing was changed; try again',
  ],
  changes_too_fast: [
    'unavailable',
    '{unit} changes faster than it can be copied ({tries} attempts): try again when less is written to it',
  ],
});
