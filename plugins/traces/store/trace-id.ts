import { queryError } from 'svc/query';

/** A trace id as people type it: hexadecimal, zeros at its front may be left out. */
export function traceIdOf(text: string): Uint8Array {
  const wrong = text.search(/[^0-9a-fA-F]/);
  if (wrong >= 0) {
    throw queryError(
      'bad_data',
      `trace IDs can only contain hex characters: invalid character '${String.fromCodePoint(text.codePointAt(wrong)!)}' at position ${wrong + 1}`,
    );
  }
  if (text.length > 32) {
    throw queryError('bad_data', "trace IDs can't be larger than 128 bits");
  }
  if (text === '') {
    throw queryError('bad_data', 'a trace ID is needed');
  }
  return Uint8Array.from(Buffer.from(text.padStart(32, '0'), 'hex'));
}
