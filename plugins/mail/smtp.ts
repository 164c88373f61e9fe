import { connect, isIP, type Socket } from 'node:net';
import { checkServerIdentity, connect as connectSecure, type ConnectionOptions } from 'node:tls';

export interface SmtpServer {
  /** Host name, which certificates are verified against. */
  readonly host: string;
  /** Checked address to connect to. */
  readonly address: string;
  readonly port: number;
  readonly security: 'starttls' | 'tls' | 'none';
  readonly user: string;
  readonly password: string;
  readonly ca: string;
  readonly insecure: boolean;
  /** Name of this host for the greeting. */
  readonly name: string;
}

/** Error for a refusal by the server; `code` is the server's. */
export class SmtpRefusal extends Error {
  readonly code: number;
  readonly stage: 'connect' | 'starttls' | 'auth' | 'sender' | 'recipient' | 'data';

  constructor(stage: SmtpRefusal['stage'], { code, text }: Reply) {
    super(text);
    this.code = code;
    this.stage = stage;
  }
}

interface Reply {
  readonly code: number;
  readonly text: string;
  readonly lines: readonly string[];
}

const mostBuffered = 64 * 1024;
const mostLines = 100;

/** One conversation with an SMTP server. `signal` ends it, wherever it is. */
export class SmtpSession {
  readonly #server: SmtpServer;
  readonly #signal: AbortSignal;
  #socket: Socket;
  #buffered = '';
  #isSecure = false;
  #trouble: Error | undefined;
  #wake: () => void = () => undefined;

  private constructor(server: SmtpServer, signal: AbortSignal) {
    this.#server = server;
    this.#signal = signal;
    const { address, port, security } = server;
    this.#socket =
      security === 'tls'
        ? connectSecure({ host: address, port, ...this.#tls() })
        : connect({ host: address, port });
    this.#isSecure = security === 'tls';
    this.#listen();
    signal.addEventListener('abort', this.#stop, { once: true });
    if (signal.aborted) {
      this.#stop();
    }
  }

  /** Opens a connection: greeted, encrypted as configured, and signed in. */
  static async open(server: SmtpServer, signal: AbortSignal): Promise<SmtpSession> {
    const session = new SmtpSession(server, signal);
    try {
      await session.#begin();
      return session;
    } catch (error) {
      session.close();
      throw error;
    }
  }

  /** Hands the message over; resolves with the addresses that were refused, and why. */
  async send(
    from: string,
    to: readonly string[],
    text: string,
  ): Promise<readonly { readonly to: string; readonly reason: string }[]> {
    await this.#ask(`MAIL FROM:<${from}>`, 'sender');
    const refused: { to: string; reason: string }[] = [];
    let last: SmtpRefusal | undefined;
    for (const one of to) {
      try {
        await this.#ask(`RCPT TO:<${one}>`, 'recipient');
      } catch (error) {
        if (!(error instanceof SmtpRefusal) || error.code < 500) {
          throw error;
        }
        last = error;
        refused.push({ to: one, reason: `${error.code} ${error.message}` });
      }
    }
    if (last !== undefined && refused.length === to.length) {
      throw last;
    }
    await this.#ask('DATA', 'data', 354);
    // A line that is a dot ends the message.
    await this.#ask(`${text.replaceAll(/^\./gm, '..')}\r\n.`, 'data');
    return refused;
  }

  /** Closes the connection; the server is informed, but its answer not awaited. */
  close(): void {
    this.#signal.removeEventListener('abort', this.#stop);
    if (this.#trouble === undefined && this.#socket.writable) {
      this.#socket.end('QUIT\r\n');
    }
    this.#socket.destroySoon();
  }

  async #begin(): Promise<void> {
    const { security, user } = this.#server;
    this.#expect(await this.#reply(), 'connect');
    let able = await this.#hello();
    if (security === 'starttls') {
      if (!able.has('STARTTLS')) {
        throw new SmtpRefusal('starttls', {
          code: 0,
          text: 'it offers no STARTTLS; is the port right?',
          lines: [],
        });
      }
      await this.#ask('STARTTLS', 'starttls');
      await this.#encrypt();
      able = await this.#hello();
    }
    if (user !== '') {
      await this.#signIn(able.get('AUTH') ?? '');
    }
  }

  async #hello(): Promise<ReadonlyMap<string, string>> {
    const { lines } = await this.#ask(`EHLO ${this.#server.name}`, 'connect');
    return new Map(
      lines.slice(1).map((line) => [line.split(' ', 1)[0]!.toUpperCase(), line.toUpperCase()]),
    );
  }

  async #encrypt(): Promise<void> {
    // Data received before TLS is untrusted.
    if (this.#buffered !== '') {
      throw new SmtpRefusal('starttls', {
        code: 0,
        text: 'the server sent data before the connection was encrypted, which may be an attack; the connection was closed',
        lines: [],
      });
    }
    const plain = this.#socket;
    plain.removeAllListeners();
    this.#socket = connectSecure({ socket: plain, ...this.#tls() });
    this.#listen();
    this.#isSecure = true;
  }

