import { EdgePushes } from 'svc/contracts/ingest';
import { MetricsIngest } from 'svc/contracts/metricsdb';
import type { PluginContext, RouteDeclaration } from 'svc/sdk';
import type { TunnelSession } from 'svc/tunnel';

import type { Base } from './base.ts';
import { Acceptor, type AcceptorParts, tunnelRoute } from './connection/acceptor.ts';
import { AdmissionQueue } from './connection/admission-queue.ts';
import { DeviceBindings } from './connection/device-bindings.ts';
import { EventIntake, type Receiver } from './connection/event-intake.ts';
import { HandshakeLimits } from './connection/handshake-limits.ts';
import { Introductions } from './connection/introductions.ts';
import { Pushes } from './connection/pushes.ts';
import { CloneDetector } from './identity/clone-detector.ts';
import { Conflicts } from './identity/conflicts.ts';
import { EdgeSecrets } from './identity/edge-secrets.ts';
import { Keyring } from './identity/keyring.ts';
import { Rotations } from './identity/rotations.ts';
import { OnlineSeries } from './presence/online-series.ts';
import { Presence } from './presence/presence.ts';
import type { EdgeRecord } from './record/record.ts';
import { Neighbours } from './record/neighbours.ts';
import { EdgeView } from './record/shown.ts';

export type Connection = ReturnType<typeof openConnection>;

/** Everything between the first byte of an edge and the tunnel that serves it, apart from what its tunnel is used for. */
export function openConnection(base: Base, ctx: PluginContext) {
  const { edgeTable, clock, settings } = base;
  const store = ctx.services.maybe(MetricsIngest);
  const ingest = ctx.services.maybe(EdgePushes);
  const limits = () => ({
    unproved: 256,
    perSecond: settings.get<number>('edge.handshakes_per_second'),
    perAddress: settings.get<number>('edge.handshakes_per_address'),
  });

  const presence = new Presence(base);
  const neighbours = new Neighbours();
  const view = new EdgeView({ ...base, neighbours }, presence);
  const clones = new CloneDetector(clock);
  const rotations = new Rotations(base);
  const owners = new Map<TunnelSession, EdgeRecord>();
  return {
    presence,
    neighbours,
    view,
    clones,
    rotations,
    owners,
    keyring: new Keyring(base),
    limits: new HandshakeLimits({ ...base, limits }),
    queue: new AdmissionQueue({
      ...base,
      nextTurn: (ms, admit) => void ctx.scope.timeout('admit edges', ms, admit),
    }),
    conflicts: new Conflicts({ ...base, clones, view }),
    edgeSecrets: new EdgeSecrets({ ...base, rotations, clones, view }),
    introductions: new Introductions({ ...base, neighbours }),
    deviceBindings: new DeviceBindings(base),
    onlineSeries: new OnlineSeries({ edgeTable, presence, store }),
    pushes: new Pushes({ owners, ingest, settings }),
  };
}

/** The route of the tunnel; `receivers` take what edges report. */
export function acceptRoute(
  base: Base,
  connection: Connection,
  receivers: Readonly<Record<string, Receiver>>,
  onServing: AcceptorParts['onServing'],
): RouteDeclaration {
  const { limits, queue, owners, pushes } = connection;
  const intake = new EventIntake(new Map(Object.entries(receivers)), owners);
  const handlers = {
    events: intake.events,
    methods: new Map([
      ['tell', intake.tell],
      ['push', pushes.method],
    ]),
  };
  return tunnelRoute(limits, queue, new Acceptor({ ...base, ...connection, handlers, onServing }));
}
