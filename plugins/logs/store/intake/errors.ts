import { defineErrors } from 'svc/sdk';

export const errors = defineErrors('logs', {
  push_format: ['invalid_argument', 'there is no push format {format}'],
  encoding: [
    'invalid_argument',
    'the body is encoded with {packing}; gzip, snappy and none are read',
    415,
  ],
  push_json: ['invalid_argument', 'the body is not JSON: {cause}'],
  push_shape: ['invalid_argument', 'the body is no push of streams: {where} must be {expected}'],
  too_many_labels: [
    'invalid_argument',
    "couldn't parse labels: a stream has more than {max} labels",
  ],
  label_escape: [
    'invalid_argument',
    "couldn't parse labels: 1:{start}: parse error: the value has an escape that is none of Go's",
  ],
  label_syntax: ['invalid_argument', "couldn't parse labels: 1:{at}: parse error: {what}"],
});
