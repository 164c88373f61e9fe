import { type Clock, type Logger, messageOf, type Socket } from 'svc/sdk';

import { errors } from '../protocol/errors.ts';
import type { Standing } from '../rights/authority.ts';
import { type ClientFrame, readFrame, type ServerFrame, type Size } from '../protocol/frames.ts';
import { closeCode, type Ending, limits, wantedCodes } from '../protocol/limits.ts';
import { Outcome } from './outcome.ts';
import type { Recorded } from '../recording/recorder.ts';
import type { SshShell } from '../ssh/connect.ts';
import { Terminal, type TerminalOptions } from './terminal.ts';

/** End of a shell, for its row and for the trail. */
export interface End {
  readonly endedBy: Ending;
  readonly exitCode: number | null;
  readonly bytesIn: number;
  readonly bytesOut: number;
  readonly durationMs: number;
  /** `failed` when it could not be completed; undefined where nothing was to be recorded. */
  readonly recorded: Recorded | 'failed' | undefined;
}

/** The browser that shows a shell, and by what right it is here. */
export interface Attachment {
  readonly socket: Socket;
  readonly standing: Standing;
  /** True if it confirms what it has shown. */
  readonly acks: boolean;
}

export interface ShellOptions extends Pick<TerminalOptions, 'after' | 'record'> {
  readonly id: number;
  readonly deviceId: number;
  readonly edgeId: number;
  /** Attachment of the browser that opens it. */
  readonly attachment: Attachment;
  readonly ssh: SshShell;
  readonly clock: Clock;
  readonly log: Logger;
  readonly idleMs: () => number;
  /** Called at each keystroke. */
  readonly typed: () => void;
  readonly ready: ServerFrame;
  /** Writes down how it ended. */
  readonly keep: (end: End) => Promise<void>;
}

/** Shell on a device, with the browser that shows it; for a while it continues without one. */
export class LiveShell {
  readonly id: number;
  readonly deviceId: number;
  readonly edgeId: number;
  readonly #options: ShellOptions;
  readonly #startedAt: number;
  #terminal!: Terminal;
  #attachment: Attachment | undefined;
  #standing: Standing;
  #leftAt: number | undefined;
  #typedAt: number;
  #isWarned = false;
  #ending: Promise<void> | undefined;
  #outcome: Outcome | undefined;

  private constructor(options: ShellOptions) {
    this.id = options.id;
    this.deviceId = options.deviceId;
    this.edgeId = options.edgeId;
    this.#options = options;
    this.#attachment = options.attachment;
    this.#standing = options.attachment.standing;
    this.#startedAt = this.#typedAt = this.#now();
  }

