import { defineErrors } from 'svc/sdk';

export const errors = defineErrors('store', {
  catalogue_unreadable: ['internal', 'The catalogue {path} cannot be opened: {cause}'],
  catalogue_damaged: [
    'unavailable',
    'The catalogue of the store is damaged; the store rebuilds it and answers again in a moment.',
  ],
  catalogue_version: [
    'unavailable',
    'The catalogue {path} has version {found}, but this svc supports up to {max}: it was written by a newer svc.',
  ],
});
