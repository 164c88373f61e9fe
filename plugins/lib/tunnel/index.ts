export type {
  CallOptions,
  GoAwayOptions,
  GoAwayReason,
  InboundCall,
  SessionEnd,
  SessionOptions,
  SessionStats,
  Side,
  TunnelHandlers,
  TunnelListener,
  TunnelMethod,
  TunnelService,
  TunnelSession,
} from './contract.ts';
export {
  type Credentials,
  keysOf,
  makeCredentials,
  type StoredKeys,
  verifySecret,
} from './credentials.ts';
export {
  belowManager,
  connect,
  type ConnectOptions,
  type Connection,
  dial,
  type DialOptions,
  spkiPin,
} from './dial.ts';
export { type ClientHandshakeOptions, clientHandshake, type Welcome } from './client-handshake.ts';
export { type EdgeHello, type EdgeState, isRefusal, TunnelRefusal } from './hello.ts';
export {
  type AuthenticatedEdge,
  serverHandshake,
  type ServerHandshakeOptions,
} from './server-handshake.ts';
export { type FileJournalOptions, interruptedAnswer, openFileJournal } from './journal-file.ts';
export type { IdempotencyJournal, Outcome } from './journal.ts';
export {
  isPublicMachineKey,
  type MachineKey,
  machineKeyOf,
  makeMachineKey,
} from './machine-key.ts';
export { type MachineIdentity, openMachineIdentity } from './machine-identity.ts';
export {
  closeCode,
  defaultTunnelLimits,
  maxMessageBytes,
  type TunnelLimits,
  tunnelPath,
  tunnelProtocol,
} from './limits.ts';
export { proxyFor, type ProxyTarget, proxyUrl, through } from './proxy.ts';
export {
  type ReconnectEnd,
  type ReconnectPolicy,
  reconnects,
  retryWindow,
  spreadMs,
} from './reconnect.ts';
export { openSession } from './session.ts';
export type { TunnelStream } from './stream.ts';
export { readText, writeText } from './text-file.ts';
export { type Cancel, openSweeper, type Sweeper, sweepMs } from './sweeper.ts';
export type { MessageTransport } from './transport.ts';
