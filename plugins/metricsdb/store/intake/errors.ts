import { defineErrors } from 'svc/sdk';

export const errors = defineErrors('metricsdb', {
  exposition_utf8: ['invalid_argument', 'The exposition is not valid UTF-8.'],
  exposition_line: ['invalid_argument', 'The exposition is invalid: line {line}: {what}'],
  otlp_json: ['invalid_argument', 'OTLP: the body is not JSON.'],
  encoding: [
    'invalid_argument',
    'The encoding "{encoding}" is not supported; snappy, gzip and none are.',
    415,
  ],
  first_symbol: [
    'invalid_argument',
    'The body is not a remote write request: its first symbol is not empty.',
  ],
  remote_write: [
    'invalid_argument',
    'The body is not a remote write request: its protobuf is corrupt.',
  ],
});
