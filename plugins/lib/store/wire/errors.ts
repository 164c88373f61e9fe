import { defineErrors } from 'svc/sdk';

export const errors = defineErrors('store', {
  otlp: ['invalid_argument', 'OTLP: {what}'],
  attribute_depth: ['invalid_argument', 'Attribute values are nested more than {max} deep.'],
  protobuf: ['invalid_argument', 'protobuf: {what}'],
});
