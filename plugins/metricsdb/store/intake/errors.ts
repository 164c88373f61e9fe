import { defineErrors } from 'svc/sdk';

export const errors = defineErrors('metricsdb', {
  exposition_utf8: ['invalid_argument', 'the exposition cannot be read: it is not valid UTF-8'],
  exposition_line: ['invalid_argument', 'the exposition cannot be read: line {line}: {what}'],
  otlp_json: ['invalid_argument', 'OTLP: the body is no JSON'],
  encoding: [
    'invalid_argument',
    'the encoding "{encoding}" is not read here; snappy, gzip and none are',
    415,
  ],
  first_symbol: [
    'invalid_argument',
    'the body is no remote write request: its first symbol is not empty',
  ],
  remote_write: [
    'invalid_argument',
    'the body is no remote write request: its protobuf is corrupt',
  ],
});
