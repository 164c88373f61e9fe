import { defineErrors } from '../../sdk/index.ts';

export const errors = defineErrors('http', {
  client_gone: ['unavailable', 'The client disconnected.'],
  target_no_path: ['invalid_argument', 'The request target must be a path that begins with "/".'],
  path_dots: ['invalid_argument', 'The path has a "." or ".." segment; send the resolved path.'],
  path_character: [
    'invalid_argument',
    'The path has an encoded slash, a backslash or a control character, which no route accepts.',
  ],
  path_dots_encoded: [
    'invalid_argument',
    'The path has an encoded "." or ".." segment, which no route accepts.',
  ],
  path_encoding: ['invalid_argument', 'The path contains invalid percent-encoding.'],
  query_too_long: [
    'invalid_argument',
    'The query string has {count} parameters, but the limit is {max}.',
  ],
  query_encoding: ['invalid_argument', 'The query string contains invalid percent-encoding.'],
  cursor_key: ['invalid_argument', 'The key that seals cursors must be 32 bytes long.'],
  public_url: [
    'invalid_argument',
    'SVC_PUBLIC_URL is "{address}", which is not a valid URL; use the form https://ops.example.com.',
  ],
});
