import { BrokenStream } from './broken-stream.ts';

export interface SseEvent {
  readonly event: string;
  readonly data: string;
}

const maxLine = 2 * 1024 * 1024;

/** The events of a stream of bytes, whatever way these are cut. */
export async function* sseEvents(pieces: AsyncIterable<Uint8Array>): AsyncGenerator<SseEvent> {
  const decoder = new TextDecoder();
  let rest = '';
  let event = '';
  let data: string[] = [];
  for await (const piece of pieces) {
    const text = decoder.decode(piece, { stream: true });
    rest += text;
    if (rest.length > maxLine) {
      throw new BrokenStream(`a line of the stream is longer than ${maxLine} characters`);
    }
    // Else what has come so far of a long line would be gone through again with every piece.
    if (!text.includes('\n')) {
      continue;
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
