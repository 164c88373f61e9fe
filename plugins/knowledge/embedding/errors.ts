import { defineErrors } from 'svc/sdk';

export const errors = defineErrors('knowledge', {
  embedding_answer: [
    'upstream_error',
    'The embedding model {model} returned {count} vectors for {textsCount} texts, or invalid ones.',
  ],
  embedding_status: [
    'upstream_error',
    'The embedding model {model} responded with status {status}; check knowledge.embedding_url, _model and _key.',
  ],
  embedding_not_json: ['upstream_error', 'The embedding model {model} did not return JSON.'],
});
