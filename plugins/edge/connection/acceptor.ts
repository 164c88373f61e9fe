import { type Ids, isSvcError, type Logger, messageOf, type Socket } from 'svc/sdk';
import {
  type AuthenticatedEdge,
  closeCode,
  isRefusal,
  openSession,
  retryWindow,
  serverHandshake,
  spreadMs,
  type Sweeper,
  type TunnelHandlers,
  TunnelRefusal,
  type TunnelSession,
} from 'svc/tunnel';

import type { Conflicts } from './conflicts.ts';
import type { EdgeWelcome } from '../contract.ts';
import type { Desired } from '../plugins/desired-state.ts';
import type { Governor } from './handshake-limits.ts';
import type { Keyring } from './keyring.ts';
import type { LiveKey } from './live-key.ts';
import type { Presence } from './presence.ts';
import type { Pushes } from './pushes.ts';
import type { EdgeRecord } from '../record.ts';
import type { Rivalry } from './clone-detector.ts';
import type { Roll } from '../edge-table.ts';
import type { Rotations } from './rotations.ts';
import { createCapabilityReader, type Tunnel } from './tunnel.ts';

export interface GreetingParts {
  readonly roll: Roll;
  readonly keyring: Keyring;
  readonly governor: Governor;
  readonly rivalry: Rivalry;
  readonly conflicts: Conflicts;
  readonly presence: Presence;
  readonly rotations: Rotations;
  readonly desired: Desired;
  readonly sweeper: Sweeper;
  readonly ids: Ids;
  readonly random: () => number;
  readonly log: Logger;
  readonly managerVersion: string;
  /** What sessions tell, by the session that tells it. */
  readonly handlers: TunnelHandlers;
  readonly owners: Map<TunnelSession, EdgeRecord>;
  readonly pushes: Pick<Pushes, 'taken'>;
}

const uuid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;
const version = /^v?\d{1,6}\.\d{1,6}\.\d{1,6}([-+][0-9A-Za-z.-]{1,40})?$/;
/** Whoever was displaced by another machine comes back late, so that the two do not take turns at full speed. */
const displaced = { retryMinMs: 20_000, retryMaxMs: 40_000, graceMs: 0 } as const;

/** Takes a socket from its first byte to the tunnel that serves an edge. */
export function createGreeting(parts: GreetingParts): (ip: string, socket: Socket) => Promise<void> {
  const { roll, keyring, governor, rivalry, conflicts, presence, rotations, desired, sweeper, ids, random, log, handlers, owners } = parts;
  const capabilitiesOf = createCapabilityReader();

  /** After the proof: the right secret is not enough. */
  async function admit({ accessKey, hello }: AuthenticatedEdge<LiveKey>): Promise<Readonly<Record<string, unknown>>> {
    const record = roll.byAccessKey(accessKey);
    if (!record) {
      throw new TunnelRefusal(closeCode.revoked, 'this edge was deleted');
    }
    if (!uuid.test(hello.agent_id) || !version.test(hello.agent_version)) {
      throw new TunnelRefusal(closeCode.protocol, 'agent_id is a UUID, and agent_version is like v1.2.3');
    }
    const machine = hello.agent_id.toLowerCase();
    conflicts.assertNone(record, machine);
    if (hello.purpose === 'serve') {
      const machines = rivalry.note(record, machine, hello.boot_id);
      if (machines) {
        await conflicts.declare(record, machines);
        conflicts.assertNone(record, machine);
      }
    }
    const welcome: EdgeWelcome = {
      edge_id: record.id,
      name: record.name,
      manager_version: parts.managerVersion,
      takes_pushes: parts.pushes.taken,
      spread_ms: spreadMs(roll.size),
    };
    return { ...welcome };
  }

  function serve(edge: AuthenticatedEdge<LiveKey>, record: EdgeRecord, socket: Socket): void {
    const { hello, state, keys } = edge;
    const session = openSession(socket, { side: 'manager', sweeper, log, handlers, random, label: `edge ${record.id}` });
    const hash = state['config_hash'];
    const tunnel: Tunnel = {
      session,
      generation: keys.generation,
      machine: hello.agent_id.toLowerCase(),
      bootId: hello.boot_id,
      capabilities: capabilitiesOf(hello.caps),
      configHash: typeof hash === 'string' ? hash : undefined,
      settling: false,
    };
    owners.set(session, record);
    const older = presence.connected(record, tunnel, hello.agent_version);
    older?.session.goAway({ code: closeCode.duplicate, message: 'a newer connection serves this edge' }, displaced);
    socket.onLeave(() =>
      session.goAway({ code: closeCode.restart, message: 'the manager stops, or starts anew' }, { ...retryWindow(presence.up.size), graceMs: 0 }),
    );
    void session.closed.then((end) => {
      owners.delete(session);
      presence.closed(record, tunnel, end);
    });
    rotations.proved(record, keys.generation);
    void rotations.offer(record);
    desired.settle(record);
  }

  return async (ip, socket) => {
    const ended = governor.begin(ip);
    try {
      const edge = await serverHandshake<LiveKey>(socket, { sweeper, ids, find: (accessKey) => keyring.living(accessKey), admit });
      ended(true);
      const record = roll.byAccessKey(edge.accessKey);
      if (!record || edge.hello.purpose === 'probe') {
        if (record) {
          rotations.probed(record, edge.keys.generation);
        }
        socket.close(closeCode.normal, 'proved');
        return;
      }
      serve(edge, record, socket);
    } catch (error) {
      ended(false);
      if (isRefusal(error)) {
        log.info({ ip, code: error.closeCode, cause: error.message }, 'an edge was not let in');
        return;
      }
      log.error({ ip, cause: messageOf(error) }, 'the handshake with an edge failed');
      socket.close(closeCode.unavailable, isSvcError(error) ? error.message : 'something went wrong inside');
    }
  };
}
