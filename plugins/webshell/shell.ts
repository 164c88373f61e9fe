import { type Clock, type Logger, messageOf, type Socket } from 'svc/sdk';

import type { Standing } from './authority.ts';
import { type ClientFrame, readFrame, type ServerFrame, type Size } from './frames.ts';
import { codeOf, type Ending, limits } from './limits.ts';
import { createOutput } from './output.ts';
import type { Recorded, Recorder, RecorderOptions } from './recording/recorder.ts';
import type { SshShell } from './ssh/connect.ts';

/** How a shell ended, for its row and for the trail. */
export interface End {
  readonly endedBy: Ending;
  readonly exitCode: number | null;
  readonly bytesIn: number;
  readonly bytesOut: number;
  readonly durationMs: number;
  /** `failed` when it could not be completed; undefined where nothing was to be recorded. */
  readonly recorded: Recorded | 'failed' | undefined;
}

export interface ShellOptions {
  readonly id: number;
  readonly deviceId: number;
  readonly edgeId: number;
  readonly standing: Standing;
  readonly socket: Socket;
  readonly ssh: SshShell;
  readonly acks: boolean;
  readonly clock: Clock;
  readonly log: Logger;
  readonly after: (ms: number, work: () => void) => void;
  readonly idleMs: () => number;
  /** Told the recorder what to do when it fails, and when it has room again. */
  readonly record: ((reports: Pick<RecorderOptions, 'counted' | 'failed' | 'drained'>) => Promise<Recorder>) | undefined;
  readonly ready: ServerFrame;
  /** Keeps how it ended. */
  readonly keep: (end: End) => Promise<void>;
}

/** One shell between a browser and a device. */
export interface LiveShell extends Pick<ShellOptions, 'id' | 'deviceId' | 'edgeId' | 'standing'> {
  readonly bytesIn: number;
  readonly bytesOut: number;
  receive(data: string | Uint8Array): void;
  /** Every second: what is recorded goes to the disk, and whoever is idle or here for too long goes. */
  tick(): void;
  /** Closes both sides at once; resolves when that is written down. */
  end(ending: Ending, message?: string): Promise<void>;
}

/** Begins to show what the shell prints; throws when it should be recorded and cannot be. */
export async function startShell(options: ShellOptions): Promise<LiveShell> {
  const { id, deviceId, edgeId, standing, socket, ssh, clock, log, after, idleMs } = options;
  const { channel } = ssh;
  const startedAt = clock.monotonic();
  let lastInput = startedAt;
  let warned = false;
  let bytesIn = 0;
  let bytesOut = 0;
  let wanted: Size | undefined;
  let ending: Promise<void> | undefined;

  const say = (frame: ServerFrame): void => socket.send(JSON.stringify(frame));
  const goOn = (): void => {
    if (recorder?.full !== true && !output.full && channel.isPaused()) {
      channel.resume();
    }
  };
  const output = createOutput({ socket, after, now: () => clock.monotonic(), drained: goOn });
  const recorder = await options.record?.({
    counted: () => ({ bytesIn, bytesOut }),
    failed(why, cause) {
      if (why === 'disk') {
        log.error({ session: id, cause: messageOf(cause) }, 'a shell ends because it cannot be recorded');
      }
      void end(
        why === 'full' ? 'record_full' : 'record_failure',
        why === 'full' ? 'the recording has become as long as it may be' : 'the recording cannot be written',
      );
    },
    drained: goOn,
  });

  function print(bytes: Buffer): void {
    bytesOut += bytes.length;
    recorder?.output(bytes);
    output.push(bytes);
    if (recorder?.full === true || output.full) {
      channel.pause();
    }
  }

  function obey(frame: ClientFrame): void {
    switch (frame.type) {
      case 'resize':
        if (wanted === undefined) {
          after(limits.resizeMs, resize);
        }
        wanted = frame;
        return;
      case 'ack':
        return output.acknowledge(frame.bytes);
      case 'close':
        return void end('closed');
      case 'open':
        return void end('bad_frame', 'the shell is open already');
    }
  }

  function resize(): void {
    if (wanted && ending === undefined) {
      channel.setWindow(wanted.rows, wanted.cols, 0, 0);
      recorder?.resize(wanted);
    }
    wanted = undefined;
  }

  function end(why: Ending, message?: string): Promise<void> {
    ending ??= finish(why, message);
    return ending;
  }

  async function finish(endedBy: Ending, message: string | undefined): Promise<void> {
    channel.removeListener('data', print);
    socket.resume();
    ssh.close();
    output.end();
    if (endedBy === 'exit') {
      say({ type: 'exit', exit_code: ssh.fate.exit?.code ?? null, signal: ssh.fate.exit?.signal ?? null });
    } else if (endedBy !== 'closed') {
      say({ type: 'error', code: endedBy, message: message ?? '' });
    }
    socket.close(codeOf[endedBy], message ?? endedBy);
    if (endedBy !== 'exit') {
      after(limits.farewellMs, () => socket.terminate());
    }
    const durationMs = Math.round(clock.monotonic() - startedAt);
    const recorded = recorder === undefined ? undefined : ((await recorder.finish()) ?? 'failed');
    await options.keep({ endedBy, exitCode: ssh.fate.exit?.code ?? null, bytesIn, bytesOut, durationMs, recorded });
  }

  say(options.ready);
  if (options.acks) {
    output.expectAcknowledgements();
  }
  const left = (): void => void end(ssh.fate.exit ? 'exit' : 'device_lost', ssh.fate.exit ? undefined : 'the connection to the device is lost');
  channel.once('close', left);
  channel.on('data', print);
  channel.stderr.on('data', print);
  if (ssh.fate.isClosed) {
    left();
  }

  return {
    ...{ id, deviceId, edgeId, standing, end },
    get bytesIn() {
      return bytesIn;
    },
    get bytesOut() {
      return bytesOut;
    },
    receive(data) {
      if (ending) {
        return;
      }
      if (typeof data === 'string') {
        const frame = readFrame(data);
        return frame ? obey(frame) : void end('bad_frame', 'this text is no frame of svc.shell.v1');
      }
      bytesIn += data.length;
      lastInput = clock.monotonic();
      warned = false;
      if (!channel.write(data)) {
        socket.pause();
        channel.once('drain', () => socket.resume());
      }
    },
    tick() {
      const now = clock.monotonic();
      const idle = now - lastInput;
      void recorder?.flush();
      if (now - startedAt >= limits.maxMs) {
        void end('max_duration', 'a shell lasts for 8 hours at most');
      } else if (idle >= idleMs()) {
        void end('idle', 'nobody has typed anything for too long');
      } else if (idle >= idleMs() - limits.warnMs && !warned && idle >= limits.warnMs / 2) {
        warned = true;
        say({ type: 'notice', code: 'idle', message: 'type something, or this shell ends within two minutes' });
      }
    },
  };
}