  /** Begins to show what the shell prints; throws when it should be recorded and cannot be. */
  static async start(options: ShellOptions): Promise<LiveShell> {
    const { ssh, after, record, attachment, ready } = options;
    const shell = new LiveShell(options);
    const terminal = await Terminal.open({
      ssh,
      after,
      record,
      now: () => shell.#now(),
      unrecordable: (why, cause) => shell.#endUnrecorded(why, cause),
    });
    shell.#terminal = terminal;
    shell.#send(ready);
    terminal.output.attach(attachment.socket, { acks: attachment.acks, from: 0 });
    terminal.attachInput(attachment.socket);
    terminal.show(() =>
      shell.#stop(
        ssh.fate.exit ? 'exit' : 'device_lost',
        ssh.fate.exit ? undefined : 'the connection to the device is lost',
      ),
    );
    return shell;
  }

  /** Standing of the browser that showed it last. */
  get standing(): Standing {
    return this.#standing;
  }

  get isAttached(): boolean {
    return this.#attachment !== undefined;
  }

  /** True if it has ended, and its user may still reconnect to receive the outcome. */
  get isAwaited(): boolean {
    return this.#outcome?.isAwaited(this.#leftAt, this.#now()) === true;
  }

  get bytesIn(): number {
    return this.#terminal.typed;
  }

  get bytesOut(): number {
    return this.#terminal.output.printed;
  }

  /** Handles a frame of this browser; ignored if another one has taken its place. */
  receive(socket: Socket, data: string | Uint8Array): void {
    if (this.#attachment?.socket !== socket) {
      return;
    }
    if (typeof data === 'string') {
      const frame = readFrame(data);
      return frame
        ? this.#obey(frame)
        : this.#stop('bad_frame', 'unknown text frame; svc.shell.v1 has resize, ack and close');
    }
    this.#typedAt = this.#now();
    this.#isWarned = false;
    this.#options.typed();
    this.#terminal.type(data);
  }

  /** Throws when it cannot be shown from there on. */
  assertShowable(from: number): void {
    if (this.#ending && !this.isAwaited) {
      throw errors.shell_ended();
    }
    if (from > this.bytesOut) {
      throw errors.from_beyond_end({ from, bytesOut: this.bytesOut });
    }
  }

  /**
   * Attaches this browser, which gets what was printed since `from` and is still kept; for an ended
   * shell also the outcome.
   */
  attach(next: Attachment, { from, ...size }: { readonly from: number } & Size): void {
    this.assertShowable(from);
    const { output } = this.#terminal;
    const message = 'this shell was attached in another browser';
    this.#send({ type: 'error', code: 'taken_over', message });
    this.#detach({ code: closeCode.takenOver, message, hasAll: false });
    this.#attachment = next;
    this.#standing = next.standing;
    this.#leftAt = undefined;
    const start = output.nearest(from);
    this.#send({ type: 'attached', session_id: this.id, from: start, missed: start - from });
    output.attach(next.socket, { acks: next.acks, from: start });
    if (this.#outcome) {
      return this.#deliver(this.#outcome);
    }
    this.#terminal.attachInput(next.socket);
    this.#terminal.resize(size);
  }

  /** Handles the loss of the browser. Unless it closed deliberately it may reconnect. */
  async left(socket: Socket, code: number): Promise<void> {
    this.#outcome?.closed(socket, code);
    if (this.#attachment?.socket !== socket) {
      return;
    }
    if (wantedCodes.includes(code)) {
      return await this.end('closed');
    }
    this.#attachment = undefined;
    this.#leftAt = this.#now();
    this.#terminal.output.detach();
    this.#terminal.attachInput(undefined);
  }

  /** Every second: a shell that is idle, left or open for too long ends. */
  tick(): void {
    const now = this.#now();
    const [idle, idleLimit] = [now - this.#typedAt, this.#options.idleMs()];
    if (now - this.#startedAt >= limits.maxMs) {
      this.#stop('max_duration', 'a shell lasts at most 8 hours');
    } else if (idle >= idleLimit) {
      this.#stop('idle', 'no input for longer than webshell.idle_minutes');
    } else if (this.#leftAt !== undefined && now - this.#leftAt >= limits.detachedMs) {
      this.#stop('closed');
    } else if (
      idle >= idleLimit - limits.warnMs &&
      this.isAttached &&
      !this.#isWarned &&
      idle >= limits.warnMs / 2
    ) {
      this.#isWarned = true;
      this.#send({
        type: 'notice',
        code: 'idle',
        message: 'no input: this shell ends within two minutes unless you type',
      });
    }
  }

  /** Closes both sides at once; resolves when that is written down. */
  end(why: Ending, message?: string): Promise<void> {
    this.#ending ??= this.#finish(why, message);
    return this.#ending;
  }

  #now(): number {
    return this.#options.clock.monotonic();
  }

  #send(frame: ServerFrame): void {
    this.#attachment?.socket.send(JSON.stringify(frame));
  }

  #obey(frame: ClientFrame): void {
    switch (frame.type) {
      case 'resize':
        return this.#terminal.resize(frame);
      case 'ack':
        return this.#terminal.output.acknowledge(frame.bytes);
      case 'close':
        return this.#stop('closed');
      case 'open':
      case 'attach':
        return this.#stop(
          'bad_frame',
          `${frame.type} is for the first frame; this shell is open already`,
        );
    }
  }

  #endUnrecorded(why: 'full' | 'disk', cause: unknown): void {
    if (why === 'full') {
      return this.#stop('record_full', 'the recording has reached webshell.recording_max_bytes');
    }
    this.#options.log.error(
      { event: 'webshell.recording_failed', session: this.id, cause: messageOf(cause) },
      'failed to write the recording; ending the shell',
    );
    this.#stop('record_failure', 'failed to write the recording');
  }

  /** Ends the shell if no caller waits for the record. */
  #stop(why: Ending, message?: string): void {
    const { log } = this.#options;
    this.end(why, message).catch((error: unknown) =>
      log.error(
        { event: 'webshell.end_not_written', session: this.id, cause: messageOf(error) },
        'failed to store the end of a shell session',
      ),
    );
  }

  async #finish(endedBy: Ending, message: string | undefined): Promise<void> {
    const { fate } = this.#options.ssh;
    this.#terminal.end();
    this.#outcome = new Outcome({ endedBy, message, exit: fate.exit, at: this.#now() });
    this.#deliver(this.#outcome);
    const durationMs = Math.round(this.#now() - this.#startedAt);
    const recorded = await this.#terminal.finishRecording();
    await this.#options.keep({
      endedBy,
      exitCode: fate.exit?.code ?? null,
      bytesIn: this.bytesIn,
      bytesOut: this.bytesOut,
      durationMs,
      recorded,
    });
  }

  #deliver(outcome: Outcome): void {
    outcome.sentTo(this.#attachment?.socket);
    if (outcome.frame) {
      this.#send(outcome.frame);
    }
    this.#detach(outcome.closing);
  }

  /** Detaches the browser, which may still read what is pending, unless it takes too long. */
  #detach({
    code,
    message,
    hasAll,
  }: {
    readonly code: number;
    readonly message: string;
    readonly hasAll: boolean;
  }): void {
    const socket = this.#attachment?.socket;
    this.#attachment = undefined;
    socket?.resume();
    socket?.close(code, message);
    if (!hasAll) {
      this.#options.after(limits.closeMs, () => socket?.terminate());
    }
  }
}
