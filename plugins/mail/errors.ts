import { defineErrors } from 'svc/sdk';

export const errors = defineErrors('mail', {
  endpoint: ['invalid_argument', 'endpoint {message}'],
  address: ['invalid_argument', '"to" must be an e-mail address such as ann@example.org.'],
  no_address: ['invalid_argument', 'The addresses of an e-mail must look like ann@example.org.'],
  not_configured: [
    'conflict',
    'mail.host is not set: set it to the SMTP server to send e-mail through.',
  ],
  no_sender: [
    'conflict',
    'mail.from is not set: set it to the sender address for e-mail from svc.',
  ],
  unreachable: ['upstream_error', 'Failed to send an e-mail through {host}: {cause}'],
  connection: ['upstream_error', '{cause}'],
  refused: ['conflict', '{host} rejected the e-mail: {said}'],
  later: ['unavailable', '{host} is not accepting the e-mail at the moment: {said}'],
});
