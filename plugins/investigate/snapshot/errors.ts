import { defineErrors } from 'svc/sdk';

export const errors = defineErrors('investigate', {
  snapshot_gone: [
    'not_found',
    'The data of investigation {id} is no longer stored; start a new one.',
  ],
  snapshot_damaged: [
    'unavailable',
    '{file}, the data of investigation {id}, is damaged: restore it from a backup, or start a new investigation.',
  ],
});
