import type { RunningCore } from '../../core/boot/boot.ts';
import { Banner, type BannerLine } from '../../core/sdk/index.ts';
import type { Product } from '../../core/boot/settings/product.ts';

/** Lines to be copied are longer than a box should be, and stand below it. */
const widest = 100;

/**
 * Returns what an operator reads first at a start: the address, the data folder, what needs
 * attention.
 */
export function banner(
  { version }: Product,
  { url, dataDir, host, registry, parts }: RunningCore,
  startedInMs: number,
): string {
  const plugins = host.list();
  const active = plugins.filter(({ state }) => state === 'active').length;
  const troubled = plugins.filter(({ state }) => !['active', 'discovered'].includes(state));
  const open = !/^http:\/\/(127\.|localhost|\[::1\])/.test(url);
  const lines = [
    `svc v${version} is ready at ${url}`,
    ...(parts.http.tlsPort === undefined ? [] : [`TLS      on port ${parts.http.tlsPort}`]),
    `Data     ${dataDir}`,
    `Plugins  ${active} active${troubled.map(({ id, state }) => `, ${id} ${state} (svc plugin why ${id})`).join('')}`,
    ...linesOfPlugins({ registry, host, url }),
    ...(open
      ? [
          'Warning  accepts connections from other machines without TLS: set SVC_TLS_ADDR, SVC_TLS_CERT and SVC_TLS_KEY, or use a reverse proxy and keep SVC_HTTP_ADDR=127.0.0.1:8080',
        ]
      : []),
    `Ready in ${startedInMs} ms. Stop with Ctrl-C.`,
  ];
  const boxed = lines.filter((line) => line.length <= widest);
  const below = lines.filter((line) => line.length > widest).map((line) => `${line}\n\n`);
  const width = Math.max(...boxed.map((line) => line.length));
  const edge = '─'.repeat(width + 2);
  return `\n┌${edge}┐\n${boxed.map((line) => `│ ${line.padEnd(width)} │\n`).join('')}└${edge}┘\n\n${below.join('')}`;
}

/** Returns the lines that plugins contribute; one that fails costs its own line only. */
const linesOfPlugins = ({
  registry,
  host,
  url,
}: Pick<RunningCore, 'registry' | 'host' | 'url'>): readonly string[] =>
  [...registry.current.contributions.values()]
    .filter(({ value }) => value.point === Banner.id)
    .flatMap(({ owner, value }) => {
      try {
        const line: unknown = (value.value as BannerLine).line(url);
        return typeof line === 'string' ? [line] : [];
      } catch (error) {
        host.strike(owner, `contribution ${value.id} to ${Banner.id}`, error);
        return [];
      }
    });
