import { defineErrors } from 'svc/sdk';

export const errors = defineErrors('knowledge', {
  no_vectors: [
    'conflict',
    'No embedding model is available: set knowledge.embedding_model, or search with mode=hybrid, which works without one.',
  ],
  no_index: ['unavailable', 'There is no {which} document index.'],
  index_moved: [
    'conflict',
    'The search index is at change {seq} instead of {from}: another thread is writing to it.',
  ],
  index_changed: ['internal', 'The search index differs from what was written.'],
  index_damaged: [
    'unavailable',
    'The search index is damaged and is being rebuilt; search again in a moment.',
  ],
  not_cancellable: [
    'conflict',
    'Indexing runs whenever documents change and cannot be cancelled; to stop it, disable the knowledge plugin.',
  ],
  first_index: [
    'unavailable',
    'Documents are being indexed for the first time; search again in a moment.',
  ],
});
