import type { ModelRequest } from 'svc/contracts/model';

/** About what a text costs, where the provider does not say: four bytes are a token. */
export const estimatedTokens = (what: string | Pick<ModelRequest, 'messages' | 'tools'>): number =>
  Math.ceil(bytesOf(what) / 4);

/** Upper bound of what a request costs, as far as that can be known before: tokens are rarely shorter than three bytes. */
export const tokenBound = (what: Pick<ModelRequest, 'messages' | 'tools'>): number =>
  Math.ceil(bytesOf(what) / 3) + 16;

const bytesOf = (what: string | Pick<ModelRequest, 'messages' | 'tools'>): number =>
  Buffer.byteLength(
    typeof what === 'string'
      ? what
      : JSON.stringify(what.messages) + (what.tools.length > 0 ? JSON.stringify(what.tools) : ''),
  );
