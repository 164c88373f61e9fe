import { api } from '../../client/api.ts';

export interface Line {
  /** Time in nanoseconds, as the store returns it: more digits than a number holds. */
  readonly at: string;
  readonly text: string;
  readonly labels: Readonly<Record<string, string>>;
}

interface Streams {
  readonly data: {
    readonly resultType: string;
    readonly result: readonly {
      readonly stream: Readonly<Record<string, string>>;
      readonly values: readonly (readonly [string, string])[];
    }[];
  };
}

/** Levels by the names that programs give them; any other is that of news. */
const tones: Readonly<Record<string, Tone>> = {
  error: 'critical',
  critical: 'critical',
  fatal: 'critical',
  warn: 'warning',
  warning: 'warning',
  debug: 'muted',
  trace: 'muted',
};

export type Tone = 'critical' | 'warning' | 'info' | 'muted';

export const toneOf = (level: string): Tone => tones[level] ?? 'info';

export const levelOf = ({ labels }: Pick<Line, 'labels'>): string =>
  labels['detected_level'] ?? labels['level'] ?? '';

export const millisOf = ({ at }: Pick<Line, 'at'>): number => Number(BigInt(at) / 1_000_000n);

interface Asked {
  readonly query: string;
  /** Nanoseconds. */
  readonly start: string;
  readonly end: string;
  readonly limit: number;
  readonly direction?: 'backward' | 'forward';
}

/** Returns the lines of a query, newest first, whichever end of its time they are of. */
export async function linesOf(
  { direction = 'backward', ...asked }: Asked,
  signal: AbortSignal,
): Promise<readonly Line[]> {
  const { data } = await api.get<Streams>('/logs/query_range', { ...asked, direction }, signal);
  if (data.resultType !== 'streams') {
    return [];
  }
  const lines = data.result.flatMap(({ stream, values }) =>
    values.map(([at, line]) => ({ at, text: line, labels: stream })),
  );
  return lines.toSorted((a, b) =>
    a.at.length === b.at.length ? (a.at < b.at ? 1 : -1) : b.at.length - a.at.length,
  );
}

/** Returns the fields of a line of JSON that are plain values; of any other line none. */
export function fieldsIn({ text }: Pick<Line, 'text'>): Readonly<Record<string, string>> {
  if (!text.startsWith('{') || text.length > 20_000) {
    return {};
  }
  try {
    return Object.fromEntries(
      Object.entries(JSON.parse(text) as Record<string, unknown>).flatMap(([name, value]) =>
        /^[a-zA-Z_]\w*$/.test(name) && ['string', 'number', 'boolean'].includes(typeof value)
          ? [[name, String(value)]]
          : [],
      ),
    );
  } catch {
    // Most lines that look like JSON and are none were cut.
    return {};
  }
}
