import { defineErrors } from 'svc/sdk';

export const errors = defineErrors('model', {
  silent: [
    'upstream_error',
    '{provider}/{model}: it has sent no content for {seconds} seconds, only signs of life; llm.content_timeout_seconds allows more',
  ],
  broken_stream: ['upstream_error', '{provider}/{model}: {cause}'],
  not_reached: ['upstream_error', '{provider} was not reached: {cause}'],
  unanswered: ['upstream_error', '{provider} did not finish its answer: {cause}'],
});
