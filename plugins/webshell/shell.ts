import { type Clock, type Logger, messageOf, type Socket, SvcError } from 'svc/sdk';

import type { Standing } from './authority.ts';
import { type ClientFrame, readFrame, type ServerFrame, type Size } from './frames.ts';
import { createInput } from './input.ts';
import { closeCode, codeOf, type Ending, limits, lostCode, wantedCodes } from './limits.ts';
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

/** A browser, and by what right it is here. */
export interface Viewer {
  readonly socket: Socket;
  readonly standing: Standing;
  /** It tells how much it has shown. */
  readonly acks: boolean;
}

export interface ShellOptions {
  readonly id: number;
  readonly deviceId: number;
  readonly edgeId: number;
  /** Who opens it. */
  readonly viewer: Viewer;
  readonly ssh: SshShell;
  readonly clock: Clock;
  readonly log: Logger;
  readonly after: (ms: number, work: () => void) => void;
  readonly idleMs: () => number;
  /** Told of each keystroke. */
  readonly typed: () => void;
  /** Told the recorder what to do when it fails, and when it has room again. */
  readonly record: ((reports: Pick<RecorderOptions, 'counted' | 'failed' | 'drained'>) => Promise<Recorder>) | undefined;
  readonly ready: ServerFrame;
  /** Keeps how it ended. */
  readonly keep: (end: End) => Promise<void>;
}

/** One shell on a device, and the browser that shows it; for a while it goes on without one. */
export interface LiveShell extends Pick<ShellOptions, 'id' | 'deviceId' | 'edgeId'> {
  /** Of whoever showed it last. */
  readonly standing: Standing;
  readonly isAttached: boolean;
  /** It has ended, nobody has heard yet how, and somebody may still come back for that. */
  readonly isAwaited: boolean;
  readonly bytesIn: number;
  readonly bytesOut: number;
  /** What this browser says; nothing when another one has taken its place. */
  receive(socket: Socket, data: string | Uint8Array): void;
  /** Throws when it cannot be shown from there on. */
  assertShowable(from: number): void;
  /** Shows it in this browser from now on, and what was printed since `from` that is still kept; of one that is awaited also how it ended. */
  attach(viewer: Viewer, view: { readonly from: number } & Size): void;
  /** The browser is gone. One that did not say so on purpose may come back. */
  left(socket: Socket, code: number): Promise<void>;
  /** Every second: what is recorded goes to the disk, and whoever is idle, away or here for too long goes. */
  tick(): void;
  /** Closes both sides at once; resolves when that is written down. */
  end(ending: Ending, message?: string): Promise<void>;
}

