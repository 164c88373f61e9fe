import { connect, type Socket } from 'node:net';

import type { EdgeStreamService, LocalPolicy } from 'svc/contracts/edge-uplink';

import { errors } from './errors.ts';

const dialMs = 10_000;

/** Bytes to an address that the owner of this machine allows; the manager only names it. */
export const tcpStream = (policy: LocalPolicy): EdgeStreamService => ({
  name: 'tcp',
  async open(meta, stream) {
    const { host, port } = readTarget(meta);
    const wanted = host.includes(':') ? `[${host}]:${port}` : `${host}:${port}`;
    const { tcp, webshell } = policy.current();
    // This reaches the host's SSH server; a manager that does not know of "webshell: false" is
    // refused here.
    if (!webshell) {
      throw errors.no_shells();
    }
    if (!tcp.includes(wanted)) {
      throw errors.tcp_not_allowed({ wanted });
    }
    const socket = await dial(host, port, wanted);
    const end = (): void => {
      socket.destroy();
      stream.destroy();
    };
    socket.once('error', (error) => stream.reset('unavailable', `${wanted}: ${error.message}`));
    stream.once('error', () => socket.destroy());
    socket.once('close', () => stream.end());
    stream.once('close', end);
    socket.pipe(stream);
    stream.pipe(socket);
  },
});

function readTarget(meta: unknown): { host: string; port: number } {
  const { host, port } = (meta ?? {}) as { host?: unknown; port?: unknown };
  if (
    typeof host !== 'string' ||
    host.length === 0 ||
    host.length > 255 ||
    !Number.isInteger(port) ||
    (port as number) < 1 ||
    (port as number) > 65_535
  ) {
    throw errors.tcp_target();
  }
  return { host, port: port as number };
}

function dial(host: string, port: number, wanted: string): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const socket = connect({ host, port, noDelay: true });
    socket.setTimeout(dialMs, () =>
      socket.destroy(new Error(`does not answer within ${dialMs / 1_000} s`)),
    );
    socket.once('error', (error) => reject(errors.tcp_failed({ wanted, cause: error.message })));
    socket.once('connect', () => {
      socket.setTimeout(0);
      socket.removeAllListeners('error');
      resolve(socket);
    });
  });
}
