import { defineErrors } from 'svc/sdk';

export const errors = defineErrors('store', {
  number_size: ['invalid_argument', 'A number in the data is out of range.'],
  cut_short: ['invalid_argument', 'The data is truncated.'],
  body_size: [
    'invalid_argument',
    'The body has more than {max} bytes uncompressed: send it in smaller parts.',
    413,
  ],
  gzip: ['invalid_argument', 'gzip: corrupt input'],
  snappy: ['invalid_argument', 'snappy: corrupt input'],
});
