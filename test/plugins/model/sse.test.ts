import assert from 'node:assert/strict';
import { test } from 'node:test';

import { sseEvents } from '../../../plugins/model/wire/sse.ts';
import { BrokenStream } from '../../../plugins/model/wire/broken-stream.ts';

async function eventsOf(text: string, piece: number): Promise<string[]> {
  const bytes = Buffer.from(text);
  async function* pieces(): AsyncGenerator<Uint8Array> {
    for (let at = 0; at < bytes.length; at += piece) {
      yield bytes.subarray(at, at + piece);
    }
  }
  const found: string[] = [];
  for await (const { data } of sseEvents(pieces())) {
    found.push(data);
  }
  return found;
}

test('events are the same however their bytes are cut, and a line without end is refused', async () => {
  const long = 'ü'.repeat(200_000);
  for (const piece of [7_001, 64 * 1024, 1e9]) {
    assert.deepEqual(await eventsOf(`data: ${long}\r\n\r\ndata: a\ndata: b\n\ndata: c`, piece), [
      long,
      'a\nb',
      'c',
    ]);
  }
  await assert.rejects(eventsOf(`data: ${'a'.repeat(3_000_000)}`, 64 * 1024), BrokenStream);
});
