import { defineErrors } from 'svc/sdk';

export const errors = defineErrors('model', {
  stopped: ['unavailable', 'the model call was stopped before it was sent'],
  request: ['invalid_argument', '{path} {message}'],
  none: ['conflict', 'no model is set up: {setUp}'],
  no_provider: [
    'conflict',
    'the model "{id}" is of no provider; a model is named <provider>/<model> with one of {names}',
  ],
  not_configured: [
    'conflict',
    'the model "{id}" cannot be asked: its provider is not set up; {setUp}',
  ],
  http: ['upstream_error', 'HTTP {status}'],
  no_pattern: [
    'conflict',
    'no known pattern fits this question: name a metric, or set up a model with llm.default_model',
  ],
  silent: [
    'upstream_error',
    '{provider}/{model}: it has sent no content for {seconds} seconds, only signs of life; llm.content_timeout_seconds allows more',
  ],
  broken_stream: ['upstream_error', '{provider}/{model}: {cause}'],
  not_reached: ['upstream_error', '{provider} was not reached: {cause}'],
  unanswered: ['upstream_error', '{provider} did not finish its answer: {cause}'],
});
