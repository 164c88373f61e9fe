import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { test } from 'node:test';
import { deflateSync, gzipSync } from 'node:zlib';

import { gunzip } from 'svc/store';

const megabyte = 1_048_576;
const limit = { maxBytes: 64 * megabyte };
const tooLarge = (bytes: number) => ({
  code: 'invalid_argument',
  status: 413,
  message: `The body has more than ${bytes} bytes uncompressed: send it in smaller parts.`,
});

test('a body is what it was before it was packed, in one part, in several, and by deflate', () => {
  for (const body of [
    Buffer.alloc(0),
    Buffer.from('a line'),
    randomBytes(300_000),
    Buffer.alloc(megabyte / 2, 'a line that comes again and again; '),
  ]) {
    assert.ok(Buffer.from(gunzip(gzipSync(body), limit)).equals(body));
    assert.ok(Buffer.from(gunzip(deflateSync(body), limit)).equals(body));
    assert.ok(
      Buffer.from(gunzip(Buffer.concat([gzipSync(body), gzipSync('end')]), limit)).equals(
        Buffer.concat([body, Buffer.from('end')]),
      ),
    );
  }
  const large = Buffer.concat([randomBytes(megabyte), Buffer.alloc(19 * megabyte)]);
  assert.equal(gunzip(gzipSync(large), limit).length, large.length);
});

test('one that says it is too large is refused before a byte is unpacked', () => {
  const bomb = gzipSync(Buffer.alloc(65 * megabyte));
  // Nothing of it can be unpacked: only what it says of itself is looked at.
  bomb.fill(0xff, 10, bomb.length - 8);
  assert.throws(() => gunzip(bomb, limit), tooLarge(64 * megabyte));
  assert.throws(() => gunzip(gzipSync('longer than this'), { maxBytes: 10 }), tooLarge(10));
});

test('one that grows as no telemetry does, or says less than it has, is refused at 1 MiB', () => {
  const zeros = gzipSync(Buffer.alloc(60 * megabyte));
  assert.throws(() => gunzip(zeros, limit), { status: 413 });
  assert.throws(() => gunzip(Buffer.concat([zeros, gzipSync('end')]), limit), tooLarge(megabyte));
  assert.throws(() => gunzip(deflateSync(Buffer.alloc(60 * megabyte)), limit), tooLarge(megabyte));
  const lying = gzipSync(Buffer.alloc(60 * megabyte));
  lying.writeUInt32LE(100, lying.length - 4);
  assert.throws(() => gunzip(lying, limit), tooLarge(megabyte));
});

test('what is no gzip is corrupt', () => {
  const cut = gzipSync('a line');
  for (const bytes of [
    Buffer.from('plain text'),
    Buffer.alloc(0),
    cut.subarray(0, cut.length - 5),
    Buffer.from([0x1f, 0x8b]),
  ]) {
    assert.throws(() => gunzip(bytes, limit), {
      code: 'invalid_argument',
      message: 'gzip: corrupt input',
    });
  }
});
