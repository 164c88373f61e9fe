import { type RouteDeclaration, type Socket, socketRoute } from 'svc/sdk';
import { maxMessageBytes, tunnelPath, tunnelProtocol } from 'svc/tunnel';

import type { Governor } from './handshake-limits.ts';
import type { Lobby } from './admission-queue.ts';

export const tunnelRoute = (governor: Governor, lobby: Lobby, greet: (ip: string, socket: Socket) => Promise<void>): RouteDeclaration =>
  socketRoute({
    path: tunnelPath,
    access: 'public',
    summary: 'The tunnel of an edge, which proves itself after the upgrade; 503 with Retry-After when too many come at once',
    protocols: [tunnelProtocol],
    maxMessageBytes,
    errors: ['unavailable'],
    knock({ ip }) {
      governor.admit(ip);
      return lobby.enter();
    },
    handle: ({ ip }, socket) => greet(ip, socket),
  });
