import { defineErrors } from 'svc/sdk';

export const errors = defineErrors('model', {
  silent: [
    'upstream_error',
    '{provider}/{model}: no content for {seconds} seconds, only keep-alives; to wait longer, raise llm.content_timeout_seconds.',
  ],
  broken_stream: ['upstream_error', '{provider}/{model}: {cause}'],
  not_reached: ['upstream_error', '{provider} cannot be reached: {cause}'],
  unanswered: ['upstream_error', '{provider} did not finish its response: {cause}'],
  no_model_there: [
    'upstream_error',
    "{provider} returned a web page instead of a model's response; check {urlSetting}{said}.",
  ],
  key_refused: [
    'upstream_error',
    '{provider} rejected the key (HTTP {status}); check {keySetting}{said}.',
  ],
  unknown: [
    'upstream_error',
    '{provider} has no model {model} (HTTP 404); check its name and {urlSetting}{said}.',
  ],
  too_long: ['upstream_error', 'The conversation is too long for {provider}/{model}{said}.'],
  busy: ['upstream_error', '{provider} {state} (HTTP {status}){said}.'],
  refused: ['upstream_error', '{provider} rejected the request (HTTP {status}){said}.'],
});
