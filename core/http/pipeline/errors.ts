import { defineErrors } from '../../sdk/index.ts';

export const errors = defineErrors('http', {
  route_undecided: ['internal', 'The route could not determine whether to accept the body.'],
  no_body_taken: ['invalid_argument', 'This route does not accept a body.'],
  body_no_utf8: ['invalid_argument', 'The body is not valid UTF-8.'],
  body_type: [
    'invalid_argument',
    'The body must be {types}; set the Content-Type header to match.',
    415,
  ],
  body_charset: ['invalid_argument', 'The body must be in UTF-8.', 415],
  body_compressed: ['invalid_argument', 'The body must not be compressed on this route.', 415],
  body_too_large: ['invalid_argument', 'The body is larger than {max}.', 413],
  body_cut: ['invalid_argument', 'The request ended before its body was complete.'],
  body_slow: ['invalid_argument', 'The body took too long to arrive.'],
  body_no_json: ['invalid_argument', 'The body is not valid JSON.'],
  body_surrogate: ['invalid_argument', 'The body contains a \\u escape that is a lone surrogate.'],
  body_deep: ['invalid_argument', 'The body is nested more than {max} levels deep.'],
  body_field: ['invalid_argument', 'The body has a field named {field}, which is never accepted.'],
  no_host: [
    'invalid_argument',
    'The request has no Host header, more than one, or one that is neither a host name nor an address.',
  ],
  no_version: ['invalid_argument', 'The request line must end with the HTTP version, 1.1 or 1.0.'],
  path_long: ['invalid_argument', 'The path is longer than 8 KiB.', 414],
  coding_of_old: [
    'invalid_argument',
    'An HTTP/1.0 request cannot have a Transfer-Encoding; send a Content-Length.',
  ],
  coding_unknown: [
    'invalid_argument',
    'The only accepted Transfer-Encoding is chunked; to compress the body, use Content-Encoding.',
    501,
  ],
  headers_large: [
    'invalid_argument',
    'The request has more than 100 headers, or more than 32 KiB of them.',
    431,
  ],
  route_unknown: ['not_found', 'This route does not exist.'],
  method_unknown: [
    'not_found',
    'This route does not support {method}; it supports {allowed}.',
    405,
  ],
  address_crowded: [
    'unavailable',
    'Too many connections from this address (http.connections_per_address); try again later.',
  ],
  failed_before: ['internal', 'The request failed.'],
  credential_in_url: [
    'invalid_argument',
    'Do not put credentials in the URL: send an Authorization header, or a ticket as the subprotocol svc.ticket.<ticket>.',
  ],
  no_field_taken: [
    'invalid_argument',
    'This route does not accept a body, but it received the field "{field}".',
  ],
});
