import { defineErrors } from 'svc/sdk';

export const errors = defineErrors('traces', {
  otlp: ['invalid_argument', 'OTLP: {what}'],
  otlp_json: ['invalid_argument', 'OTLP: the body is no JSON: {cause}'],
  body_size: [
    'invalid_argument',
    'the body has more than {max} bytes: send it in smaller parts',
    413,
  ],
  encoding: [
    'invalid_argument',
    'traces are taken as they are or with gzip, not with {encoding}',
    415,
  ],
  wire_type: ['invalid_argument', 'protobuf: a field has wire type {wire} where 2 was expected'],
  record_version: [
    'unavailable',
    'trace store: a WAL record has version {found}, which this svc does not know; upgrade svc',
  ],
});
