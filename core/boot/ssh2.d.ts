/** As much of ssh2 as is used here; it brings no types itself, and those of others want another Node. */
declare module 'ssh2' {
  import type { EventEmitter } from 'node:events';
  import type { Duplex, Readable } from 'node:stream';

  export interface ClientChannel extends Duplex {
    readonly stderr: Readable;
    setWindow(rows: number, cols: number, height: number, width: number): void;
    close(): void;
  }

  export interface ConnectConfig {
    readonly sock: Duplex;
    readonly username: string;
    password?: string | undefined;
    privateKey?: string | undefined;
    readonly passphrase?: string | undefined;
    readonly tryKeyboard?: boolean;
    readonly authHandler?: readonly string[];
    readonly readyTimeout?: number;
    readonly algorithms?: { readonly serverHostKey?: readonly string[] };
    readonly hostVerifier?: (key: Buffer, verify: (accepted: boolean) => void) => void;
    readonly ident?: string;
  }

  export interface Prompt {
    readonly prompt: string;
    readonly echo?: boolean;
  }

  export class Client extends EventEmitter {
    config: { password?: string | undefined; privateKey?: string | undefined };
    connect(config: ConnectConfig): this;
    shell(
      window: {
        readonly term: string;
        readonly cols: number;
        readonly rows: number;
        readonly width: number;
        readonly height: number;
      },
      opened: (error: Error | undefined, channel: ClientChannel) => void,
    ): this;
    end(): this;
    destroy(): this;
  }

  export const utils: {
    parseKey(data: string, passphrase?: string): unknown;
  };

  const ssh2: { readonly Client: typeof Client; readonly utils: typeof utils };
  export default ssh2;
}
