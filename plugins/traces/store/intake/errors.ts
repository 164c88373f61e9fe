import { defineErrors } from 'svc/sdk';

export const errors = defineErrors('traces', {
  otlp: ['invalid_argument', 'OTLP: {what}'],
  otlp_json: ['invalid_argument', 'OTLP: the body is not JSON: {cause}'],
  body_size: [
    'invalid_argument',
    'The body has more than {max} bytes: send it in smaller parts.',
    413,
  ],
  encoding: [
    'invalid_argument',
    'Traces are accepted uncompressed or with gzip, not with {encoding}.',
    415,
  ],
  wire_type: ['invalid_argument', 'Protobuf: a field has wire type {wire} where 2 was expected.'],
  record_version: [
    'unavailable',
    'The trace store found a WAL record of version {found}, which this svc does not support; upgrade svc.',
  ],
});
