import { syncBuiltinESMExports } from 'node:module';
import net, { type Socket } from 'node:net';
import os from 'node:os';

type Methods = Record<string, unknown>;

/**
 * Members of process that reach other processes, other modules, other users, or files past the
 * permission model.
 */
const closedOfProcess: readonly string[] = [
  ...[
    'kill',
    '_kill',
    '_debugProcess',
    '_debugEnd',
    '_startProfilerIdleNotifier',
    '_stopProfilerIdleNotifier',
  ],
  ...[
    'getBuiltinModule',
    'mainModule',
    'binding',
    '_linkedBinding',
    'dlopen',
    'report',
    'loadEnvFile',
    'execve',
    'chdir',
  ],
  ...[
    'setuid',
    'seteuid',
    'setgid',
    'setegid',
    'setgroups',
    'initgroups',
    '_getActiveHandles',
    '_getActiveRequests',
  ],
];

/**
 * Closes what the permission model leaves open, before the first line of a pack runs. `channel` is
 * the connection to the host.
 */
export function closeCage(channel: Socket, { network }: { readonly network: boolean }): void {
  for (const name of closedOfProcess) {
    Reflect.deleteProperty(process, name);
  }
  ['setPriority', 'userInfo', 'networkInterfaces'].forEach((name) =>
    Reflect.deleteProperty(os, name),
  );
  if (!network) {
    closeNetwork(channel);
  }
  syncBuiltinESMExports();
}

/**
 * Closes the network. Every connection of Node goes through one of these objects, including those
 * of fetch, and a pack cannot get the functions below them: this runs first, and its replacements
 * stay.
 */
function closeNetwork(channel: Socket): void {
  const { _createServerHandle: handleOf } = net as unknown as {
    _createServerHandle(address: null, port: number, family: number): { close(): void };
  };
  const tcp = handleOf(null, 0, 4);
  const pipe = (channel as unknown as { _handle: object })._handle;
  const names = ['connect', 'connect6', 'bind', 'bind6', 'listen'];
  [tcp, pipe].forEach((handle) => seal(Object.getPrototypeOf(handle) as Methods, names));
  tcp.close();
  seal(net.Socket.prototype as unknown as Methods, ['connect']);
  seal(net.Server.prototype as unknown as Methods, ['listen', '_listen2']);
  for (const name of ['fetch', 'WebSocket', 'EventSource']) {
    Reflect.deleteProperty(globalThis, name);
  }
}

function seal(prototype: Methods, names: readonly string[]): void {
  for (const name of names.filter((known) => typeof prototype[known] === 'function')) {
    const value = (): never => {
      throw Object.assign(
        new Error(
          'Access to this API has been restricted: the permissions of this pack do not include "network"',
        ),
        {
          code: 'ERR_ACCESS_DENIED',
          permission: 'Net',
        },
      );
    };
    Object.defineProperty(prototype, name, { value, writable: false, configurable: false });
  }
}
