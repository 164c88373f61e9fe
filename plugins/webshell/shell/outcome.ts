import type { Socket } from 'svc/sdk';

import type { ServerFrame } from '../protocol/frames.ts';
import { codeOf, type Ending, limits, lostCode } from '../protocol/limits.ts';
import type { SshShell } from '../ssh/connect.ts';

export interface OutcomeOptions {
  readonly endedBy: Ending;
  readonly message: string | undefined;
  readonly exit: SshShell['fate']['exit'];
  /** Time by the monotonic clock. */
  readonly at: number;
}

/** End of a shell, as reported to its browser, at once or when it reconnects. */
export class Outcome {
  readonly #options: OutcomeOptions;
  #sentTo: Socket | undefined;
  #isReceived: boolean;

  constructor(options: OutcomeOptions) {
    this.#options = options;
    this.#isReceived = options.endedBy === 'closed';
  }

  /**
   * Returns whether its user has not received it, and may still reconnect for it. `leftAt` is when
   * their browser went away.
   */
  isAwaited(leftAt: number | undefined, now: number): boolean {
    return !this.#isReceived && now - (leftAt ?? this.#options.at) < limits.detachedMs;
  }

  sentTo(socket: Socket | undefined): void {
    this.#sentTo = socket;
  }

  /** A browser that answered the close frame has read what came before it. */
  closed(socket: Socket, code: number): void {
    this.#isReceived ||= socket === this.#sentTo && code !== lostCode;
  }

  /** The last frame; none for a browser that closed the shell itself. */
  get frame(): ServerFrame | undefined {
    const { endedBy, exit, message } = this.#options;
    if (endedBy === 'exit') {
      return { type: 'exit', exit_code: exit?.code ?? null, signal: exit?.signal ?? null };
    }
    return endedBy === 'closed'
      ? undefined
      : { type: 'error', code: endedBy, message: message ?? '' };
  }

  /** Close frame of its socket. */
  get closing(): { readonly code: number; readonly message: string; readonly hasAll: boolean } {
    const { endedBy, message } = this.#options;
    return { code: codeOf[endedBy], message: message ?? endedBy, hasAll: endedBy === 'exit' };
  }
}
