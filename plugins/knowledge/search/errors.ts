import { defineErrors } from 'svc/sdk';

export const errors = defineErrors('knowledge', {
  no_vectors: [
    'conflict',
    'no embedding model answers: set knowledge.embedding_model, or search with mode=hybrid, which does without',
  ],
  no_index: ['unavailable', 'there is no {which} index of documents'],
  index_moved: [
    'conflict',
    'the index of documents is at change {seq} and not at {from}: another thread writes it',
  ],
  not_cancellable: [
    'conflict',
    'the index of documents follows them and cannot be cancelled; disable knowledge instead',
  ],
  first_index: [
    'unavailable',
    'documents are being indexed for the first time; search again in a moment',
  ],
});
