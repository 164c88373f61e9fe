export { errors as tunnelErrors } from './errors.ts';
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
} from './session/contract.ts';
export {
  type Credentials,
  keysOf,
  makeCredentials,
  type StoredKeys,
  verifySecret,
} from './identity/credentials.ts';
export { Addresses, isAddress, type ManagerAddress, mostAddresses } from './link/addresses.ts';
export {
  belowManager,
  connect,
  type ConnectOptions,
  type Connection,
  dial,
  type DialOptions,
  spkiPin,
} from './link/dial.ts';
export {
  type ClientHandshakeOptions,
  clientHandshake,
  type Welcome,
} from './handshake/client-handshake.ts';
export { type EdgeKeys, keysSum } from './identity/keys-sum.ts';
export { type EdgeHello, type EdgeState, isRefusal, TunnelRefusal } from './handshake/hello.ts';
export {
  type AuthenticatedEdge,
  serverHandshake,
  type ServerHandshakeOptions,
} from './handshake/server-handshake.ts';
export { type FileJournalOptions, openFileJournal } from './session/journal-file.ts';
export type { IdempotencyJournal, Outcome } from './session/journal.ts';
export {
  isPublicMachineKey,
  type MachineKey,
  machineKeyOf,
  makeMachineKey,
} from './identity/machine-key.ts';
export { type MachineIdentity, openMachineIdentity } from './identity/machine-identity.ts';
export {
  closeCode,
  defaultTunnelLimits,
  maxMessageBytes,
  type TunnelLimits,
  tunnelPath,
  tunnelProtocol,
} from './message/limits.ts';
export { proxyFor, type ProxyTarget, proxyUrl, through } from './link/proxy.ts';
export {
  type ReconnectEnd,
  type ReconnectPolicy,
  reconnects,
  retryWindow,
  spreadMs,
} from './link/reconnect.ts';
export { openSession } from './session/session.ts';
export type { TunnelStream } from './session/stream.ts';
export { readText, writeText } from './identity/text-file.ts';
export { type Cancel, openSweeper, type Sweeper, sweepMs } from './message/sweeper.ts';
export type { MessageTransport } from './message/transport.ts';
