import { defineErrors } from 'svc/sdk';

export const errors = defineErrors('manual', {
  no_picture: ['not_found', 'The manual has no image {file}.'],
  no_contact: [
    'not_found',
    'This instance has no contact for vulnerability reports; an administrator can set security.contact.',
  ],
  no_section: ['not_found', 'The manual page "{page}" has no section "{section}".'],
  no_page: ['not_found', 'The manual has no page "{name}"; /docs lists all pages.'],
});
