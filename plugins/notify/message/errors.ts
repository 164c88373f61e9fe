import { defineErrors } from 'svc/sdk';

export const errors = defineErrors('notify', {
  no_chart: ['not_found', 'There is no chart, because there is no data from the last hour.'],
  broken_link: ['not_found', 'The link is incomplete or invalid; open it again from the message.'],
  link_expired: [
    'not_found',
    'The link has expired, because links in messages work for a week; sign in to see the incident.',
    410,
  ],
  incident_unreadable: [
    'unavailable',
    'Incident {id} is not available at the moment: alerting is not running, or the incident was deleted; try again in a minute.',
  ],
  message_expired: [
    'not_found',
    'This message is no longer stored, because messages are kept for a day; sign in to see the incidents.',
    410,
  ],
  invalid_template: ['invalid_argument', 'template: {message}'],
});
