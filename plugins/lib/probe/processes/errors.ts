import { defineErrors } from 'svc/sdk';

export const errors = defineErrors('probe', {
  process_parameter: ['invalid_argument', '"processes" accepts top and sort_by, not {unknown}.'],
  top: ['invalid_argument', '"top" must be a whole number from 1 to {max}.'],
  sort_by: ['invalid_argument', 'sort_by must be cpu or mem.'],
});
