/** Every way in which a provider was seen to misbehave, and what the scripted model then does. */
export const misbehaviours = {
  'rate-limit': 'answers the first request with 429 and retry-after: 1',
  'server-error': 'answers the first request with 500',
  hang: 'accepts the request and never answers',
  stall: 'sends half of the answer, then stalls',
  ping: 'sends half of the answer, then keep-alives without content',
  cut: 'sends half of the answer, then drops the connection',
  'stream-error': 'sends half of the answer, then an error as a chunk',
  slow: 'waits 50 ms before each chunk',
  'split-utf8': 'splits the bytes of a stream within characters',
  fragments: 'sends the arguments of a call in twenty fragments',
  'bad-arguments': 'sends arguments that are not JSON',
  'unknown-tool': 'calls a tool that is not available',
  'same-ids': 'gives all calls of an answer the same id',
  'long-ids': 'gives calls ids of 3 KB',
  empty: 'answers with empty content',
  length: 'stops in the middle with finish_reason length',
  'no-usage': 'never reports usage',
  'usage-everywhere': 'reports usage in every chunk, not only in the last',
  reasoning: 'sends reasoning_content before the answer',
  endless: 'never ends its answer, ignoring max_tokens',
  page: 'answers 200 with an HTML page',
  'tiny-context': 'refuses more than 1,000 tokens with context_length_exceeded',
} as const;

export type Misbehaviour = keyof typeof misbehaviours;

export const isMisbehaviour = (name: string): name is Misbehaviour =>
  Object.hasOwn(misbehaviours, name);
