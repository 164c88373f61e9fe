import { type ClientHandshakeOptions, clientHandshake, type Welcome } from './client-handshake.ts';
import type { SessionOptions, TunnelSession } from './contract.ts';
import { dial, type DialOptions } from './dial.ts';
import { openSession } from './session.ts';

export interface ConnectOptions {
  readonly dial: DialOptions;
  readonly handshake: ClientHandshakeOptions;
  readonly session: Omit<SessionOptions, 'side' | 'sweeper'>;
}

export interface Connection {
  readonly session: TunnelSession;
  readonly welcome: Welcome;
}

/** Dials, proves, and opens the edge's side of a session. */
export async function connect(options: ConnectOptions): Promise<Connection> {
  const transport = await dial(options.dial);
  const welcome = await clientHandshake(transport, options.handshake);
  return { welcome, session: openSession(transport, { ...options.session, side: 'edge', sweeper: options.handshake.sweeper }) };
}
