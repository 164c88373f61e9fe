import { defineErrors } from 'svc/sdk';

export const errors = defineErrors('password-reset', {
  no_mail: [
    'conflict',
    'passwords cannot be reset by e-mail here, because no SMTP server is set; ask an administrator for another password',
  ],
  mail_away: ['unavailable', 'e-mail waits: the plugin mail is not running; enable it'],
  spent: [
    'unauthorized',
    'the link was used already, was replaced by a newer one, or is older than half an hour; ask for another',
  ],
  throttled: ['rate_limited', '{why}; try again in {seconds} s'],
});
