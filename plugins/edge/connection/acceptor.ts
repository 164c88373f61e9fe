import type { EdgeWelcome } from 'svc/edge-protocol';
import {
  type Clock,
  type Ids,
  isSvcError,
  type Logger,
  messageOf,
  type RouteDeclaration,
  type Socket,
  socketRoute,
} from 'svc/sdk';
import {
  type AuthenticatedEdge,
  closeCode,
  isRefusal,
  maxMessageBytes,
  openSession,
  retryWindow,
  serverHandshake,
  spreadMs,
  type Sweeper,
  type TunnelHandlers,
  tunnelPath,
  tunnelProtocol,
  TunnelRefusal,
  type TunnelSession,
} from 'svc/tunnel';

import type { CloneDetector } from '../identity/clone-detector.ts';
import type { Conflicts } from '../identity/conflicts.ts';
import type { Keyring } from '../identity/keyring.ts';
import type { Rotations } from '../identity/rotations.ts';
import type { Presence } from '../presence/presence.ts';
import type { EdgeTable } from '../record/edge-table.ts';
import type { LiveKey } from '../record/live-key.ts';
import type { Neighbours } from '../record/neighbours.ts';
import type { EdgeRecord } from '../record/record.ts';
import { CapabilityReader, type Tunnel } from '../record/tunnel.ts';
import type { AdmissionQueue } from './admission-queue.ts';
import type { HandshakeLimits } from './handshake-limits.ts';
import type { Pushes } from './pushes.ts';

export interface AcceptorParts {
  readonly edgeTable: EdgeTable;
  readonly keyring: Keyring;
  readonly limits: HandshakeLimits;
  readonly clones: CloneDetector;
  readonly conflicts: Conflicts;
  readonly presence: Presence;
  readonly neighbours: Pick<Neighbours, 'forget'>;
  readonly rotations: Rotations;
  readonly pushes: Pick<Pushes, 'taken'>;
  readonly sweeper: Sweeper;
  readonly ids: Ids;
  readonly clock: Clock;
  readonly random: () => number;
  readonly log: Logger;
  readonly managerVersion: string;
  /** Handlers of what sessions send, by the sending session. */
  readonly handlers: TunnelHandlers;
  readonly owners: Map<TunnelSession, EdgeRecord>;
  /** Called when this edge starts being served. */
  readonly onServing: (record: EdgeRecord) => void;
}

const uuid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;
const version = /^v?\d{1,6}\.\d{1,6}\.\d{1,6}([-+][0-9A-Za-z.-]{1,40})?$/;
/** A machine that was displaced by another comes back late, so that the two do not take turns at full speed. */
const displaced = { retryMinMs: 20_000, retryMaxMs: 40_000, graceMs: 0 } as const;

/**
 * Max delay of a proof whose time is still trusted. With a longer one, as in a stalled manager, it
 * would be reported as a wrong clock.
 */
const longestTurnMs = 2_000;

const skewOf = (now: unknown, at: number): number | null =>
  typeof now === 'number' && Math.abs(now) < 8.64e15 ? Math.round(now - at) : null;

/** Takes a socket from its first byte to the tunnel that serves an edge. */
export class Acceptor {
  readonly #parts: AcceptorParts;
  readonly #capabilities = new CapabilityReader();

  constructor(parts: AcceptorParts) {
    this.#parts = parts;
  }

  async accept(ip: string, socket: Socket): Promise<void> {
    const { edgeTable, keyring, limits, rotations, sweeper, ids, log } = this.#parts;
    const ended = limits.begin(ip);
    try {
      const edge = await serverHandshake<LiveKey>(socket, {
        sweeper,
        ids,
        find: (accessKey) => keyring.living(accessKey),
        admit: (proved) => this.#admit(proved, ip),
      });
      ended(true);
      const record = edgeTable.byAccessKey(edge.accessKey);
      if (!record || edge.hello.purpose === 'probe') {
        if (record) {
          rotations.probed(record, edge.keys.generation);
        }
        socket.close(closeCode.normal, 'proved');
        return;
      }
      this.#serve(edge, record, socket);
    } catch (error) {
      ended(false);
      if (isRefusal(error)) {
        log.info({ ip, close_code: error.closeCode, cause: error.message }, 'edge refused');
        return;
      }
      log.error(
        { event: 'edge.handshake_failed', ip, cause: messageOf(error) },
        'edge handshake failed',
      );
      socket.close(
        closeCode.unavailable,
        isSvcError(error) ? error.message : 'internal error of the manager; try again',
      );
    }
  }

