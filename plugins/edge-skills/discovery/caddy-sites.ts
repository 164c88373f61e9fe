import { hostNames, type ReadFiles, type Site, siteOf } from './site.ts';

const maxTokens = 50_000;
const token = /\n|#[^\n]*|"(?:\\.|[^"\\])*"|`[^`]*`|[^\s"`]+/g;

/** Sites and certificate files in a Caddyfile and in the files that it imports. */
export async function caddySites(
  file: string,
  readFiles: ReadFiles,
): Promise<{ readonly sites: readonly Site[]; readonly certificates: readonly string[] }> {
  const addresses: string[] = [];
  const certificates = new Set<string>();
  const home = file.slice(0, file.lastIndexOf('/') + 1);
  const from = (path: string): string => (path.startsWith('/') ? path : home + path);

  const take = async (text: string): Promise<void> => {
    let depth = 0;
    for (const line of linesOf(text)) {
      const opens = line.at(-1) === '{';
      const words = opens ? line.slice(0, -1) : line;
      if (words[0] === '}') {
        depth = Math.max(0, depth - 1);
      } else if (depth === 0 && words[0] === 'import' && words[1] !== undefined) {
        for (const imported of await readFiles(from(words[1]))) {
          await take(imported);
        }
      } else if (depth === 0) {
        // Options and snippets have no address: a bracket alone, or a name in parentheses.
        addresses.push(...words.filter((word) => !/[(){}]/.test(word)));
        // The only site of a file needs no brackets.
        depth += opens ? 0 : 1;
      } else if (depth === 1 && words[0] === 'tls' && words.length === 3) {
        certificates.add(from(words[1]!));
      }
      depth += opens ? 1 : 0;
    }
  };
  for (const text of await readFiles(file)) {
    await take(text);
  }
  return { sites: addresses.flatMap(sitesOf), certificates: [...certificates] };
}

/** Words of each line that has any; a line that ends with a comma goes on with the next. */
function linesOf(text: string): readonly (readonly string[])[] {
  const lines: string[][] = [[]];
  let count = 0;
  for (const [found] of withoutHeredocs(text).matchAll(token)) {
    const line = lines.at(-1)!;
    if (++count > maxTokens) {
      break;
    }
    if (found === '\n') {
      if (line.length > 0 && !line.at(-1)!.endsWith(',')) {
        lines.push([]);
      }
    } else if (!found.startsWith('#')) {
      line.push(/^["`]/.test(found) ? found.slice(1, -1) : found);
    }
  }
  return lines.filter((line) => line.length > 0);
}

/** Drops texts of several lines that stand in the configuration, from `<<NAME` to a line with that name. */
function withoutHeredocs(text: string): string {
  let end: string | undefined;
  const kept = text.split('\n').filter((line) => {
    const isInside = end !== undefined;
    end = isInside ? (line.trim() === end ? undefined : end) : /<<(\w{1,64})$/.exec(line)?.[1];
    return !isInside;
  });
  return kept.join('\n');
}

/** Caddy serves a host by HTTPS unless its address says otherwise. */
function sitesOf(address: string): readonly Site[] {
  const { scheme, host, port } =
    /^(?:(?<scheme>https?):\/\/)?(?<host>[^:/,]+)(?::(?<port>\d{1,5}))?(?:\/[^,]*)?,?$/.exec(
      address,
    )?.groups ?? {};
  const used = scheme ?? (port === '80' ? 'http' : 'https');
  return hostNames([host ?? '']).map((name) =>
    siteOf('caddy', name, used, Number(port ?? (used === 'https' ? 443 : 80))),
  );
}
