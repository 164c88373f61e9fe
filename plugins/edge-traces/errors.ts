import { defineErrors } from 'svc/sdk';

export const errors = defineErrors('edge-traces', {
  not_stored: ['internal', 'the export could not be stored'],
  not_protobuf: ['invalid_argument', 'the body is no ExportTraceServiceRequest in protobuf'],
  not_json: ['invalid_argument', 'the body is not JSON'],
  not_an_object: [
    'invalid_argument',
    'the body is no ExportTraceServiceRequest: "{name}" must stand in an object',
  ],
  not_a_list: [
    'invalid_argument',
    'the body is no ExportTraceServiceRequest: "{name}" must be a list',
  ],
  too_many_exports: ['unavailable', 'too many exports at a time'],
  other_path: ['not_found', 'only {path} is here'],
  other_verb: ['not_found', '{path} takes POST', 405],
  content_type: ['invalid_argument', '{path} takes {protobufType} and {jsonType}', 415],
  content_encoding: ['invalid_argument', 'gzip is the only encoding that is read', 415],
  too_large: [
    'invalid_argument',
    'an export has at most {maxBytes} bytes, and {unpackedBytes} when it is unpacked',
    413,
  ],
  not_gzip: ['invalid_argument', 'the body is no gzip'],
  not_stored_in_time: ['unavailable', 'the export could not be stored in time; send it again'],
});
