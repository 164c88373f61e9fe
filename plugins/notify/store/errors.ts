import { defineErrors } from 'svc/sdk';

export const errors = defineErrors('notify', {
  not_waiting: ['conflict', 'Notification {id} is being sent, or has already ended.'],
});
