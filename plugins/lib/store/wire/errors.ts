import { defineErrors } from 'svc/sdk';

export const errors = defineErrors('store', {
  otlp: ['invalid_argument', 'OTLP: {what}'],
  attribute_depth: ['invalid_argument', 'Attribute values are nested more than {max} levels deep.'],
  json_depth: [
    'invalid_argument',
    'The body has arrays and objects nested more than {max} levels deep.',
  ],
  json_values: [
    'invalid_argument',
    'One part of the body has more than {max} values, such as a resource with that many attributes; send it as several.',
  ],
  protobuf: ['invalid_argument', 'protobuf: {what}'],
});
