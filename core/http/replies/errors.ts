import { defineErrors } from '../../sdk/index.ts';

export const errors = defineErrors('http', {
  internal: ['internal', 'Internal error; search the log for this request id to find the cause.'],
  changed_since: [
    'conflict',
    'This object was changed after you loaded it; load it again and repeat your change.',
  ],
  page_asked: ['invalid_argument', '{name} {problem}'],
});
