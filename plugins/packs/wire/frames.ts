const headerBytes = 4;

/** One message on the channel: its length, then its bytes. */
export function frame(body: Uint8Array): Buffer {
  const framed = Buffer.allocUnsafe(headerBytes + body.byteLength);
  framed.writeUInt32BE(body.byteLength);
  framed.set(body, headerBytes);
  return framed;
}

/**
 * Returns a reader that cuts a byte stream into messages. Node's own IPC channel would buffer
 * whatever length a child claims; here a frame above `maxBytes` is refused by its header, before a
 * byte of it is kept.
 */
export function frameReader(
  maxBytes: number,
  onFrame: (body: Buffer) => void,
  onTooLarge: (bytes: number) => void,
): (chunk: Buffer) => void {
  const header = Buffer.alloc(headerBytes);
  let body: Buffer | undefined;
  let filled = 0;
  let refused = false;
  return (chunk) => {
    let at = 0;
    while (at < chunk.length && !refused) {
      const target = body ?? header;
      const taken = chunk.copy(target, filled, at);
      at += taken;
      filled += taken;
      if (filled < target.length) {
        return;
      }
      filled = 0;
      if (body) {
        const whole = body;
        body = undefined;
        onFrame(whole);
        continue;
      }
      const length = header.readUInt32BE();
      if (length > maxBytes || length === 0) {
        refused = true;
        onTooLarge(length);
        return;
      }
      body = Buffer.allocUnsafe(length);
    }
  };
}
