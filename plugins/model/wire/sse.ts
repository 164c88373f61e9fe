export interface SseEvent {
  readonly event: string;
  readonly data: string;
}

const maxLine = 8 * 1024 * 1024;

/** The events of a stream of bytes, whatever way these are cut. */
export async function* sseEvents(pieces: AsyncIterable<Uint8Array>): AsyncGenerator<SseEvent> {
  const decoder = new TextDecoder();
  let rest = '';
  let event = '';
  let data: string[] = [];
  for await (const piece of pieces) {
    rest += decoder.decode(piece, { stream: true });
    if (rest.length > maxLine) {
      throw new RangeError('a line of the stream is too long');
    }
    const lines = rest.split(/\r\n|\n/);
    rest = lines.pop()!;
    for (const line of lines) {
      if (line === '') {
        if (data.length > 0) {
          yield { event, data: data.join('\n') };
        }
        [event, data] = ['', []];
      } else if (line.startsWith('data:')) {
        data.push(line.slice(line[5] === ' ' ? 6 : 5));
      } else if (line.startsWith('event:')) {
        event = line.slice(6).trim();
      }
    }
  }
  // Some end without the empty line.
  const last = rest.startsWith('data:') ? [...data, rest.slice(5).trimStart()] : data;
  if (last.length > 0) {
    yield { event, data: last.join('\n') };
  }
}
