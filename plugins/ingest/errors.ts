import { defineErrors } from 'svc/sdk';

export const errors = defineErrors('ingest', {
  encoding: [
    'invalid_argument',
    'the body is encoded with {name}, which this route does not read; it reads {accepted}',
    415,
  ],
  too_fast: [
    'rate_limited',
    'this sender pushes more {what} than it may; try again in {seconds} s',
  ],
  memory_full: ['rate_limited', 'too many bytes of pushes are in memory; try again in a second'],
  no_body: ['invalid_argument', 'the request has no body'],
  no_push_route: ['not_found', 'no push route {to}; upgrade the older of manager and edge'],
  media_type: ['invalid_argument', '{to} takes {consumes}', 415],
  no_credential: ['unauthorized', 'show the keys of an edge, or an API token that may push'],
  no_push_right: ['forbidden', 'this credential does not hold ingest:push'],
  not_narrowable: [
    'forbidden',
    'this account sees the devices of its organization alone, and pushing cannot be narrowed to them; ask an administrator',
  ],
  unknown_message: [
    'invalid_argument',
    'the message {message} is not known; send prometheus.WriteRequest or io.prometheus.write.v2.Request',
    415,
  ],
  samples_refused: ['invalid_argument', '{samples} refused: {reasons}'],
  lines_refused: ['invalid_argument', '{reasons}'],
});
