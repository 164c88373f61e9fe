import { defineErrors } from 'svc/sdk';

export const errors = defineErrors('notify', {
  no_notification: ['not_found', 'there is no notification {id}'],
  not_resendable: ['conflict', 'the notification {id} was {state} and cannot be sent again'],
  text_expired: [
    'conflict',
    'the text of the notification {id} is no longer kept; it is older than a day',
  ],
  too_many_tests: ['conflict', '{max} tests of this channel are running; wait for their results'],
  channel_late: ['unavailable', 'the channel did not end its delivery within {seconds} s'],
  no_notice: ['internal', 'delivery {id} has no notice'],
});
