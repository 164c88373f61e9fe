import { defineErrors } from 'svc/sdk';

export const errors = defineErrors('knowledge', {
  embedding_answer: [
    'upstream_error',
    'the embedding model {model} answered {count} vectors for {textsCount} texts, or some that are no vectors',
  ],
  embedding_status: [
    'upstream_error',
    'the embedding model {model} answered {status}; see knowledge.embedding_url, _model and _key',
  ],
  embedding_not_json: ['upstream_error', 'the embedding model {model} did not answer with JSON'],
});
