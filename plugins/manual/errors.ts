import { defineErrors } from 'svc/sdk';

export const errors = defineErrors('manual', {
  no_picture: ['not_found', 'The manual has no picture {file}.'],
  no_contact: [
    'not_found',
    'This instance names no contact for vulnerabilities; an administrator sets security.contact.',
  ],
  no_page: ['not_found', 'The manual has no page "{name}"; /docs lists them.'],
});
