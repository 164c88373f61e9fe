import { defineErrors } from 'svc/sdk';

export const errors = defineErrors('manual', {
  no_picture: ['not_found', 'The manual has no picture {file}.'],
  no_page: ['not_found', 'The manual has no page "{name}"; /docs lists them.'],
});
