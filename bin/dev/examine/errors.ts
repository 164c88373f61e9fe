import { defineErrors } from '../../../core/sdk/index.ts';

export const errors = defineErrors('dev', {
  entry_missing: [
    'invalid_argument',
    '{path}/plugin.json refers to the entry "{entry}", which is not in the folder; add the file or correct the name',
  ],
  not_javascript: [
    'invalid_argument',
    '{path}/{name} is not JavaScript ({cause}); build the plugin again',
  ],
});
