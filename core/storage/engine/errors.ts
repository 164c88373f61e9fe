import { defineErrors } from '../../sdk/index.ts';

export const errors = defineErrors('storage', {
  write_lost: [
    'unavailable',
    'The database writer stopped ({cause}): no part of this write was stored. Try again.',
  ],
  commit_unknown: [
    'unavailable',
    'The database writer stopped ({cause}) during the commit: check whether this write was stored before you try again.',
  ],
  writer_down: ['unavailable', 'The database does not accept writes: {cause}'],
});
