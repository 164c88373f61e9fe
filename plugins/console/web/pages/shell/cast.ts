/** Recorded shell: asciicast v2, parsed into output by time. */
export interface Cast {
  readonly cols: number;
  readonly rows: number;
  readonly seconds: number;
  readonly events: readonly CastEvent[];
}

export interface CastEvent {
  readonly at: number;
  readonly kind: 'shown' | 'resized';
  readonly text: string;
}

const kinds: Readonly<Record<string, CastEvent['kind']>> = { o: 'shown', r: 'resized' };

/**
 * Parses a recording; an incomplete last line, as left by a crash, is dropped. Undefined if the
 * text is not a recording.
 */
export function castOf(text: string): Cast | undefined {
  const [first = '', ...lines] = text.split('\n');
  const head = json(first) as
    | { readonly version?: number; readonly width?: number; readonly height?: number }
    | undefined;
  if (head?.version !== 2) {
    return undefined;
  }
  const events = lines.flatMap((line): readonly CastEvent[] => {
    const [at, kind, shown] = (json(line) ?? []) as readonly [number?, string?, string?];
    const known = kinds[kind ?? ''];
    return typeof at === 'number' && known !== undefined && typeof shown === 'string'
      ? [{ at, kind: known, text: shown }]
      : [];
  });
  return {
    cols: head.width ?? 80,
    rows: head.height ?? 24,
    seconds: events.at(-1)?.at ?? 0,
    events,
  };
}

function json(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    // Half a line, or the empty one at the end.
    return undefined;
  }
}

/** The times at which something is shown, with waits cut to `most` seconds: nobody watches a prompt for an hour. */
export function shortened(events: readonly CastEvent[], most: number): readonly CastEvent[] {
  let cut = 0;
  let before = 0;
  return events.map((event) => {
    cut += Math.max(0, event.at - before - most);
    before = event.at;
    return { ...event, at: event.at - cut };
  });
}
