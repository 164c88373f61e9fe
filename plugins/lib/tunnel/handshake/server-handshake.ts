import { type Ids, type MaybePromise, timestamp } from 'svc/sdk';

import type { StoredKeys } from '../identity/credentials.ts';
import { verifyMachine } from '../identity/machine-key.ts';
import { proveManager, transcriptBytes, verifyProof } from '../identity/proof.ts';
import { type Body, text } from '../message/body.ts';
import { frameType, ProtocolViolation } from '../message/frames.ts';
import { closeCode } from '../message/limits.ts';
import type { Sweeper } from '../message/sweeper.ts';
import type { MessageTransport } from '../message/transport.ts';
import { exchange } from './exchange.ts';
import { type EdgeHello, type EdgeState, TunnelRefusal } from './hello.ts';

/** An edge that has proved that it holds the secret. */
export interface AuthenticatedEdge<K extends StoredKeys = StoredKeys> {
  readonly accessKey: string;
  /** Keys returned by `find` that the edge proved: says which generation of the secret it uses. */
  readonly keys: K;
  readonly hello: EdgeHello;
  readonly state: EdgeState;
  /** When the state was written, by the manager's clock, give or take half of `turnMs`: how long its proof took to come. */
  readonly statedAt: number;
  readonly turnMs: number;
  /** The key of the machine, which has signed this handshake; undefined of an agent that has none. */
  readonly machineKey: string | undefined;
  readonly sessionId: string;
}

export interface ServerHandshakeOptions<K extends StoredKeys> {
  readonly sweeper: Sweeper;
  readonly ids: Ids;
  /** Every secret of this access key that still lives, newest first, at most two; an unknown key has none. */
  readonly find: (accessKey: string) => MaybePromise<readonly K[]>;
  /**
   * Called after the proof: throws TunnelRefusal to refuse the edge, returns what the welcome
   * contains.
   */
  readonly admit: (edge: AuthenticatedEdge<K>) => MaybePromise<Readonly<Record<string, unknown>>>;
  /** Channel binding of the TLS connection, known to both ends; default "none". */
  readonly channelBinding?: string;
  /** Default 10 s. */
  readonly timeoutMs?: number;
}

/** All that a stranger may send. */
export const strangerBytes = 1_280;
const maxCaps = 32;

/** Resolves once both sides have proved themselves; otherwise the connection is closed and it throws a TunnelRefusal. */
export function serverHandshake<K extends StoredKeys>(
  transport: MessageTransport,
  options: ServerHandshakeOptions<K>,
): Promise<AuthenticatedEdge<K>> {
  const { sweeper, ids, find, admit, channelBinding = 'none', timeoutMs = 10_000 } = options;
  return exchange(transport, { sweeper, timeoutMs, maxBytes: strangerBytes }, async (turns) => {
    const { frame, body } = await turns.receive(frameType.hello);
    const hello = readHello(body);
    const accessKey = text(body, 'ak', 64);
    const clientNonce = text(body, 'cnonce', 64);
    if (clientNonce.length < 43) {
      throw new ProtocolViolation('a nonce of less than 32 bytes');
    }
    const serverNonce = ids.token(32);
    const challenge = JSON.stringify({ snonce: serverNonce, time: timestamp(sweeper.clock.now()) });
    turns.send(frameType.challenge, challenge);
    const askedAt = sweeper.clock.monotonic();

    const { body: auth } = await turns.receive(frameType.auth);
    const turnMs = sweeper.clock.monotonic() - askedAt;
    const statedAt = sweeper.clock.now() - turnMs / 2;
    const proof = Buffer.from(text(auth, 'proof', 64), 'base64url');
    const stateText = text(auth, 'state', strangerBytes);
    const transcript = transcriptBytes({
      accessKey,
      clientNonce,
      serverNonce,
      hello: frame.payload,
      challenge: Buffer.from(challenge),
      state: stateText,
      channelBinding,
    });
    const keys = verifyProof(await find(accessKey), proof, transcript);
    if (!keys) {
      // The same error whether the key is unknown or the secret wrong.
      throw new TunnelRefusal(
        closeCode.unauthorized,
        'the access key is unknown or the secret is wrong',
      );
    }
    const state = readState(stateText);
    const edge = {
      accessKey,
      keys,
      hello,
      state,
      statedAt,
      turnMs,
      machineKey: machineOf(state, auth, transcript),
      sessionId: ids.uuid(),
    };
    const welcome = await admit(edge);
    turns.send(
      frameType.authOk,
      JSON.stringify({
        sig: proveManager(keys, transcript).toString('base64url'),
        session_id: edge.sessionId,
        time: sweeper.clock.now(),
        welcome,
      }),
    );
    return edge;
  });
}

/**
 * Parses the machine key. An edge without one is an agent from before there were keys; an invalid
 * one is no agent.
 */
function machineOf(
  { machine_key: key }: EdgeState,
  { machine_sig: signature }: Body,
  transcript: Buffer,
): string | undefined {
  if (key === undefined && signature === undefined) {
    return undefined;
  }
  if (!verifyMachine(key, signature, transcript)) {
    throw new TunnelRefusal(
      closeCode.unauthorized,
      'the machine has no proof of the key that it presents',
    );
  }
  return key;
}

function readHello(body: Body): EdgeHello {
  if (body['v'] !== 1) {
    throw new ProtocolViolation('another version of the protocol; this manager speaks 1');
  }
  const { caps, purpose } = body;
  if (
    !Array.isArray(caps) ||
    caps.length > maxCaps ||
    !caps.every((cap): cap is string => typeof cap === 'string' && cap.length <= 32)
  ) {
    throw new ProtocolViolation(`"caps" is not a list of at most ${maxCaps} names`);
  }
  if (purpose !== 'serve' && purpose !== 'probe') {
    throw new ProtocolViolation('"purpose" is neither serve nor probe');
  }
  return {
    agent_id: text(body, 'agent_id', 64),
    boot_id: text(body, 'boot_id', 64),
    agent_version: text(body, 'agent_version', 64),
    caps,
    purpose,
  };
}

function readState(stateText: string): EdgeState {
  let state: unknown;
  try {
    state = JSON.parse(stateText);
  } catch {
    throw new ProtocolViolation('a state that is no JSON');
  }
  if (typeof state !== 'object' || state === null || Array.isArray(state)) {
    throw new ProtocolViolation('a state that is no JSON object');
  }
  const entries = Object.entries(state);
  if (
    !entries.every(
      ([, value]) => value === null || ['string', 'number', 'boolean'].includes(typeof value),
    )
  ) {
    throw new ProtocolViolation('a state with more than plain values');
  }
  return Object.assign(Object.create(null) as object, Object.fromEntries(entries)) as EdgeState;
}
