import { defineErrors } from 'svc/sdk';

export const errors = defineErrors('logs', {
  push_format: ['invalid_argument', 'There is no push format {format}.'],
  encoding: [
    'invalid_argument',
    'The body has the encoding {packing}; gzip, snappy and none are supported.',
    415,
  ],
  push_json: ['invalid_argument', 'The body is not JSON: {cause}'],
  push_shape: [
    'invalid_argument',
    'The body is not a valid push of log streams: {where} must be {expected}.',
  ],
  too_many_labels: [
    'invalid_argument',
    "couldn't parse labels: a stream has more than {max} labels",
  ],
  label_escape: [
    'invalid_argument',
    "couldn't parse labels: 1:{start}: parse error: the value has an escape sequence that is not valid in Go",
  ],
  label_syntax: ['invalid_argument', "couldn't parse labels: 1:{at}: parse error: {what}"],
});
