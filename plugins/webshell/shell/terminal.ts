import type { Socket } from 'svc/sdk';

import type { Size } from '../protocol/frames.ts';
import { Input } from './input.ts';
import { limits } from '../protocol/limits.ts';
import { Output } from './output.ts';
import type { Recorded, Recorder, RecorderOptions } from '../recording/recorder.ts';
import type { SshShell } from '../ssh/connect.ts';

export interface TerminalOptions {
  readonly ssh: SshShell;
  readonly after: (ms: number, work: () => void) => void;
  readonly now: () => number;
  /**
   * Starts a recording with these callbacks for failure and free capacity. Undefined if nothing is
   * recorded.
   */
  readonly record:
    | ((
        reports: Pick<RecorderOptions, 'after' | 'counted' | 'failed' | 'drained'>,
      ) => Promise<Recorder>)
    | undefined;
  /** Called when nothing more can be recorded. */
  readonly unrecordable: RecorderOptions['failed'];
}

/**
 * Terminal on the device: its output goes to the recording and to the browser, and it waits while
 * one of them does not keep up.
 */
export class Terminal {
  readonly output: Output;
  readonly #options: TerminalOptions;
  readonly #input: Input;
  #recorder: Recorder | undefined;
  #wantedSize: Size | undefined;
  #hasEnded = false;

  private constructor(options: TerminalOptions) {
    const { after, now, ssh } = options;
    this.#options = options;
    this.#input = new Input({ channel: ssh.channel, after, now });
    this.output = new Output({ after, now, drained: () => this.#resume() });
  }

  /** Throws when it should be recorded and cannot be. */
  static async open(options: TerminalOptions): Promise<Terminal> {
    const terminal = new Terminal(options);
    terminal.#recorder = await options.record?.({
      after: options.after,
      counted: () => ({ bytesIn: terminal.typed, bytesOut: terminal.output.printed }),
      failed: options.unrecordable,
      drained: () => terminal.#resume(),
    });
    return terminal;
  }

  get typed(): number {
    return this.#input.typed;
  }

  /** Starts showing its output; `closed` is called when the device closes it, or has already. */
  show(closed: () => void): void {
    const { channel, fate } = this.#options.ssh;
    channel.once('close', closed);
    channel.on('data', this.#print);
    channel.stderr.on('data', this.#print);
    if (fate.isClosed) {
      closed();
    }
  }

  /** Makes this browser the source of input. */
  attachInput(socket: Socket | undefined): void {
    this.#input.attach(socket);
  }

  type(bytes: Uint8Array): void {
    this.#input.push(bytes);
  }

  /** Resizes; while a window is dragged, only the last of its sizes is sent to the device. */
  resize(size: Size): void {
    if (this.#wantedSize === undefined) {
      this.#options.after(limits.resizeMs, () => this.#applySize());
    }
    this.#wantedSize = size;
  }

  /** Closes the connection to the device; its output remains to be shown. */
  end(): void {
    const { channel } = this.#options.ssh;
    this.#hasEnded = true;
    channel.removeListener('data', this.#print);
    channel.stderr.removeListener('data', this.#print);
    this.#options.ssh.close();
    this.output.end();
  }

  /** Completes the recording: `failed` when that is not possible, undefined without one. */
  async finishRecording(): Promise<Recorded | 'failed' | undefined> {
    return this.#recorder === undefined ? undefined : ((await this.#recorder.finish()) ?? 'failed');
  }

  readonly #print = (bytes: Buffer): void => {
    this.#recorder?.output(bytes);
    this.output.push(bytes);
    if (this.#recorder?.full === true || this.output.full) {
      this.#options.ssh.channel.pause();
    }
  };

  #resume(): void {
    const { channel } = this.#options.ssh;
    if (this.#recorder?.full !== true && !this.output.full && channel.isPaused()) {
      channel.resume();
    }
  }

  #applySize(): void {
    const size = this.#wantedSize;
    this.#wantedSize = undefined;
    if (size && !this.#hasEnded) {
      this.#options.ssh.channel.setWindow(size.rows, size.cols, 0, 0);
      this.#recorder?.resize(size);
    }
  }
}
