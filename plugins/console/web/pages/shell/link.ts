import type { Terminal } from '@xterm/xterm';

import { api } from '../../client/api.ts';
import { below } from '../../browser/base.ts';
import { asApiError } from '../../client/data.ts';
import { Store } from '../../browser/store.ts';

export type Login =
  | { readonly type: 'password'; readonly password: string }
  | { readonly type: 'key'; readonly private_key: string; readonly passphrase?: string };

export type LinkState =
  | { readonly name: 'joining' }
  | {
      readonly name: 'open';
      readonly recorded: boolean;
      readonly fingerprint: string;
      readonly isNew: boolean;
    }
  | { readonly name: 'lost' }
  | { readonly name: 'over'; readonly why: string };

interface Ticket {
  readonly protocol: string;
  readonly path: string;
}

type Frame =
  | {
      readonly type: 'ready';
      readonly session_id: number;
      readonly recorded: boolean;
      readonly host_key: { readonly fingerprint: string; readonly trust: string };
    }
  | { readonly type: 'attached'; readonly from: number }
  | { readonly type: 'exit'; readonly exit_code: number | null; readonly signal: string | null }
  | { readonly type: 'notice' | 'error'; readonly message: string };

/** Time that svc keeps a shell whose browser has gone. */
const patienceMs = 60_000;
const pauseMs = 1_000;

export interface LinkParts {
  readonly device: number;
  readonly user: string;
  readonly terminal: Terminal;
  readonly exited: (code: string) => string;
  /** Message after the user has ended it. */
  readonly ended: string;
}

/** One shell: its bytes both ways, found again when the connection breaks. The login is sent once and not kept. */
export class ShellLink {
  readonly state = new Store<LinkState>({ name: 'joining' });
  readonly notice = new Store<string>('');
  readonly #parts: LinkParts;
  #socket: WebSocket | undefined;
  #session: number | undefined;
  #received = 0;
  #lostAt = 0;
  #retry: ReturnType<typeof setTimeout> | undefined;
  #closed = false;

  constructor(parts: LinkParts) {
    this.#parts = parts;
    const { terminal } = parts;
    const encoder = new TextEncoder();
    terminal.onData((text) => this.#send(encoder.encode(text)));
    terminal.onBinary((text) => this.#send(Uint8Array.from(text, (one) => one.charCodeAt(0))));
    terminal.onResize(({ cols, rows }) =>
      this.#send(JSON.stringify({ type: 'resize', cols, rows })),
    );
  }

  async open(auth: Login): Promise<void> {
    const { device, user } = this.#parts;
    await this.#connect(
      { device_id: device, user },
      { type: 'open', term: 'xterm-256color', user, auth },
    );
  }

  close(): void {
    this.#closed = true;
    clearTimeout(this.#retry);
    this.#send(JSON.stringify({ type: 'close' }));
    this.#socket?.close(1000);
  }

  /** Marks the end locally: the browser accepts nothing more, so svc cannot report it. */
  end(): void {
    this.close();
    this.#end(this.#parts.ended);
  }

  async #connect(wanted: object, first: object): Promise<void> {
    const { path, protocol } = await api.post<Ticket>('/webshell/tickets', wanted);
    const { cols, rows } = this.#parts.terminal;
    const socket = new WebSocket(`${location.origin.replace(/^http/, 'ws')}${below(path)}`, [
      'svc.shell.v1',
      protocol,
    ]);
    socket.binaryType = 'arraybuffer';
    this.#socket = socket;
    socket.addEventListener('open', () =>
      socket.send(JSON.stringify({ ...first, cols, rows, acks: true })),
    );
    socket.addEventListener('message', ({ data }: MessageEvent<string | ArrayBuffer>) =>
      typeof data === 'string'
        ? this.#hear(JSON.parse(data) as Frame)
        : this.#show(new Uint8Array(data)),
    );
    socket.addEventListener('close', ({ code, reason }) => this.#left(code, reason));
  }

  #hear(frame: Frame): void {
    switch (frame.type) {
      case 'ready':
        this.#session = frame.session_id;
        this.state.set({
          name: 'open',
          recorded: frame.recorded,
          fingerprint: frame.host_key.fingerprint,
          isNew: frame.host_key.trust === 'first_use',
        });
        break;
      case 'attached':
        this.#received = frame.from;
        this.#lostAt = 0;
        this.state.set({ name: 'open', recorded: true, fingerprint: '', isNew: false });
        break;
      case 'exit':
        this.#end(this.#parts.exited(String(frame.exit_code ?? frame.signal ?? '?')));
        break;
      case 'error':
        this.#end(frame.message);
        break;
      case 'notice':
        this.notice.set(frame.message);
    }
  }

  #show(bytes: Uint8Array): void {
    this.#received += bytes.length;
    const shown = this.#received;
    this.#parts.terminal.write(bytes, () =>
      this.#send(JSON.stringify({ type: 'ack', bytes: shown })),
    );
  }

  #send(frame: string | Uint8Array<ArrayBuffer>): void {
    if (this.#socket?.readyState === WebSocket.OPEN) {
      this.#socket.send(frame);
    }
  }

  #end(why: string): void {
    if (this.state.value.name !== 'over') {
      this.state.set({ name: 'over', why });
    }
  }

  #left(code: number, reason: string): void {
    if (this.#closed || this.state.value.name === 'over') {
      return;
    }
    if (this.#session === undefined || code === 1000 || code >= 4000) {
      this.#end(reason === '' ? String(code) : reason);
      return;
    }
    this.#lostAt ||= Date.now();
    this.state.set({ name: 'lost' });
    this.#retry = setTimeout(() => void this.#again(), pauseMs);
  }

  async #again(): Promise<void> {
    try {
      await this.#connect(
        { device_id: this.#parts.device, session_id: this.#session },
        { type: 'attach', from: this.#received },
      );
    } catch (error) {
      const refused = asApiError(error);
      if (!this.#closed && refused.isSilence && Date.now() - this.#lostAt < patienceMs) {
        this.#retry = setTimeout(() => void this.#again(), pauseMs);
      } else {
        this.#end(refused.message);
      }
    }
  }
}
