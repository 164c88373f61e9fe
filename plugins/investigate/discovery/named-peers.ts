import type { Edge, LogTemplate, Node } from 'svc/rca';

import type { Entities } from './entities.ts';

const weight = 0.7;
const mostPeers = 4;

/** Places of a line where a name is that of somebody called: before a port, in an address, after such a word. */
const called =
  /(?:\b[a-z][a-z0-9+.-]*:\/\/([\w.-]+)|\b([A-Za-z][\w.-]*):\d{2,5}\b|\b(?:(?:call|calls|calling|request|requests|connect|connection|connecting)\s+)?(?:to|from|by|of|upstream|host|peer|service|calling|backend|endpoint|target|server|dependency)[\s=:"']+([A-Za-z][\w.-]*\w))/g;
/** Lines on a name that nobody could resolve: not who has the name is in trouble. */
const unresolved =
  /\b(?:getaddrinfo|lookup|nxdomain|servfail|unknown ?host\w*|name resolution|resolve (?:host|name)|could not resolve)\b|UnknownHostException/i;
/** Servers that resolve names, by the names of the programs. */
const resolver =
  /(?:^|[-_:/])(?:core|kube|node-local-)?-?dns(?:masq)?$|coredns|unbound|named$|powerdns|pdns|systemd-resolved/i;
const worth = new Set<LogTemplate['severity']>(['fatal', 'error', 'warn']);

const leastUnresolved = 2;

const textsOf = ({ template, samples }: LogTemplate): readonly string[] => [template, ...samples];
const isUnresolved = (log: LogTemplate): boolean =>
  worth.has(log.severity) && textsOf(log).some((text) => unresolved.test(text));

/** Adds to lines that complain whom they name: somebody who is called and is known by that name. */
export function withPeers(
  logs: readonly LogTemplate[],
  nodes: readonly Node[],
  entities: Entities,
): readonly LogTemplate[] {
  const known = new Set(nodes.map(({ id }) => id));
  // One that cannot resolve a name has a wrong one; several have nobody to ask.
  const complaining = new Set(logs.filter(isUnresolved).map(({ node }) => node));
  const resolvers =
    complaining.size < leastUnresolved
      ? []
      : nodes.filter(({ id, name }) => resolver.test(name) || resolver.test(id));
  return logs.map((log) => {
    if (!worth.has(log.severity)) {
      return log;
    }
    const texts = textsOf(log);
    const named = isUnresolved(log)
      ? resolvers.map(({ id }) => id)
      : texts.flatMap((text) =>
          [...text.matchAll(called)].flatMap(
            ([, host, address, word]) => entities.called((host ?? address ?? word)!)?.id ?? [],
          ),
        );
    const peers = [...new Set(named)].filter((id) => id !== log.node && known.has(id));
    return peers.length === 0 ? log : { ...log, peers: peers.slice(0, mostPeers) };
  });
}

/** Returns the calls that lines tell of and nothing else does. */
export function callsIn(logs: readonly LogTemplate[], edges: readonly Edge[]): readonly Edge[] {
  const known = new Set(edges.map(({ from, to }) => `${from}>${to}`));
  return logs.flatMap(({ node, evidence, peers = [] }) =>
    peers.flatMap((to): Edge[] => {
      const isNew = !known.has(`${node}>${to}`) && !known.has(`${to}>${node}`);
      known.add(`${node}>${to}`);
      return isNew ? [{ from: node, to, relation: 'calls', origin: 'log', evidence, weight }] : [];
    }),
  );
}
