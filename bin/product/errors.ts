import { defineErrors } from '../../core/sdk/index.ts';

export const errors = defineErrors('product', {
  no_folder: [
    'unavailable',
    'svc has no folder for its own files ({complaints}): set XDG_CACHE_HOME to a folder that only this user can write to',
  ],
});
