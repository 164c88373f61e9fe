import assert from 'node:assert/strict';
import { PassThrough } from 'node:stream';
import { test } from 'node:test';

import type { Socket } from 'svc/sdk';

import { Input } from '../../../plugins/webshell/shell/input.ts';

/** Creates a browser that only records whether it has to wait. */
function browser(): Socket & { waits: boolean } {
  const socket = {
    waits: false,
    pause: () => void (socket.waits = true),
    resume: () => void (socket.waits = false),
  };
  return socket as unknown as Socket & { waits: boolean };
}

test('whoever pastes more than 64 KiB a second waits, and so does the browser that takes their place', () => {
  let at = 0;
  const due: { readonly ms: number; readonly work: () => void }[] = [];
  const channel = new PassThrough({ highWaterMark: 1024 * 1024 });
  const input = new Input({ channel, now: () => at, after: (ms, work) => due.push({ ms, work }) });
  const first = browser();
  input.attach(first);
  for (let key = 0; key < 200; key += 1) {
    input.push(Buffer.from('x'));
  }
  assert.equal(first.waits, false);
  input.push(Buffer.alloc(64 * 1024));
  input.push(Buffer.alloc(32 * 1024));
  assert.deepEqual([first.waits, due.length, input.typed], [true, 1, 96 * 1024 + 200]);

  const second = browser();
  input.attach(second);
  assert.equal(second.waits, true);
  // The first wait is for what was known then; the rest is waited for as well.
  for (let waited = 0; due.length > 0; waited += 1) {
    const { ms, work } = due.shift()!;
    assert.ok(waited < 2 && second.waits);
    at += ms;
    work();
  }
  assert.equal(second.waits, false);
  assert.ok(at >= 500 && at < 520, `${at} ms`);
});

test('a device that does not read lets the browser wait', async () => {
  const channel = new PassThrough({ highWaterMark: 8 });
  const input = new Input({ channel, now: () => 0, after: () => assert.fail() });
  const only = browser();
  input.attach(only);
  input.push(Buffer.from('more than eight'));
  assert.equal(only.waits, true);
  channel.resume();
  await new Promise((resolve) => channel.once('drain', resolve));
  assert.equal(only.waits, false);
});
