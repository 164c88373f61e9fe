import type { Own } from '../../core/host/index.ts';
import type { Metrics, SelfSample } from '../../core/sdk/index.ts';

/** Metrics of an edge: few, and visible only through `core.self`. */
export interface EdgeMetrics {
  forPlugin(pluginId: string, own: Own): Metrics;
  samples(): readonly SelfSample[];
}

/** Series that one metric may have; what comes after is counted with those that have the label values `other`. */
const mostSeries = 100;

type Labels = Readonly<Record<string, string>>;

interface Series {
  readonly name: string;
  readonly labels: Labels;
  value: number;
}

/** Values in maps. The registry of the manager's metrics would cost an edge a twentieth of its memory. */
export function createEdgeMetrics(): EdgeMetrics {
  const families = new Map<string, Map<string, Series>>();

  function seriesOf(name: string, labels: Labels): Series {
    const family = families.get(name) ?? new Map<string, Series>();
    families.set(name, family);
    const key = JSON.stringify(Object.entries(labels).sort(([a], [b]) => (a < b ? -1 : 1)));
    const known = family.get(key);
    if (known) {
      return known;
    }
    if (family.size >= mostSeries && Object.values(labels).some((value) => value !== 'other')) {
      return seriesOf(
        name,
        Object.fromEntries(Object.keys(labels).map((label) => [label, 'other'])),
      );
    }
    const fresh: Series = { name, labels, value: 0 };
    family.set(key, fresh);
    return fresh;
  }

  return {
    forPlugin(pluginId, own) {
      const full = (name: string, ...endings: readonly string[]): string => {
        const id = `svc_${pluginId.replaceAll('-', '_')}_${name}`;
        own(`metric ${id}`, () =>
          ['', ...endings].forEach((ending) => families.delete(id + ending)),
        );
        return id;
      };
      return {
        counter(name) {
          const id = full(name);
          return { add: (amount = 1, labels = {}) => void (seriesOf(id, labels).value += amount) };
        },
        gauge(name) {
          const id = full(name);
          return { set: (value, labels = {}) => void (seriesOf(id, labels).value = value) };
        },
        histogram(name, _help, buckets) {
          const id = full(name, '_bucket', '_sum', '_count');
          return {
            observe(value, labels = {}) {
              for (const le of [...buckets.map(String), '+Inf']) {
                seriesOf(`${id}_bucket`, { ...labels, le }).value +=
                  le === '+Inf' || value <= Number(le) ? 1 : 0;
              }
              seriesOf(`${id}_sum`, labels).value += value;
              seriesOf(`${id}_count`, labels).value += 1;
            },
          };
        },
      };
    },
    samples: () =>
      [...families.values()].flatMap((family) =>
        [...family.values()].map(({ name, labels, value }) => ({ name, labels, value })),
      ),
  };
}
