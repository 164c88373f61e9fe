import { hostNames, type ReadFiles, type Site, siteOf } from './site.ts';

/** One directive with what is in its block, if it has one. */
interface Directive {
  readonly words: readonly string[];
  readonly block: Directive[] | undefined;
}

interface Listen {
  readonly port: number;
  readonly tls: boolean;
}

interface Server {
  readonly names: string[];
  /** Undefined: it does not say, which means port 80. */
  listens: readonly Listen[] | undefined;
}

const [maxTokens, maxDepth, maxServers] = [50_000, 16, 1_000];
const token = /#[^\n]*|"(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*'|[{};]|(?:\$\{\w*\}|[^\s{};])+/g;

/** Sites and certificate files in the configuration of nginx that begins with this file. */
export async function nginxSites(
  file: string,
  readFiles: ReadFiles,
): Promise<{ readonly sites: readonly Site[]; readonly certificates: readonly string[] }> {
  const servers: Server[] = [];
  const certificates = new Set<string>();
  const home = file.slice(0, file.lastIndexOf('/') + 1);
  const from = (path: string): string => (path.startsWith('/') ? path : home + path);

  const walk = async (directives: readonly Directive[], server?: Server): Promise<void> => {
    for (const { words, block } of directives) {
      const [name, ...args] = words;
      if (name === 'include' && args[0] !== undefined) {
        for (const text of await readFiles(from(args[0]))) {
          await walk(directivesIn(text), server);
        }
      } else if (name === 'server' && block !== undefined && servers.length < maxServers) {
        const inner: Server = { names: [], listens: undefined };
        servers.push(inner);
        await walk(block, inner);
      } else if (name === 'server_name') {
        server?.names.push(...args);
      } else if (name === 'listen' && server !== undefined) {
        server.listens = [...(server.listens ?? []), ...listenOf(args)];
      } else if (name === 'ssl_certificate' && args[0] !== undefined) {
        certificates.add(from(args[0]));
      } else if (block !== undefined && (name === 'http' || name === undefined)) {
        await walk(block, server);
      }
    }
  };
  for (const text of await readFiles(file)) {
    await walk(directivesIn(text));
  }
  return { sites: servers.flatMap(sitesOf), certificates: [...certificates] };
}

/** Returns one site for each name: if it is served with and without TLS, the one with it, to which the other leads. */
function sitesOf({ names, listens = [{ port: 80, tls: false }] }: Server): readonly Site[] {
  const listen = listens.find(({ tls }) => tls) ?? listens[0];
  return listen === undefined
    ? []
    : hostNames(names).map((name) =>
        siteOf('nginx', name, listen.tls ? 'https' : 'http', listen.port),
      );
}

/** Returns what others can reach: neither a socket file nor the loopback. */
function listenOf([where, ...flags]: readonly string[]): readonly Listen[] {
  const { address, port } =
    /^(?:(?<address>\[[^\]]*\]|[^:]*):)?(?<port>\d{1,5})$/.exec(where ?? '')?.groups ?? {};
  const isAddress = port === undefined && /^(?:\[[^\]]*\]|[\w.*-]+)$/.test(where ?? '');
  return (port !== undefined || isAddress) &&
    !/^(?:127\.|localhost|\[::1\])/.test(address ?? where!)
    ? [{ port: Number(port ?? 80), tls: flags.includes('ssl') }]
    : [];
}

/** Parses as much as is well-formed; what comes after a bracket too many is not read. */
function directivesIn(text: string): readonly Directive[] {
  const root: Directive[] = [];
  const open: Directive[][] = [root];
  let words: string[] = [];
  let count = 0;
  for (const [found] of text.matchAll(token)) {
    if (found.startsWith('#')) {
      continue;
    }
    if (++count > maxTokens) {
      break;
    }
    if (found === ';' || found === '{') {
      const block = found === '{' ? [] : undefined;
      open.at(-1)!.push({ words, block });
      words = [];
      if (block !== undefined && open.push(block) > maxDepth) {
        break;
      }
    } else if (found === '}') {
      words = [];
      if (open.length === 1) {
        break;
      }
      open.pop();
    } else {
      words.push(/^["']/.test(found) ? found.slice(1, -1) : found);
    }
  }
  return root;
}
