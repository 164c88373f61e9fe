import { defineErrors } from 'svc/sdk';

export const errors = defineErrors('notify', {
  no_chart: ['not_found', 'there is no chart of this: nothing was measured of it in the last hour'],
  broken_link: [
    'not_found',
    'the link is not complete, or was never sent; open it from the message again',
  ],
  link_expired: [
    'not_found',
    'the link has expired: links in messages open for a week; sign in to see the incident',
    410,
  ],
  incident_unreadable: [
    'unavailable',
    'incident {id} cannot be read now: alerting does not run, or the incident is no longer kept; try again in a minute',
  ],
  message_expired: [
    'not_found',
    'what a message said is kept for a day, and this one is older; sign in to see the incidents',
    410,
  ],
  invalid_template: ['invalid_argument', 'template: {message}'],
});
