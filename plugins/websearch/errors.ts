import { defineErrors } from 'svc/sdk';

export const errors = defineErrors('websearch', {
  no_provider_named: [
    'invalid_argument',
    'provider is needed: name who is tried with that address or token',
  ],
  none: ['conflict', 'websearch.provider is none: the administrator sets who searches'],
  not_configured: ['conflict', '{missing} is not set, and {title} needs it'],
  not_found_before: [
    'forbidden',
    'web_read reads only pages that web_search has found within the hour; search for it, and give the address as it was found',
  ],
  page: ['upstream_error', 'the page could not be read: {why}'],
});
