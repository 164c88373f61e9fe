import { defineErrors } from 'svc/sdk';

export const errors = defineErrors('skill', {
  nothing_to_compare: [
    'invalid_argument',
    'file_diff takes at least two devices, or one device and "other_path".',
  ],
  file_large: [
    'invalid_argument',
    '{path} is larger than {maxBytes} bytes; only smaller files are compared.',
  ],
  file_changed: ['unavailable', '{path} changed while it was being read; try again.'],
  no_piece: [
    'upstream_error',
    'The answer of {key} is not a part of a file; update the agent on this host.',
  ],
});
