import { defineErrors } from 'svc/sdk';

export const errors = defineErrors('investigate', {
  snapshot_gone: [
    'not_found',
    'The data of investigation {id} is no longer stored; start a new one.',
  ],
});
