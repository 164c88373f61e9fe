import { defineErrors } from 'svc/sdk';

export const errors = defineErrors('knowledge', {
  no_document: [
    'not_found',
    'there is no document {doc}; "svc knowledge list" and "svc knowledge search" show those there are',
  ],
  not_indexed: [
    'not_found',
    'there is no document {document}; knowledge.search finds documents by what they say',
  ],
});
