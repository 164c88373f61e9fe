import { defineErrors } from '../../sdk/index.ts';

export const errors = defineErrors('http', {
  internal: ['internal', 'Internal error; find the cause in the log by this request id.'],
  changed_since: [
    'conflict',
    'This was changed at {at}, after you read it; load it again and repeat your change.',
  ],
  page_asked: ['invalid_argument', '{name} {problem}'],
});
