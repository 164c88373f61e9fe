import type { Order } from './model/check.ts';
import { parseCondition } from './conditions/condition.ts';
import { hostPort, isName } from './probes/host-port.ts';

const headerName = /^[A-Za-z0-9!#$%&'*+.^_`|~-]+$/;

/** Fields that only some kinds know. */
const fieldsOf: Readonly<Record<string, readonly Order['kind'][]>> = {
  method: ['http'],
  headers: ['http'],
  body: ['http'],
  max_redirects: ['http'],
  insecure: ['http', 'tls'],
  ca: ['http', 'tls'],
  server_name: ['http', 'tls'],
  record_type: ['dns'],
  server: ['dns'],
  send: ['tcp'],
};

/** Returns what is wrong with an order, and in which field; undefined if nothing is. */
export function orderFault(
  order: Order,
): { readonly field: string; readonly message: string } | undefined {
  const { kind, target, server, conditions } = order;
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
  if (server !== undefined && hostPort(server, 53) === undefined) {
    return { field: 'server', message: 'must be host or host:port' };
  }
  if (kind === 'dns' && server === undefined && order.ip !== 'any') {
    return { field: 'ip', message: 'is for the address of a name server; set server as well' };
  }
  for (const [index, text] of conditions.entries()) {
    const condition = parseCondition(text);
    if ('fault' in condition) {
      return { field: `conditions/${index}`, message: condition.fault };
    }
  }
  return undefined;
}

function targetFault(kind: Order['kind'], target: string): string | undefined {
  switch (kind) {
    case 'http': {
      const url = URL.canParse(target) ? new URL(target) : undefined;
      return url !== undefined &&
        (url.protocol === 'http:' || url.protocol === 'https:') &&
        url.username === '' &&
        url.password === ''
        ? undefined
        : 'must be an http:// or https:// URL without a user or password';
    }
    case 'tcp':
      return hostPort(target) === undefined ? 'must be host:port' : undefined;
    case 'tls':
      return hostPort(target, 443) === undefined ? 'must be host or host:port' : undefined;
    default:
      return isName(target) ? undefined : 'must be a host name or an address';
  }
}
