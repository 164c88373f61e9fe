import { defineErrors } from 'svc/sdk';

export const errors = defineErrors('mail', {
  endpoint: ['invalid_argument', 'endpoint {message}'],
  address: ['invalid_argument', 'to is no address of e-mail such as ann@example.org'],
  no_address: ['invalid_argument', 'an e-mail needs addresses such as ann@example.org'],
  not_configured: ['conflict', 'mail.host is not set: name the SMTP server that takes our e-mail'],
  no_sender: ['conflict', 'mail.from is not set: name the address that our e-mail comes from'],
  unreachable: ['upstream_error', '{host} could not be given an e-mail: {cause}'],
  connection: ['upstream_error', '{cause}'],
  refused: ['conflict', '{host} refused the e-mail: {said}'],
  later: ['unavailable', '{host} does not take the e-mail now: {said}'],
});
