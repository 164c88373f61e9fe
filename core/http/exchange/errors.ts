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
  path_encoding: ['invalid_argument', 'The path has an invalid percent encoding.'],
  query_too_long: ['invalid_argument', 'The query has {count} parameters; at most {max} are read.'],
  query_encoding: ['invalid_argument', 'The query has an invalid percent encoding.'],
  cursor_key: ['invalid_argument', 'The key that seals cursors must have 32 bytes.'],
  public_url: [
    'invalid_argument',
    'SVC_PUBLIC_URL is "{address}", which is not a URL; write it like https://ops.example.com.',
  ],
});
