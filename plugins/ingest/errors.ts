import { defineErrors } from 'svc/sdk';

export const errors = defineErrors('ingest', {
  encoding: [
    'invalid_argument',
    'The body has the encoding {name}, which this route does not support; it supports {accepted}.',
    415,
  ],
  too_fast: ['rate_limited', 'This sender exceeds its limit of {what}; try again in {seconds} s.'],
  memory_full: [
    'rate_limited',
    'Pushes in progress are using too much memory; try again in a second.',
  ],
  store_silent: [
    'unavailable',
    'The {signal} store did not respond within {seconds} s; send the same request again later.',
  ],
  no_body: ['invalid_argument', 'The request has no body.'],
  no_push_route: [
    'not_found',
    'There is no push route {to}; upgrade the manager or the edge, whichever is older.',
  ],
  media_type: ['invalid_argument', '{to} accepts {consumes}.', 415],
  no_credential: [
    'unauthorized',
    "Authenticate with an edge's keys, or with an API token that is allowed to push.",
  ],
  no_push_right: ['forbidden', 'This credential does not grant ingest:push.'],
  not_narrowable: [
    'forbidden',
    'This account sees only the devices of its organization, and pushes cannot be limited to them; ask an administrator.',
  ],
  unknown_message: [
    'invalid_argument',
    'The message type {message} is unknown; send prometheus.WriteRequest or io.prometheus.write.v2.Request.',
    415,
  ],
  samples_refused: ['invalid_argument', '{samples} rejected: {reasons}'],
  lines_refused: ['invalid_argument', '{reasons}'],
});
