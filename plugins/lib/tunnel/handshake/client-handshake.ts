import { timingSafeEqual } from 'node:crypto';

import type { Ids } from 'svc/sdk';

import { readSecret } from '../identity/credentials.ts';
import type { MachineKey } from '../identity/machine-key.ts';
import { proveEdge, transcriptBytes } from '../identity/proof.ts';
import { type Body, text } from '../message/body.ts';
import { frameType, headerBytes, ProtocolViolation } from '../message/frames.ts';
import { closeCode } from '../message/limits.ts';
import type { Sweeper } from '../message/sweeper.ts';
import type { MessageTransport } from '../message/transport.ts';
import { errors } from './errors.ts';
import { exchange } from './exchange.ts';
import { type EdgeHello, type EdgeState, TunnelRefusal } from './hello.ts';
import { strangerBytes } from './server-handshake.ts';

/** Welcome from the manager after both proofs. */
export interface Welcome {
  readonly sessionId: string;
  /** Milliseconds since the epoch by the manager's clock, about half a round trip ago. */
  readonly serverTime: number;
  /** Value returned by the manager's `admit`. */
  readonly body: Readonly<Record<string, unknown>>;
}

export interface ClientHandshakeOptions {
  readonly sweeper: Sweeper;
  readonly ids: Ids;
  readonly accessKey: string;
  readonly secretKey: string;
  readonly hello: EdgeHello;
  /**
   * Called when the manager waits for it, so that a time in it is recent. Hello and state together
   * may take about 700 bytes.
   */
  readonly state?: () => EdgeState;
  /**
   * Key that proves which machine it is, besides the secret. Default: none, as in earlier agents.
   */
  readonly machineKey?: MachineKey | undefined;
  readonly channelBinding?: string;
  /** Default 15 s. */
  readonly timeoutMs?: number;
}

/** Max size of the manager's messages, which may be longer than a stranger's. */
const managerBytes = 64 * 1024;

/** Throws a TunnelRefusal when the manager refuses, or cannot prove that it knows the edge; the connection is then closed. */
export function clientHandshake(
  transport: MessageTransport,
  options: ClientHandshakeOptions,
): Promise<Welcome> {
  const {
    sweeper,
    ids,
    accessKey,
    secretKey,
    state = () => ({}),
    machineKey,
    channelBinding = 'none',
    timeoutMs = 15_000,
  } = options;
  return exchange(transport, { sweeper, timeoutMs, maxBytes: managerBytes }, async (turns) => {
    const secret = readSecret(secretKey);
    if (!secret) {
      throw errors.secret_key();
    }
    const clientNonce = ids.token(32);
    const hello = helloText(accessKey, clientNonce, options.hello);
    // In the state, so that the proof of the secret covers it: nobody on the way can put another key in its place.
    const written = (): string =>
      JSON.stringify(
        machineKey === undefined ? state() : { ...state(), machine_key: machineKey.publicKey },
      );
    // The proof and its JSON take 80 bytes, the signature of the machine 102.
    if (
      Buffer.byteLength(hello) +
        Buffer.byteLength(JSON.stringify(written())) +
        2 * headerBytes +
        80 +
        (machineKey ? 102 : 0) >
      strangerBytes
    ) {
      throw errors.hello_too_large({ strangerBytes });
    }
    turns.send(frameType.hello, hello);

    const { frame, body } = await turns.receive(frameType.challenge);
    const serverNonce = text(body, 'snonce', 64);
    const stateText = written();
    const transcript = transcriptBytes({
      accessKey,
      clientNonce,
      serverNonce,
      hello: Buffer.from(hello),
      challenge: frame.payload,
      state: stateText,
      channelBinding,
    });
    const { proof, expected } = proveEdge(secret, transcript);
    const signature = machineKey && { machine_sig: machineKey.sign(transcript) };
    turns.send(
      frameType.auth,
      JSON.stringify({ proof: proof.toString('base64url'), state: stateText, ...signature }),
    );

    const { body: answer } = await turns.receive(frameType.authOk);
    return welcomeIn(answer, expected);
  });
}

const helloText = (
  accessKey: string,
  clientNonce: string,
  { agent_id, boot_id, agent_version, caps, purpose }: EdgeHello,
): string =>
  JSON.stringify({
    v: 1,
    ak: accessKey,
    cnonce: clientNonce,
    agent_id,
    boot_id,
    agent_version,
    caps,
    purpose,
  });

/** Reads the last turn; throws where the manager has not proved that it knows the edge. */
function welcomeIn(answer: Body, expected: Buffer): Welcome {
  const sig = Buffer.from(text(answer, 'sig', 64), 'base64url');
  if (sig.length !== expected.length || !timingSafeEqual(sig, expected)) {
    throw new TunnelRefusal(
      closeCode.unauthorized,
      'the server cannot prove that it knows this edge, so it is not its manager: check the address and the proxies before it',
    );
  }
  const { time, welcome } = answer;
  if (typeof time !== 'number' || typeof welcome !== 'object' || welcome === null) {
    throw new ProtocolViolation('a welcome without time or body');
  }
  return {
    sessionId: text(answer, 'session_id', 64),
    serverTime: time,
    body: welcome as Record<string, unknown>,
  };
}
