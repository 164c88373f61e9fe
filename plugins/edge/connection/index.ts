import { EdgePushes } from 'svc/contracts/ingest';
import { MetricsIngest } from 'svc/contracts/metricsdb';
import type { PluginContext, RouteDeclaration } from 'svc/sdk';
import type { TunnelSession } from 'svc/tunnel';

import type { Base } from '../base.ts';
import type { EdgeRecord } from '../record.ts';
import { EdgeView } from '../shown.ts';
import { Acceptor, type AcceptorParts, tunnelRoute } from './acceptor.ts';
import { AdmissionQueue } from './admission-queue.ts';
import { CloneDetector } from './clone-detector.ts';
import { Conflicts } from './conflicts.ts';
import { DeviceBindings } from './device-bindings.ts';
import { EdgeSecrets } from './edge-secrets.ts';
import { EventIntake, type Receiver } from './event-intake.ts';
import { HandshakeLimits } from './handshake-limits.ts';
import { Introductions } from './introductions.ts';
import { Keyring } from './keyring.ts';
import { OnlineSeries } from './online-series.ts';
import { Presence } from './presence.ts';
import { Pushes } from './pushes.ts';
import { Rotations } from './rotations.ts';

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
  const view = new EdgeView(base, presence);
  const clones = new CloneDetector(clock);
  const rotations = new Rotations(base);
  const owners = new Map<TunnelSession, EdgeRecord>();
  return {
    presence,
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
    introductions: new Introductions(base),
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
