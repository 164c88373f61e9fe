import { defineErrors } from '../../../../core/sdk/index.ts';

export const errors = defineErrors('node-files', {
  too_many: [
    'unavailable',
    'The data folder has more than {most} files that all nodes must have: remove packs, skills or recordings that are not needed.',
  ],
  list_form: ['unavailable', 'The owner of the data sent a list of files that is not one: {cause}'],
  changed: ['unavailable', '{path} changed while it was copied; it is copied again.'],
  not_a_folder: [
    'unavailable',
    '{path} is not a folder, so a file of the owner cannot be kept there: move it away.',
  ],
});
