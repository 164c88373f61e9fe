import { defineErrors } from 'svc/sdk';

export const errors = defineErrors('notify', {
  no_notification: ['not_found', 'There is no notification {id}.'],
  not_resendable: ['conflict', 'Notification {id} was {state} and cannot be sent again.'],
  text_expired: [
    'conflict',
    'The text of notification {id} was deleted, because the notification is more than a day old.',
  ],
  too_many_tests: [
    'conflict',
    '{max} tests of this channel are already running; wait for their results.',
  ],
  channel_late: ['unavailable', 'The delivery did not finish within {seconds} s.'],
  no_notice: ['internal', 'Delivery {id} has no notification.'],
});
