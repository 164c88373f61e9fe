import { defineErrors } from 'svc/sdk';

export const errors = defineErrors('knowledge', {
  no_vectors: [
    'conflict',
    'no embedding model answers: set knowledge.embedding_model, or search with mode=hybrid, which does without',
  ],
  no_index: ['unavailable', 'there is no {which} index of documents'],
  first_index: [
    'unavailable',
    'documents are being indexed for the first time; search again in a moment',
  ],
});
