import { defineErrors } from 'svc/sdk';

export const errors = defineErrors('marketplace', {
  path_leads_out: [
    'invalid_argument',
    'The manifest lists {path} under "{field}", which points outside the pack.',
  ],
  manifest_not_json: ['invalid_argument', '{path} is not JSON: {cause}'],
  manifest_no_object: ['invalid_argument', '{path} is not a JSON object.'],
  manifest_refused: ['invalid_argument', 'plugin.json {message}'],
  name_taken: [
    'conflict',
    '{id} uses the name "{name}", which another persona or skill already has; its author must choose a different one.',
  ],
});
