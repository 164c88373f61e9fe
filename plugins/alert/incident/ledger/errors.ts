import { defineErrors } from 'svc/sdk';

export const errors = defineErrors('alert', {
  other_writer: ['unavailable', 'another writer changed an incident meanwhile; try again'],
  not_of_one_device: [
    'forbidden',
    'incident {id} is of a rule that is not about single hosts; ask an administrator',
  ],
  wrong_state: ['conflict', 'incident {id} is {status} and cannot be {what}: {hint}'],
});