  /** Admits an edge after the proof: the right secret alone is not enough. */
  async #admit(
    { accessKey, hello, machineKey, state }: AuthenticatedEdge<LiveKey>,
    ip: string,
  ): Promise<Readonly<Record<string, unknown>>> {
    const { edgeTable, clones, conflicts, pushes, managerVersion } = this.#parts;
    const record = edgeTable.byAccessKey(accessKey);
    if (!record) {
      throw new TunnelRefusal(closeCode.revoked, 'this edge was deleted');
    }
    if (!uuid.test(hello.agent_id) || !version.test(hello.agent_version)) {
      throw new TunnelRefusal(
        closeCode.protocol,
        'agent_id is a UUID, and agent_version is like v1.2.3',
      );
    }
    const machine = hello.agent_id.toLowerCase();
    conflicts.assertNone(record, machine);
    if (hello.purpose === 'serve') {
      conflicts.assertItsMachine(record, { machineKey, state }, ip);
      const machines = clones.connecting(record, machine, hello.boot_id);
      if (machines) {
        await conflicts.declare(record, machines);
        conflicts.assertNone(record, machine);
      }
    }
    const welcome: EdgeWelcome = {
      edge_id: record.id,
      name: record.name,
      manager_version: managerVersion,
      takes_pushes: pushes.taken,
      spread_ms: spreadMs(edgeTable.size),
    };
    return { ...welcome };
  }

  #serve(
    { hello, state, statedAt, turnMs, keys, machineKey }: AuthenticatedEdge<LiveKey>,
    record: EdgeRecord,
    socket: Socket,
  ): void {
    const { presence, neighbours, rotations, sweeper, random, log, handlers, owners, onServing } =
      this.#parts;
    const session = openSession(socket, {
      side: 'manager',
      sweeper,
      log,
      handlers,
      random,
      label: `edge ${record.id}`,
    });
    const hash = state['config_hash'];
    const tunnel: Tunnel = {
      session,
      generation: keys.generation,
      machine: hello.agent_id.toLowerCase(),
      machineKey,
      bootId: hello.boot_id,
      capabilities: this.#capabilities.read(hello.caps),
      clockSkewMs: turnMs < longestTurnMs ? skewOf(state['now'], statedAt) : null,
      configHash: typeof hash === 'string' ? hash : undefined,
      settling: false,
    };
    owners.set(session, record);
    const older = presence.connected(record, tunnel, hello.agent_version);
    older?.session.goAway(
      { code: closeCode.duplicate, message: 'replaced by a newer connection of this edge' },
      displaced,
    );
    socket.onLeave(() =>
      session.goAway(
        { code: closeCode.restart, message: 'the manager stops or restarts' },
        { ...retryWindow(presence.up.size), graceMs: 0 },
      ),
    );
    void session.closed.then((end) => {
      owners.delete(session);
      presence.closed(record, tunnel, end);
      if (record.tunnel === undefined) {
        neighbours.forget(record);
      }
    });
    rotations.proved(record, keys.generation);
    void rotations.offer(record);
    onServing(record);
  }
}

export const tunnelRoute = (
  limits: HandshakeLimits,
  queue: AdmissionQueue,
  acceptor: Acceptor,
): RouteDeclaration =>
  socketRoute({
    path: tunnelPath,
    access: 'public',
    summary:
      "Open an edge's tunnel; returns 503 with Retry-After if too many edges connect at once",
    protocols: [tunnelProtocol],
    maxMessageBytes,
    errors: ['unavailable'],
    knock({ ip }) {
      limits.admit(ip);
      return queue.enter();
    },
    handle: ({ ip }, socket) => acceptor.accept(ip, socket),
  });
