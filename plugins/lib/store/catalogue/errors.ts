import { defineErrors } from 'svc/sdk';

export const errors = defineErrors('store', {
  catalogue_unreadable: ['internal', 'The catalogue {path} cannot be opened: {cause}'],
  catalogue_damaged: [
    'unavailable',
    "The store's catalogue is damaged; the store is rebuilding it and will be available again in a moment.",
  ],
  catalogue_version: [
    'unavailable',
    'The catalogue {path} has version {found}, but this version of svc supports versions up to {max}: it was written by a newer version of svc.',
  ],
});
