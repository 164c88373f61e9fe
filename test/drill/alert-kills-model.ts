import type { InstantAnswer, MetricsQueries } from 'svc/contracts/metricsdb';

const devices = 20;
const waveMs = 3_000;

/**
 * Returns a store in which every few seconds another third of the devices is hot, different for
 * each rule; in calm mode none is.
 */
export function stormStore(calm: boolean): MetricsQueries {
  const none = { type: 'matrix' as const, labels: [], times: [], values: [], warnings: [] };
  return {
    async instant(query, time): Promise<InstantAnswer> {
      const rule = /^storm_(\d)/.exec(query);
      const wave = Math.floor(time / waveMs);
      const hot =
        rule === null || calm
          ? []
          : Array.from({ length: devices }, (_, device) => device).filter(
              (device) => (device + wave + Number(rule[1])) % 3 === 0,
            );
      return {
        type: 'vector',
        labels: hot.map((device) => ({ device_id: `${device}` })),
        times: new Float64Array(hot.length),
        values: new Float64Array(hot.length).fill(1),
        warnings: [],
      };
    },
    range: async () => none,
    series: async () => [],
    check: async (query) => ({ type: 'vector', printed: query, metrics: [] }),
    status: async () => ({ driver: 'embedded', ok: true, delayMs: 0 }),
  };
}
