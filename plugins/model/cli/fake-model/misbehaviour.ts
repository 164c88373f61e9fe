/** Every way in which a provider was seen to misbehave, and what the scripted model then does. */
export const misbehaviours = {
  'rate-limit': 'refuses a request with 429 and retry-after: 1 the first time it comes',
  'server-error': 'refuses a request with 500 the first time it comes',
  hang: 'takes the request and never answers',
  stall: 'sends half of the answer, then nothing any more',
  ping: 'sends half of the answer, then signs of life without content',
  cut: 'sends half of the answer, then drops the connection',
  'stream-error': 'sends half of the answer, then an error as a chunk',
  slow: 'waits 50 ms before each chunk',
  'split-utf8': 'cuts the bytes of a stream within characters',
  fragments: 'sends the arguments of a call in twenty fragments',
  'bad-arguments': 'sends arguments that are no JSON',
  'unknown-tool': 'calls a tool that it was not offered',
  'same-ids': 'gives all calls of an answer the same id',
  'long-ids': 'gives calls ids of 3 KB',
  empty: 'answers with empty content',
  length: 'stops in the middle, with finish_reason length',
  'no-usage': 'never says what was used',
  'usage-everywhere': 'says what was used in every chunk, not only in the last',
  reasoning: 'sends reasoning_content before the answer',
  endless: 'never ends its answer, whatever max_tokens says',
  page: 'answers 200 with a page of the web',
  'tiny-context': 'refuses more than 1,000 tokens with context_length_exceeded',
} as const;

export type Misbehaviour = keyof typeof misbehaviours;

export const isMisbehaviour = (name: string): name is Misbehaviour =>
  Object.hasOwn(misbehaviours, name);
