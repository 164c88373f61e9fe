import { defineErrors } from 'svc/sdk';

export const errors = defineErrors('password-reset', {
  no_mail: [
    'conflict',
    'Passwords cannot be reset by e-mail, because no SMTP server is configured; ask an administrator for a new password.',
  ],
  mail_away: ['unavailable', 'The mail plugin is not running; enable it to send e-mail.'],
  spent: [
    'unauthorized',
    'The link has already been used, was replaced by a newer one, or is older than half an hour; request a new one.',
  ],
  throttled: ['rate_limited', '{why}; try again in {seconds} s.'],
});