  async #signIn(offered: string): Promise<void> {
    const { user, password } = this.#server;
    if (!this.#isSecure) {
      throw new SmtpRefusal('auth', {
        code: 0,
        text: 'no password is sent over a connection that is not encrypted; set mail.security',
        lines: [],
      });
    }
    const base64 = (text: string): string => Buffer.from(text, 'utf8').toString('base64');
    if (/\bPLAIN\b/.test(offered)) {
      await this.#ask(`AUTH PLAIN ${base64(`\0${user}\0${password}`)}`, 'auth');
    } else if (/\bLOGIN\b/.test(offered)) {
      await this.#ask('AUTH LOGIN', 'auth', 334);
      await this.#ask(base64(user), 'auth', 334);
      await this.#ask(base64(password), 'auth');
    } else {
      throw new SmtpRefusal('auth', {
        code: 0,
        text: `it supports neither PLAIN nor LOGIN for signing in (${offered || 'nothing'})`,
        lines: [],
      });
    }
  }

  async #ask(line: string, stage: SmtpRefusal['stage'], wanted?: number): Promise<Reply> {
    this.#socket.write(`${line}\r\n`);
    return this.#expect(await this.#reply(), stage, wanted);
  }

  #expect(reply: Reply, stage: SmtpRefusal['stage'], wanted?: number): Reply {
    const { code } = reply;
    if (wanted === undefined ? code < 200 || code > 299 : code !== wanted) {
      throw new SmtpRefusal(stage, reply);
    }
    return reply;
  }

  /** Reads a reply: `250-first` continues, `250 last` ends. */
  async #reply(): Promise<Reply> {
    const lines: string[] = [];
    for (;;) {
      const end = this.#buffered.indexOf('\n');
      if (end >= 0) {
        const line = this.#buffered.slice(0, end).replace(/\r$/, '');
        this.#buffered = this.#buffered.slice(end + 1);
        lines.push(line.slice(4).replaceAll(/[^ -~]/g, ' '));
        if (!/^\d{3}(?:[ -]|$)/.test(line) || lines.length > mostLines) {
          throw new SmtpRefusal('connect', {
            code: 0,
            text: 'it is not an SMTP server',
            lines: [],
          });
        }
        if (line[3] !== '-') {
          return { code: Number(line.slice(0, 3)), text: lines.join(' ').slice(0, 300), lines };
        }
        continue;
      }
      if (this.#trouble !== undefined) {
        throw this.#trouble;
      }
      await new Promise<void>((wake) => (this.#wake = wake));
    }
  }

  #listen(): void {
    const socket = this.#socket;
    socket.on('data', (bytes: Buffer) => {
      this.#buffered += bytes.toString('latin1');
      if (this.#buffered.length > mostBuffered) {
        this.#fail(
          new SmtpRefusal('connect', {
            code: 0,
            text: 'it answers more than any SMTP server does',
            lines: [],
          }),
        );
      }
      this.#wake();
    });
    socket.on('error', (error) => this.#fail(error));
    socket.on('close', () =>
      this.#fail(Object.assign(new Error('the connection was closed'), { code: 'ECONNRESET' })),
    );
  }

  readonly #stop = (): void =>
    this.#fail(Object.assign(new Error('it took too long'), { code: 'ETIMEDOUT' }));

  #fail(error: Error): void {
    this.#trouble ??= error;
    this.#socket.destroy();
    this.#wake();
  }

  #tls(): ConnectionOptions {
    const { host, ca, insecure } = this.#server;
    return {
      // A literal address is not a valid server name.
      ...(isIP(host) === 0 && { servername: host }),
      ...(ca !== '' && { ca }),
      rejectUnauthorized: !insecure,
      checkServerIdentity: (_, certificate) => checkServerIdentity(host, certificate),
    };
  }
}
