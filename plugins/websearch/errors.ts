import { defineErrors } from 'svc/sdk';

export const errors = defineErrors('websearch', {
  no_provider_named: [
    'invalid_argument',
    '"provider" is required: specify the provider that the address or token belongs to.',
  ],
  none: ['conflict', 'websearch.provider is none: an administrator must set a provider.'],
  not_configured: ['conflict', '{missing} is not set, but {title} requires it.'],
  not_found_before: [
    'forbidden',
    'web_read can only read pages that web_search has found within the last hour; search for the page, and pass its address exactly as found.',
  ],
  page: ['upstream_error', 'Failed to read the page: {why}'],
});
