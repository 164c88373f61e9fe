import { defineErrors } from 'svc/sdk';

export const errors = defineErrors('notify', {
  no_chart: ['not_found', 'There is no chart: nothing was measured in the last hour.'],
  broken_link: ['not_found', 'The link is incomplete or invalid; open it again from the message.'],
  link_expired: [
    'not_found',
    'The link has expired: links in messages work for a week; sign in to see the incident.',
    410,
  ],
  incident_unreadable: [
    'unavailable',
    'Incident {id} is not available at the moment: alerting is not running, or the incident was deleted; try again in a minute.',
  ],
  message_expired: [
    'not_found',
    'Messages are kept for a day, and this one is older; sign in to see the incidents.',
    410,
  ],
  invalid_template: ['invalid_argument', 'template: {message}'],
});
