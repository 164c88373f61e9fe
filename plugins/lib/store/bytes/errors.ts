import { defineErrors } from 'svc/sdk';

export const errors = defineErrors('store', {
  number_size: [
    'invalid_argument',
    'a number in the data is larger than any that is written there',
  ],
  cut_short: ['invalid_argument', 'the data ends before it is complete'],
  body_size: [
    'invalid_argument',
    'the body holds more than {max} bytes when it is unpacked: send it in smaller parts',
    413,
  ],
  gzip: ['invalid_argument', 'gzip: corrupt input'],
  snappy: ['invalid_argument', 'snappy: corrupt input'],
});
