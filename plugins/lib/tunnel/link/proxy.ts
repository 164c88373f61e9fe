import { isIP, connect as connectTcp, type Socket } from 'node:net';
import { connect as connectTls, type ConnectionOptions } from 'node:tls';

import { errors } from './errors.ts';

/** Target, with its TLS verification, as for `node:http` and `node:tls`. */
export interface ProxyTarget extends ConnectionOptions {
  readonly host?: string | undefined;
  readonly port?: number | undefined;
}

type Opened = (error: Error | null, socket?: Socket) => void;

const answerMs = 15_000;
const maxAnswerBytes = 16 * 1024;

/**
 * The proxy that the environment names for an address: HTTPS_PROXY or HTTP_PROXY, unless NO_PROXY has its host. The machine itself is never
 * reached through one.
 */
export function proxyFor(
  { protocol, hostname, port }: URL,
  environment: Readonly<Record<string, string | undefined>>,
): string | undefined {
  const named = (name: string): string | undefined =>
    environment[name.toLowerCase()] || environment[name] || undefined;
  const host = hostname.replace(/^\[|\]$/g, '').toLowerCase();
  if (/^(localhost|127\.[\d.]+|::1)$/.test(host)) {
    return undefined;
  }
  const exempt = (named('NO_PROXY') ?? '').toLowerCase().split(/[\s,]+/);
  const covers = (entry: string): boolean => {
    const [, name, only] = /^\*?\.?(.*?)(?::(\d+))?$/.exec(entry)!;
    return (
      name !== '' &&
      (only === undefined || only === port) &&
      (host === name || host.endsWith(`.${name}`))
    );
  };
  return exempt.includes('*') || exempt.some(covers)
    ? undefined
    : named(protocol === 'https:' || protocol === 'wss:' ? 'HTTPS_PROXY' : 'HTTP_PROXY');
}

/** Throws invalid_argument when this is no address of a proxy. */
export function proxyUrl(text: string): URL {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined || !/^https?:$/.test(url.protocol)) {
    // The invalid text may contain a password.
    throw errors.proxy_address();
  }
  return url;
}

/**
 * Returns a `createConnection` that reaches one server through a proxy, by CONNECT; `secure` runs
 * TLS inside, which the proxy cannot read.
 */
export const through =
  (proxy: string, secure: boolean) =>
  (to: ProxyTarget, opened: Opened): undefined => {
    const { host = '', port = secure ? 443 : 80 } = to;
    tunnelled(proxyUrl(proxy), host, Number(port), (error, socket) => {
      if (!socket || !secure) {
        opened(error, socket);
        return;
      }
      const { ca, rejectUnauthorized } = to;
      const checks = {
        ...(ca !== undefined && { ca }),
        ...(rejectUnauthorized !== undefined && { rejectUnauthorized }),
      };
      opened(
        null,
        connectTls({ socket, host, ...(isIP(host) === 0 && { servername: host }), ...checks }),
      );
    });
    return undefined;
  };

function tunnelled(proxy: URL, host: string, port: number, opened: Opened): void {
  const at = {
    host: proxy.hostname.replace(/^\[|\]$/g, ''),
    port: Number(proxy.port) || (proxy.protocol === 'https:' ? 443 : 80),
  };
  const socket =
    proxy.protocol === 'https:'
      ? connectTls({ ...at, ...(isIP(at.host) === 0 && { servername: at.host }) })
      : connectTcp(at);
  const authority = `${isIP(host) === 6 ? `[${host}]` : host}:${port}`;
  const user = decodeURIComponent(proxy.username);
  const login =
    user === ''
      ? ''
      : `Proxy-Authorization: Basic ${Buffer.from(`${user}:${decodeURIComponent(proxy.password)}`).toString('base64')}\r\n`;
  let said = Buffer.alloc(0);
  const end = (error?: Error): void => {
    socket.setTimeout(0);
    socket.off('data', read).off('error', end).off('close', closed).off('timeout', silent);
    if (error) {
      // A late error of an abandoned connection is irrelevant.
      socket.once('error', () => undefined).destroy();
    }
    opened(error ?? null, error ? undefined : socket);
  };
  const refuse = (why: string): void => end(errors.proxy_failed({ host: proxy.host, why }));
  const closed = (): void => refuse(`closed the connection before it led to ${authority}`);
  const silent = (): void =>
    refuse(`did not answer within ${answerMs / 1_000} s when it was asked for ${authority}`);
  const read = (chunk: Buffer): void => {
    said = Buffer.concat([said, chunk]);
    const length = said.indexOf('\r\n\r\n');
    if (length < 0) {
      return said.length > maxAnswerBytes ? refuse('answers, but not as a proxy does') : undefined;
    }
    const status = /^HTTP\/1\.[01] (\d{3})/.exec(said.toString('latin1'))?.[1];
    if (status === undefined || !status.startsWith('2')) {
      refuse(
        `refuses to connect to ${authority} (${status ?? 'no HTTP'})${status === '407' ? ': it wants a user and a password in its address' : ''}`,
      );
      return;
    }
    socket.pause();
    socket.unshift(said.subarray(length + 4));
    end();
  };
  socket.setTimeout(answerMs);
  socket.on('data', read).on('error', end).on('close', closed).on('timeout', silent);
  socket.once(proxy.protocol === 'https:' ? 'secureConnect' : 'connect', () =>
    socket.write(`CONNECT ${authority} HTTP/1.1\r\nHost: ${authority}\r\n${login}\r\n`),
  );
}
