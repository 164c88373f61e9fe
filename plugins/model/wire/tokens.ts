import type { ModelRequest } from 'svc/contracts/model';

/** Estimates the tokens of a text if the provider does not report them: four bytes each. */
export const estimatedTokens = (what: string | Pick<ModelRequest, 'messages' | 'tools'>): number =>
  Math.ceil(bytesOf(what) / 4);

/**
 * Returns an upper bound of a request's tokens, known in advance: they are rarely shorter than
 * three bytes.
 */
export const tokenBound = (what: Pick<ModelRequest, 'messages' | 'tools'>): number =>
  Math.ceil(bytesOf(what) / 3) + 16;

const bytesOf = (what: string | Pick<ModelRequest, 'messages' | 'tools'>): number =>
  Buffer.byteLength(
    typeof what === 'string'
      ? what
      : JSON.stringify(what.messages) + (what.tools.length > 0 ? JSON.stringify(what.tools) : ''),
  );
