import { defineErrors } from 'svc/sdk';

export const errors = defineErrors('knowledge', {
  no_document: [
    'not_found',
    'There is no document {doc}; find one with "svc knowledge list" or "svc knowledge search".',
  ],
  not_indexed: ['not_found', 'There is no document {document}; find one with knowledge.search.'],
});
