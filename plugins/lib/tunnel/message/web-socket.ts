import { WebSocket } from 'ws';

import type { MessageTransport } from './transport.ts';

/** The messages of one WebSocket. */
export class WebSocketTransport implements MessageTransport {
  readonly #ws: WebSocket;
  #drained: (() => void) | undefined;

  constructor(ws: WebSocket) {
    this.#ws = ws;
  }

  get bufferedBytes(): number {
    return this.#ws.bufferedAmount;
  }

  send(data: Uint8Array): void {
    if (this.#ws.readyState === WebSocket.OPEN) {
      this.#ws.send(data, this.#drained);
    }
  }

  close(code?: number, reason?: string): void {
    this.#ws.close(code, reason);
  }

  terminate(): void {
    this.#ws.terminate();
  }

  onMessage(listener: (data: string | Uint8Array) => void): void {
    this.#ws.on('message', (data: Buffer, isBinary) =>
      listener(isBinary ? data : data.toString('utf8')),
    );
  }

  onClose(listener: (code: number, reason: string) => void): void {
    this.#ws.on('close', (code, reason) => listener(code, reason.toString('utf8')));
  }

  onDrain(listener: () => void): void {
    this.#drained = () => listener();
  }
}