/** Begins to show what the shell prints; throws when it should be recorded and cannot be. */
export async function startShell(options: ShellOptions): Promise<LiveShell> {
  const { id, deviceId, edgeId, ssh, clock, log, after, idleMs } = options;
  const { channel } = ssh;
  const now = (): number => clock.monotonic();
  const startedAt = now();
  let viewer: Viewer | undefined = options.viewer;
  let { standing } = viewer;
  let leftAt: number | undefined;
  let lastInput = startedAt;
  let warned = false;
  let wanted: Size | undefined;
  let ending: Promise<void> | undefined;
  let last: { readonly frame: ServerFrame | undefined; readonly why: Ending; readonly message: string | undefined; readonly at: number } | undefined;
  let toldTo: Socket | undefined;
  let isHeard = false;

  const say = (frame: ServerFrame): void => viewer?.socket.send(JSON.stringify(frame));
  const goOn = (): void => {
    if (recorder?.full !== true && !output.full && channel.isPaused()) {
      channel.resume();
    }
  };
  const input = createInput({ channel, after, now });
  const output = createOutput({ after, now, drained: goOn });
  const recorder = await options.record?.({
    counted: () => ({ bytesIn: input.typed, bytesOut: output.printed }),
    failed(why, cause) {
      if (why === 'disk') {
        log.error({ session: id, cause: messageOf(cause) }, 'a shell ends because it cannot be recorded');
      }
      stop(
        why === 'full' ? 'record_full' : 'record_failure',
        why === 'full' ? 'the recording has become as long as it may be' : 'the recording cannot be written',
      );
    },
    drained: goOn,
  });

  function print(bytes: Buffer): void {
    recorder?.output(bytes);
    output.push(bytes);
    if (recorder?.full === true || output.full) {
      channel.pause();
    }
  }

  function obey(frame: ClientFrame): void {
    switch (frame.type) {
      case 'resize':
        return fit(frame);
      case 'ack':
        return output.acknowledge(frame.bytes);
      case 'close':
        return stop('closed');
      case 'open':
      case 'attach':
        return stop('bad_frame', 'the shell is open already');
    }
  }

  function fit(size: Size): void {
    if (wanted === undefined) {
      after(limits.resizeMs, resize);
    }
    wanted = size;
  }

  function resize(): void {
    if (wanted && ending === undefined) {
      channel.setWindow(wanted.rows, wanted.cols, 0, 0);
      recorder?.resize(wanted);
    }
    wanted = undefined;
  }

  /** What it has not read yet it may still read, unless it takes too long. */
  function farewell(code: number, message: string, hasAll: boolean): void {
    const socket = viewer?.socket;
    viewer = undefined;
    socket?.resume();
    socket?.close(code, message);
    if (!hasAll) {
      after(limits.farewellMs, () => socket?.terminate());
    }
  }

  function end(why: Ending, message?: string): Promise<void> {
    ending ??= finish(why, message);
    return ending;
  }

  /** Where nobody waits for it to be written down. */
  function stop(why: Ending, message?: string): void {
    end(why, message).catch((error: unknown) => log.error({ session: id, cause: messageOf(error) }, 'how a shell ended could not be written down'));
  }

  function lastFrame(endedBy: Ending, message: string | undefined): ServerFrame | undefined {
    if (endedBy === 'exit') {
      return { type: 'exit', exit_code: ssh.fate.exit?.code ?? null, signal: ssh.fate.exit?.signal ?? null };
    }
    return endedBy === 'closed' ? undefined : { type: 'error', code: endedBy, message: message ?? '' };
  }

  function tell({ frame, why, message }: NonNullable<typeof last>): void {
    toldTo = viewer?.socket;
    if (frame) {
      say(frame);
    }
    farewell(codeOf[why], message ?? why, why === 'exit');
  }

  function assertShowable(from: number): void {
    if (ending && !isAwaited()) {
      throw new SvcError('not_found', 'this shell has ended');
    }
    if (from > output.printed) {
      throw new SvcError('invalid_argument', `this shell has printed ${output.printed} bytes, so nobody has ${from} of them`);
    }
  }

  const isAwaited = (): boolean => last !== undefined && !isHeard && now() - (leftAt ?? last.at) < limits.detachedMs;

  async function finish(endedBy: Ending, message: string | undefined): Promise<void> {
    channel.removeListener('data', print);
    ssh.close();
    output.end();
    last = { frame: lastFrame(endedBy, message), why: endedBy, message, at: now() };
    isHeard = endedBy === 'closed';
    tell(last);
    const durationMs = Math.round(now() - startedAt);
    const recorded = recorder === undefined ? undefined : ((await recorder.finish()) ?? 'failed');
    await options.keep({ endedBy, exitCode: ssh.fate.exit?.code ?? null, bytesIn: input.typed, bytesOut: output.printed, durationMs, recorded });
  }

  say(options.ready);
  output.attach(viewer.socket, { acks: viewer.acks, from: 0 });
  input.attach(viewer.socket);
  const ended = (): void => stop(ssh.fate.exit ? 'exit' : 'device_lost', ssh.fate.exit ? undefined : 'the connection to the device is lost');
  channel.once('close', ended);
  channel.on('data', print);
  channel.stderr.on('data', print);
  if (ssh.fate.isClosed) {
    ended();
  }

  return {
    ...{ id, deviceId, edgeId, end, assertShowable },
    get standing() {
      return standing;
    },
    get isAttached() {
      return viewer !== undefined;
    },
    get isAwaited() {
      return isAwaited();
    },
    get bytesIn() {
      return input.typed;
    },
    get bytesOut() {
      return output.printed;
    },
    receive(socket, data) {
      if (viewer?.socket !== socket) {
        return;
      }
      if (typeof data === 'string') {
        const frame = readFrame(data);
        return frame ? obey(frame) : stop('bad_frame', 'this text is no frame of svc.shell.v1');
      }
      lastInput = now();
      warned = false;
      options.typed();
      input.push(data);
    },
    attach(next, { from, ...size }) {
      assertShowable(from);
      say({ type: 'error', code: 'taken_over', message: 'this shell is shown elsewhere now' });
      farewell(closeCode.takenOver, 'this shell is shown elsewhere now', false);
      viewer = next;
      standing = next.standing;
      leftAt = undefined;
      const start = output.nearest(from);
      say({ type: 'attached', session_id: id, from: start, missed: start - from });
      output.attach(next.socket, { acks: next.acks, from: start });
      if (last) {
        return tell(last);
      }
      input.attach(next.socket);
      fit(size);
    },
    async left(socket, code) {
      // Whoever answers the close frame has read what came before it.
      isHeard ||= socket === toldTo && code !== lostCode;
      if (viewer?.socket !== socket) {
        return;
      }
      if (wantedCodes.includes(code)) {
        return await end('closed');
      }
      viewer = undefined;
      leftAt = now();
      output.detach();
      input.attach(undefined);
    },
    tick() {
      const idle = now() - lastInput;
      void recorder?.flush();
      if (now() - startedAt >= limits.maxMs) {
        stop('max_duration', 'a shell lasts for 8 hours at most');
      } else if (idle >= idleMs()) {
        stop('idle', 'nobody has typed anything for too long');
      } else if (leftAt !== undefined && now() - leftAt >= limits.detachedMs) {
        stop('closed');
      } else if (idle >= idleMs() - limits.warnMs && viewer && !warned && idle >= limits.warnMs / 2) {
        warned = true;
        say({ type: 'notice', code: 'idle', message: 'type something, or this shell ends within two minutes' });
      }
    },
  };
}
