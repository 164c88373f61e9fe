import { defineErrors } from 'svc/sdk';

export const errors = defineErrors('edge-traces', {
  not_stored: ['internal', 'Failed to store the export.'],
  not_protobuf: ['invalid_argument', 'The body is not a protobuf ExportTraceServiceRequest.'],
  not_json: ['invalid_argument', 'The body is not JSON.'],
  not_an_object: [
    'invalid_argument',
    'The body is not an ExportTraceServiceRequest: "{name}" must be in an object.',
  ],
  not_a_list: [
    'invalid_argument',
    'The body is not an ExportTraceServiceRequest: "{name}" must be a list.',
  ],
  too_many_exports: ['unavailable', 'Too many concurrent exports; retry in a moment.'],
  other_path: ['not_found', 'This address serves only {path}.'],
  other_verb: ['not_found', '{path} supports POST only.', 405],
  content_type: ['invalid_argument', '{path} accepts {protobufType} and {jsonType}.', 415],
  content_encoding: ['invalid_argument', 'Only gzip encoding is supported.', 415],
  too_large: [
    'invalid_argument',
    'An export may be at most {maxBytes} bytes as sent, and {unpackedBytes} bytes uncompressed.',
    413,
  ],
  not_gzip: ['invalid_argument', 'The body is not valid gzip.'],
  not_stored_in_time: ['unavailable', 'Storing the export timed out; send it again.'],
});
