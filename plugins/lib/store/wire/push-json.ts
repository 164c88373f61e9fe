import { errors } from './errors.ts';

/** Max levels of arrays and objects: those of OTLP's deepest attribute, three to a value, with some to spare. */
const deepest = 256;

const [quote, backslash] = [0x22, 0x5c];
/** A bracket and a brace differ in one bit. */
const braceBit = 0x20;
const [open, close] = [0x7b, 0x7d];

/**
 * Parses a JSON body of a sender. One that is nested too deep is refused before it is parsed: each level takes the
 * parser some forty times its byte. Throws what JSON.parse throws for what is no JSON.
 */
export function parsePushJson(body: Uint8Array): unknown {
  assertShallow(body);
  return JSON.parse(Buffer.from(body.buffer, body.byteOffset, body.byteLength).toString('utf8'));
}

function assertShallow(body: Uint8Array): void {
  let [depth, isText] = [0, false];
  for (let at = 0; at < body.length; at++) {
    const byte = body[at]!;
    if (isText) {
      if (byte === backslash) {
        at++;
      } else if (byte === quote) {
        isText = false;
      }
    } else if (byte === quote) {
      isText = true;
    } else if ((byte | braceBit) === open) {
      depth += 1;
      if (depth > deepest) {
        throw errors.json_depth({ max: deepest });
      }
    } else if ((byte | braceBit) === close) {
      depth -= 1;
    }
  }
}
