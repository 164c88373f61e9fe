import { messageOf, type PluginContext } from 'svc/sdk';

const everyMs = 15_000;

/** Gauges of a store: what each is, and where it stands in the status. */
export type Figures<Status> = Readonly<
  Record<string, readonly [string, (status: Status) => number]>
>;

/** Shows the figures of a store as metrics of this process, read every 15 s. */
export function followFigures<Status>(
  { metrics, scope, log }: Pick<PluginContext, 'metrics' | 'scope' | 'log'>,
  store: string,
  read: () => Promise<Status>,
  figures: Figures<Status>,
  /** Called with each status that was read. */
  follow: (status: Status) => void = () => undefined,
): void {
  const gauges = Object.entries(figures).map(
    ([name, [help, of]]) => [metrics.gauge(name, help), of] as const,
  );
  scope.interval('read the figures of the store', everyMs, async () => {
    try {
      const status = await read();
      gauges.forEach(([gauge, of]) => gauge.set(of(status)));
      follow(status);
    } catch (error) {
      log.debug(
        { cause: messageOf(error) },
        `failed to read ${store} statistics; retrying in 15 s`,
      );
    }
  });
}
