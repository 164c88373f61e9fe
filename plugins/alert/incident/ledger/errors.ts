import { defineErrors } from 'svc/sdk';

export const errors = defineErrors('alert', {
  other_writer: ['unavailable', 'Another request changed an incident at the same time; try again.'],
  not_of_one_device: [
    'forbidden',
    'Incident {id} belongs to a rule that does not cover individual hosts; ask an administrator.',
  ],
  wrong_state: ['conflict', 'Incident {id} is {status} and cannot be {what}: {hint}'],
});
