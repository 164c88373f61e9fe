import assert from 'node:assert/strict';
import { PassThrough } from 'node:stream';
import { test } from 'node:test';

import type { Logger, Socket } from 'svc/sdk';

import { Recorder, type RecorderOptions } from '../../../plugins/webshell/recording/recorder.ts';
import type { SealedFile } from '../../../plugins/webshell/recording/sealed-file.ts';
import { type End, LiveShell, type ShellOptions } from '../../../plugins/webshell/shell/shell.ts';
import { until } from './house.ts';

test('a disk that becomes full while a shell is open ends it with 4500, and nothing more is shown', async () => {
  const told: unknown[] = [];
  const shown: string[] = [];
  const socket = {
    bufferedBytes: 0,
    send: (data: string | Uint8Array) =>
      void (typeof data === 'string'
        ? told.push((JSON.parse(data) as { type: string }).type)
        : shown.push(String(data))),
    close: (code: number) => void told.push(code),
    pause() {},
    resume() {},
    terminate() {},
    onDrain() {},
  } as unknown as Socket;
  const channel = Object.assign(new PassThrough(), { stderr: new PassThrough(), setWindow() {} });
  let isFull = false;
  const file = {
    write: () =>
      isFull ? Promise.reject(new Error('ENOSPC: no space left on device')) : Promise.resolve(),
    finish: () => Promise.resolve(),
    close: () => Promise.resolve(),
  } as unknown as SealedFile;
  const clock = { now: () => Date.now(), monotonic: () => performance.now() };
  const logged: string[] = [];
  const ends: End[] = [];
  const shell = await LiveShell.start({
    id: 1,
    deviceId: 1,
    edgeId: 1,
    clock,
    attachment: { socket, standing: {}, acks: false },
    typed() {},
    idleMs: () => 60_000,
    ssh: { channel, fate: { isClosed: false }, close: () => channel.destroy() },
    log: { error: (_fields: object, text: string) => void logged.push(text) } as unknown as Logger,
    after: (_ms: number, work: () => void) => setImmediate(work),
    record: (reports: Pick<RecorderOptions, 'after' | 'counted' | 'failed' | 'drained'>) =>
      Recorder.start({
        ...reports,
        file,
        clock,
        cols: 80,
        rows: 24,
        term: 'xterm',
        title: 'x',
        maxBytes: 1e6,
      }),
    ready: { type: 'notice', code: 'idle', message: 'it begins' },
    keep: (end: End) => Promise.resolve(void ends.push(end)),
  } as unknown as ShellOptions);
  channel.write('kept');
  await until('it is shown', () => shown.join('') === 'kept');
  shell.tick();
  isFull = true;
  channel.write('lost');
  await until('it is shown as well', () => shown.join('') === 'keptlost');
  shell.tick();
  await until('it ends', () => ends.length === 1);
  assert.deepEqual(told, ['notice', 'error', 4500]);
  assert.deepEqual(
    [ends[0]!.endedBy, ends[0]!.recorded, channel.destroyed, logged.length],
    ['record_failure', 'failed', true, 1],
  );
});
