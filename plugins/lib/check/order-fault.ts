import { isIP } from 'node:net';

import type { Order } from './model/check.ts';
import { stepsFault } from './model/step.ts';
import { type CheckKind, endpointOf, schemesOf, upgradingKinds } from './model/kinds.ts';
import { parseCondition } from './conditions/condition.ts';
import { hostPort, isName } from './probes/host-port.ts';

const headerName = /^[A-Za-z0-9!#$%&'*+.^_`|~-]+$/;

/** Name by which the owner of a machine lists a command. */
const commandName = /^[a-z][a-z0-9_-]{0,63}$/;

/** Kinds that may speak TLS. */
const secureKinds: readonly CheckKind[] = [...(Object.keys(schemesOf) as CheckKind[]), 'tls'];

/** Fields that only some kinds know. */
const fieldsOf: Readonly<Record<string, readonly Order['kind'][]>> = {
  method: ['http'],
  headers: ['http', 'websocket'],
  body: ['http'],
  max_redirects: ['http'],
  insecure: [...secureKinds, 'browser'],
  ca: secureKinds,
  server_name: secureKinds,
  record_type: ['dns'],
  server: ['dns', 'domain'],
  send: ['tcp', 'websocket', 'postgres'],
  username: ['smtp', 'postgres', 'mysql', 'redis', 'mqtt'],
  password: ['smtp', 'postgres', 'mysql', 'redis', 'mqtt'],
  tls: upgradingKinds,
  proxy: ['http'],
  steps: ['browser'],
  secrets: ['browser'],
};

/** Returns what is wrong with an order, and in which field; undefined if nothing is. */
export function orderFault(
  order: Order,
): { readonly field: string; readonly message: string } | undefined {
  const { kind, target, server, conditions, proxy, username, password } = order;
  const foreign = Object.entries(fieldsOf).find(
    ([field, kinds]) => order[field as keyof Order] !== undefined && !kinds.includes(kind),
  );
  if (foreign !== undefined) {
    return { field: foreign[0], message: `is not for checks of kind ${kind}` };
  }
  const message = targetFault(kind, target);
  if (message !== undefined) {
    return { field: 'target', message };
  }
  const header = Object.entries(order.headers ?? {}).find(
    ([name, value]) => !headerName.test(name) || /[\r\n\0]/.test(value),
  );
  if (header !== undefined) {
    return { field: `headers/${header[0]}`, message: 'is not a valid HTTP header' };
  }
  const serverMessage = server === undefined ? undefined : serverFault(kind, server);
  if (serverMessage !== undefined) {
    return { field: 'server', message: serverMessage };
  }
  if (proxy !== undefined && !isProxy(proxy)) {
    return { field: 'proxy', message: 'must be http://host:port, without a user or password' };
  }
  if (password !== undefined && username === undefined && kind !== 'redis') {
    return { field: 'username', message: 'must be set along with the password' };
  }
  if (kind === 'dns' && server === undefined && order.ip !== 'any') {
    return { field: 'ip', message: 'is for the address of a name server; set server as well' };
  }
  const stepFault =
    kind === 'browser'
      ? stepsFault(order.steps ?? [], order.secrets ?? {}, (text) => webFault(text) === undefined)
      : undefined;
  if (stepFault !== undefined) {
    return stepFault;
  }
  for (const [index, text] of conditions.entries()) {
    const condition = parseCondition(text);
    if ('fault' in condition) {
      return { field: `conditions/${index}`, message: condition.fault };
    }
    if (kind !== 'domain' && text.includes('[DOMAIN_EXPIRATION]')) {
      return {
        field: `conditions/${index}`,
        message: '[DOMAIN_EXPIRATION] is for checks of kind domain; add one for the domain itself',
      };
    }
  }
  return undefined;
}

function webFault(text: string): string | undefined {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  return url !== undefined &&
    (url.protocol === 'http:' || url.protocol === 'https:') &&
    url.username === '' &&
    url.password === ''
    ? undefined
    : 'must be an http:// or https:// URL without a user or password';
}

function serverFault(kind: Order['kind'], server: string): string | undefined {
  if (kind === 'domain') {
    return webFault(server);
  }
  return hostPort(server, 53) === undefined ? 'must be host or host:port' : undefined;
}

function targetFault(kind: Order['kind'], target: string): string | undefined {
  switch (kind) {
    case 'http':
    case 'browser':
      return webFault(target);
    case 'tcp':
      return hostPort(target) === undefined ? 'must be host:port' : undefined;
    case 'tls':
      return hostPort(target, 443) === undefined ? 'must be host or host:port' : undefined;
    case 'domain':
      return isName(target) && isIP(target) === 0 && target.includes('.')
        ? undefined
        : 'must be a domain such as example.org';
    case 'command':
      return commandName.test(target)
        ? undefined
        : 'must be the name of a command that the policy of the machine lists, such as disk';
    case 'dns':
    case 'ping':
      return isName(target) ? undefined : 'must be a host name or an address';
    default: {
      const schemes = Object.keys(schemesOf[kind] ?? {}).map((scheme) => `${scheme}://`);
      return endpointOf(kind, target) === undefined
        ? `must be host:port or a URL that begins with ${schemes.join(' or ')}, without a user or password`
        : undefined;
    }
  }
}

function isProxy(text: string): boolean {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  return url?.protocol === 'http:' && url.username === '' && url.password === '';
}
